"""An agent that books what it is asked for, and knows little else."""

import asyncio
import itertools
import re

_counted = itertools.count()


async def agent(message: str) -> dict[str, object]:
    await asyncio.sleep(0)
    if message == "Break":
        raise ValueError("it broke")
    if message == "Count":
        return {"text": "odd" if next(_counted) % 2 else "even"}
    if found := re.search(r"(?:Book|And) (\w+)", message):
        call = {"name": "book", "args": {"city": found[1], "nights": 3}, "result": {"id": 7}, "success": True}
        return {
            "text": f"I have booked {found[1]}.",
            "toolCalls": [call],
            "usage": {"inputTokens": 9, "outputTokens": 5},
        }
    return {"text": f"{message}: it is sunny, and there is much to say."}
