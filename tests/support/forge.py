"""A stand-in of GitHub and GitLab: one pull request or merge request with its comments, on the loopback interface."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

from evalc import extras
from evalc.report import ReportedRun
from tests.support.servers import Exchange, Server

if TYPE_CHECKING:
    from evalc.extras.comment.hosts import Posted

TOKEN = "token-of-the-job-4711"
PAGE = 2
"""The comments of a page, so that those of a test have several."""
Fault = tuple[int, Mapping[str, str], object]


@dataclass
class Forge:
    """A host by its `title`; `faults` are what it answers next in place of what it would."""

    title: str = ""
    comments: list[dict[str, Any]] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    server: Server = field(default_factory=Server)
    environ: dict[str, str] = field(default_factory=dict)
    loses_the_answer: bool = False
    """Whether the next comment is added and the answer a 502."""

    def add(self, author: str, body: str) -> dict[str, Any]:
        self.comments.append({"id": 100 + len(self.comments), "author": author, "body": body})
        return self.comments[-1]

    @property
    def own(self) -> list[str]:
        return [each["body"] for each in self.comments if each["author"] == "me"]

    def post(self, run: ReportedRun, flags: Mapping[str, Any] | None = None, **environ: str) -> Posted:
        return extras.comment.post(run, flags or {}, {**self.environ, **environ})

    async def answer(self, exchange: Exchange) -> None:
        if self.faults:
            status, headers, body = self.faults.pop(0)
            await exchange.respond(status, body if isinstance(body, bytes) else json.dumps(body).encode(), headers)
        elif exchange.request.headers["authorization"] != f"Bearer {TOKEN}":
            await exchange.respond(401, b'{"message": "Bad credentials"}')
        else:
            before = len(self.comments)
            found, headers = self.github(exchange) if self.title == "GitHub" else self.gitlab(exchange)
            lost = self.loses_the_answer and len(self.comments) > before
            await exchange.respond(502 if lost else 200, json.dumps(found).encode(), headers)

    def github(self, exchange: Exchange) -> tuple[object, Mapping[str, str]]:
        asked = exchange.request.json
        given = asked["variables"]
        if "addComment" in asked["query"]:
            assert given["id"] == "PR_12"
            added = self.add("me", given["body"])
            return {"data": {"addComment": {"commentEdge": {"node": {"url": f"https://code/12#{added['id']}"}}}}}, {}
        if "updateIssueComment" in asked["query"]:
            self.of(given["id"])["body"] = given["body"]
            return {"data": {"updateIssueComment": {"issueComment": {"url": f"https://code/12#{given['id']}"}}}}, {}
        assert {name: given[name] for name in ("owner", "name", "number")} == {"owner": "o", "name": "r", "number": 12}
        start = int(given["after"] or 0)
        nodes = [
            {"id": str(each["id"]), "body": each["body"], "viewerDidAuthor": each["author"] == "me"}
            for each in self.comments[start : start + PAGE]
        ]
        page = {"hasNextPage": start + PAGE < len(self.comments), "endCursor": str(start + PAGE)}
        found = {"id": "PR_12", "comments": {"nodes": nodes, "pageInfo": page}}
        return {"data": {"repository": {"pullRequest": found}}}, {}

    def gitlab(self, exchange: Exchange) -> tuple[object, Mapping[str, str]]:
        url = urlsplit(exchange.request.path)
        if url.path == "/api/v4/user":
            return {"id": "me"}, {}
        base, _, note = url.path.partition("/notes")
        assert base == "/api/v4/projects/7/merge_requests/12"
        if exchange.request.method == "POST":
            return self.add("me", exchange.request.json["body"]), {}
        if exchange.request.method == "PUT":
            found = self.of(note.removeprefix("/"))
            found["body"] = exchange.request.json["body"]
            return found, {}
        asked = {name: values[0] for name, values in parse_qs(url.query).items()}
        assert asked["sort"] == "asc"
        start = (int(asked["page"]) - 1) * PAGE
        notes = [{**each, "author": {"id": each["author"]}} for each in self.comments[start : start + PAGE]]
        more = start + PAGE < len(self.comments)
        return notes, {"X-Next-Page": str(int(asked["page"]) + 1) if more else ""}

    def of(self, identity: str) -> dict[str, Any]:
        return next(each for each in self.comments if str(each["id"]) == identity)


def event_of(fork: bool = False) -> dict[str, Any]:
    head = {"sha": "abcdef0123456789", "repo": {"full_name": "stranger/r" if fork else "o/r"}}
    return {"pull_request": {"number": 12, "head": head, "base": {"repo": {"full_name": "o/r"}}}}


def opened(forge: Forge, folder: Path) -> None:
    base = f"http://{urlsplit(forge.server.url).netloc}"
    if forge.title == "GitLab":
        forge.environ = {
            "GITLAB_CI": "true",
            "GITLAB_TOKEN": TOKEN,
            "CI_API_V4_URL": f"{base}/api/v4",
            "CI_PROJECT_ID": "9",
            "CI_MERGE_REQUEST_PROJECT_ID": "7",
            "CI_MERGE_REQUEST_PROJECT_URL": "https://code.example/g/r",
            "CI_MERGE_REQUEST_IID": "12",
            "CI_PROJECT_URL": "https://code.example/stranger/r",
            "CI_PROJECT_DIR": str(folder),
            "CI_COMMIT_SHA": "abcdef0123456789",
            "CI_JOB_NAME": "evals: [fast]",
            "CI_JOB_ID": "31",
            "CI_JOB_URL": "https://code.example/g/r/-/jobs/31",
            "CI_PIPELINE_IID": "5",
        }
        return
    (folder / "event.json").write_text(json.dumps(event_of()))
    forge.environ = {
        "GITHUB_ACTIONS": "true",
        "GITHUB_TOKEN": TOKEN,
        "GITHUB_GRAPHQL_URL": f"{base}/graphql",
        "GITHUB_SERVER_URL": "https://code.example",
        "GITHUB_REPOSITORY": "o/r",
        "GITHUB_EVENT_NAME": "pull_request",
        "GITHUB_EVENT_PATH": str(folder / "event.json"),
        "GITHUB_SHA": "0123456789abcdef",
        "GITHUB_WORKSPACE": str(folder),
        "GITHUB_WORKFLOW": "CI @team",
        "GITHUB_JOB": "evals",
        "GITHUB_RUN_ID": "99",
        "GITHUB_RUN_NUMBER": "5",
        "GITHUB_RUN_ATTEMPT": "1",
    }
