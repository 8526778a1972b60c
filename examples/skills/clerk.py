"""Stands in for a coding agent: loads the skill for messages about money, and adds up a table, or reports it."""

import json
import pathlib
import sys

message = json.load(sys.stdin)["message"]
loads = pathlib.Path(".agents/skills/invoices").exists() and ("EUR" in message or "owe" in message)
calls = [{"name": "Skill", "params": {"skill": "invoices"}}] if loads else []
table = pathlib.Path("evals/files/may.csv")
if table.exists():
    total = sum(int(line.split(",")[1]) for line in table.read_text().splitlines()[1:])
    answer = f"We owe {total} EUR, and Ink Ltd is overdue." if loads else f"The sum is {total}."
    if "report.md" in message:
        pathlib.Path("report.md").write_text(f"| what | {'EUR' if loads else 'sum'} |\n|---|---|\n| all | {total} |\n")
else:
    answer = "That is 42 EUR." if "19" in message else "Of course."
sys.stdout.write(json.dumps({"response": answer, "toolCalls": calls}))
