"""An assertion of a parameter that lacks its value is a mistake in the file, however it is written."""

from __future__ import annotations

import json
from typing import Any

import pytest

import evalc
from tests.support.checking import case_of, codes


@pytest.mark.parametrize("value", [{}, {"value": None}, {"value": []}])
@pytest.mark.parametrize("assertion", ["equals", "contains", "oneOf", "matches"])
def test_it_is_reported(assertion: str, value: dict[str, Any]) -> None:
    entry = {"tool": "t", "paramName": "p", "assertion": assertion, **value}
    check = {"type": "tool_param", **entry}
    for expect in ({"toolParams": [entry]}, {"checks": [check]}):
        case = {
            "id": "ls-t-001",
            "description": "d",
            "difficulty": "edge",
            "input": {"message": "hi"},
            "expect": expect,
        }
        assert evalc.check(evalc.Source("x.labeled.json", json.dumps([case])))
    assert codes(case_of("[]", more=f"expect: {json.dumps({'checks': [check]})}, "))
