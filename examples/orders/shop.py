"""Takes orders, and answers in JSON: an agent that calls tools.

evalc run orders --agent python:orders.shop:order
"""

from __future__ import annotations

import json
import re
from typing import Any

PRICES = {"lamp": 40, "chair": 85, "table": 230}


def order(message: str) -> dict[str, Any]:
    """The order as JSON, and the calls that it took: a look at the stock for each item, then the booking."""
    items = [
        {"sku": sku, "count": int(count), "price": PRICES[sku]}
        for count, sku in re.findall(rf"(\d+) ({'|'.join(PRICES)})", message)
    ]
    calls = [call("stock", {"sku": item["sku"]}, {"free": 10}) for item in items]
    missing = [item["sku"] for item in items if item["count"] > 10]
    if missing:
        return {"response": f"There are only 10 of the {missing[0]}.", "toolCalls": calls}
    total = sum(item["count"] * item["price"] for item in items)
    booked = {"status": "ok", "id": "A-1042", "total": total}
    calls.append(call("book", {"items": items, "gift": "gift" in message}, booked))
    answer = {"id": "A-1042", "ordered": "2026-11-23", "items": items, "total": total}
    return {"response": json.dumps(answer), "toolCalls": calls}


def call(name: str, params: dict[str, Any], result: dict[str, Any]) -> dict[str, Any]:
    """A call of a tool, as evalc reads it."""
    return {"name": name, "params": params, "result": result, "success": True}
