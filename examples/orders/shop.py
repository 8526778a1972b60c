"""Takes orders, and answers in JSON: an agent that calls tools, or the stubs of a case in their place.

evalc run orders --agent python:orders.shop:order
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

PRICES = {"lamp": 40, "chair": 85, "table": 230}


def stock(sku: str) -> dict[str, Any]:
    """Look up how many of an item are free."""
    return {"free": 10 if sku in PRICES else 0}


def book(items: list[dict[str, Any]], gift: bool) -> dict[str, Any]:  # noqa: ARG001
    """Book the items."""
    return {"status": "ok", "id": "A-1042", "total": sum(item["count"] * item["price"] for item in items)}


def order(message: str, stubs: Mapping[str, Callable[..., Any]]) -> dict[str, Any]:
    """The order as JSON, and the calls that it took: a look at the stock for each item, then the booking."""
    tools: dict[str, Callable[..., Any]] = {"stock": stock, "book": book, **stubs}
    calls: list[dict[str, Any]] = []

    def call(name: str, **params: Any) -> Any:
        calls.append({"name": name, "params": params, "success": False})
        try:
            result = tools[name](**params)
        except Exception as error:
            calls[-1]["error"] = str(error)
            raise
        calls[-1] |= {"success": True, "result": result}
        return result

    items = [
        {"sku": sku, "count": int(count), "price": PRICES[sku]}
        for count, sku in re.findall(rf"(\d+) ({'|'.join(PRICES)})", message)
    ]
    free = {item["sku"]: call("stock", sku=item["sku"])["free"] for item in items}
    missing = [item["sku"] for item in items if item["count"] > free[item["sku"]]]
    if missing:
        return {"response": f"There are only {free[missing[0]]} of the {missing[0]}.", "toolCalls": calls}
    try:
        booked = call("book", items=items, gift="gift" in message)
    except Exception:  # once more: the service is down now and then
        booked = call("book", items=items, gift="gift" in message)
    answer = {"id": booked["id"], "ordered": "2026-11-23", "items": items, "total": booked["total"]}
    return {"response": json.dumps(answer), "toolCalls": calls}
