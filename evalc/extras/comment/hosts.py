"""Asks GitHub and GitLab for the comments of a pull request or merge request, and writes one of them."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple, final
from urllib.parse import quote

import msgspec

from evalc.base import TOKENS
from evalc.base.errors import AgentError, MachineFailed, UsageError
from evalc.base.files import read_limited
from evalc.base.terminal import excerpt
from evalc.model.json import short_hash
from evalc.report import ReportedRun
from evalc.report.markdown import COMMENT, COMMENT_BYTES, MOST_BYTES, comment, in_markdown
from evalc.runtime.agents import Sending, Tls
from evalc.runtime.agents.http import DEFAULT_HEADERS, checked_headers, checked_url
from evalc.runtime.agents.http.transport import RETRIED, Reply, Transport, open_transport, send_with_retries
from evalc.runtime.store.redact import Redactor

_SECONDS: Final = 180
_CONNECT_SECONDS: Final = 10
_LARGEST_PAGE: Final = 64_000_000
_LARGEST_EVENT: Final = 32_000_000
_PAGE: Final = 50
"""The comments of a page. Each may be as long as the host allows."""

_ORDER: Final = re.compile(r"run (\d{1,18})\.(\d{1,18}) -->")


class Posted(NamedTuple):
    """The sentence that says where the comment is, or why there is none; `refused` if the host did not take it."""

    words: str
    refused: bool = False


def post_to_host(run: ReportedRun, flags: Mapping[str, Any], environ: Mapping[str, str]) -> Posted:
    """As `post`."""
    try:
        return asyncio.run(_posted(run, flags, environ))
    except _NoRequest as none:
        return Posted(f"no comment was written: {none}")
    except TimeoutError:
        why = f"it took more than {_SECONDS} s"
    except (_NotPosted, UsageError, MachineFailed) as error:
        why = str(error)
    strike = Redactor(environ.get(name, "") for name in TOKENS)  # the host may have quoted it
    return Posted(f"no comment was written: {strike.redact(why)}", refused=True)


# --- hosts -----------------------------------------------------------------------------------------------------------


class _NotPosted(Exception):
    """The host refused the comment, or there is nothing that it could be sent with; the message says what to do."""


class _NoRequest(Exception):
    """The job is not of a pull request."""


class _Refused(Exception):
    """A refusal. The request may be sent again, where its status says so."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(reply.status)
        self.reply = reply


class _Comment(NamedTuple):
    """A comment by the owner of the token."""

    id: str
    body: str


@final
class _Api:
    """Asks with a token, and takes only whole answers."""

    def __init__(self, transport: Transport, token: str) -> None:
        self._transport = transport
        self._headers = checked_headers({**DEFAULT_HEADERS, "authorization": f"Bearer {token}"})

    async def ask(self, method: str, url: str, body: object = None) -> tuple[Any, Mapping[str, str]]:
        """The JSON of the answer, and its headers.

        Raises:
            _Refused: the host refuses the request.
        """
        sent = None if body is None else msgspec.json.encode(body)
        reply = await self._transport.request(method, url, sent, self._headers)
        if not 200 <= reply.status < 300:
            raise _Refused(_to_retry(reply))
        try:
            return msgspec.json.decode(reply.body), reply.headers
        except (msgspec.DecodeError, ValueError, RecursionError):
            raise _NotPosted(f"the answer of {url} is not JSON: {excerpt(reply.body)}") from None


def _to_retry(reply: Reply) -> Reply:
    """The reply, with the status of a refusal that is not for good, where it has another one."""
    limited = "retry-after" in reply.headers or reply.headers.get("x-ratelimit-remaining") == "0"
    status = 429 if reply.status == 403 and limited else 503 if reply.status >= 500 else reply.status
    return msgspec.structs.replace(reply, status=status)


_OF_PULL: Final = """query($owner: String!, $name: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $name) { pullRequest(number: $number) {
    id comments(first: %d, after: $after) { nodes { id body viewerDidAuthor } pageInfo { hasNextPage endCursor } }
  } }
}"""
_ADD: Final = """mutation($id: ID!, $body: String!) {
  addComment(input: {subjectId: $id, body: $body}) { commentEdge { node { url } } }
}"""
_UPDATE: Final = """mutation($id: ID!, $body: String!) {
  updateIssueComment(input: {id: $id, body: $body}) { issueComment { url } }
}"""
_STATUSES: Final = {"NOT_FOUND": 404, "FORBIDDEN": 403, "INSUFFICIENT_SCOPES": 403, "RATE_LIMITED": 429}
"""The statuses of errors that come with the status 200."""


@final
class _GitHub:
    """A pull request of GitHub.

    It is asked by GraphQL, which alone says whose comments are the job's own: the token of a job is no user's.
    """

    title = "GitHub"
    token_name = "GITHUB_TOKEN"  # noqa: S105 - its name
    url_name = "GITHUB_GRAPHQL_URL"
    most_bytes = COMMENT_BYTES
    tls = Tls()

    def __init__(self, environ: Mapping[str, str]) -> None:
        event = _event(environ.get("GITHUB_EVENT_PATH", ""))
        pull, issue = event.get("pull_request"), event.get("issue")
        number = _of(pull, "number") or (_of(issue, "pull_request") is not None and _of(issue, "number"))
        if not number or not isinstance(number, int):
            raise _NoRequest(f"the event `{excerpt(environ.get('GITHUB_EVENT_NAME', ''))}` is of no pull request")
        self._number = number
        self._from_fork = _of(pull, "head", "repo", "full_name") != _of(pull, "base", "repo", "full_name")
        self._owner, _, self._name = environ.get("GITHUB_REPOSITORY", "").partition("/")
        self._subject = ""
        self.url = environ.get(self.url_name, "")
        self.token = environ.get(self.token_name, "").strip()
        self.job = (environ.get("GITHUB_WORKFLOW", ""), environ.get("GITHUB_JOB", ""))
        self.order = _whole(environ.get("GITHUB_RUN_NUMBER")), _whole(environ.get("GITHUB_RUN_ATTEMPT"))
        home = f"{environ.get('GITHUB_SERVER_URL', '')}/{environ.get('GITHUB_REPOSITORY', '')}"
        log = f"{home}/actions/runs/{_whole(environ.get('GITHUB_RUN_ID'))}"
        commit = _of(pull, "head", "sha") or environ.get("GITHUB_SHA", "")
        self.ending = _ending(self.job, str(commit), log)

    async def own_comments(self, api: _Api) -> AsyncIterator[_Comment]:
        """The comments by the owner of the token, the oldest first; the id of the pull request is found with them."""
        known = {"owner": self._owner, "name": self._name, "number": self._number}
        after: str | None = None
        while True:
            data = await self._ask(api, _OF_PULL % _PAGE, {**known, "after": after})
            pull = data["repository"]["pullRequest"]
            self._subject = pull["id"]
            for each in pull["comments"]["nodes"]:
                if each["viewerDidAuthor"]:
                    yield _Comment(each["id"], each["body"])
            if not pull["comments"]["pageInfo"]["hasNextPage"]:
                return
            after = pull["comments"]["pageInfo"]["endCursor"]

    async def write(self, api: _Api, body: str, comment: str | None) -> str:
        """Add a comment, or update the one of that id; its URL."""
        if comment is None:
            data = await self._ask(api, _ADD, {"id": self._subject, "body": body})
            return str(data["addComment"]["commentEdge"]["node"]["url"])
        data = await self._ask(api, _UPDATE, {"id": comment, "body": body})
        return str(data["updateIssueComment"]["issueComment"]["url"])

    async def _ask(self, api: _Api, query: str, variables: Mapping[str, object]) -> Any:
        document, headers = await api.ask("POST", self.url, {"query": query, "variables": variables})
        for error in document.get("errors") or ():
            status = _STATUSES.get(error.get("type"), 422)
            raise _Refused(Reply(status=status, headers=headers, body=str(error.get("message")).encode()))
        return document["data"]

    def cure(self, status: int) -> str | None:
        """The cure of a refusal, 0 for a missing token; None if none is known."""
        permit = "add `pull-requests: write` to the `permissions` of the job"
        match status:
            case 0:
                return "add `env: {GITHUB_TOKEN: ${{ github.token }}}` to the step"
            case 401:
                return "set it to `${{ github.token }}`, or to a token that has not expired"
            case 403 | 404 if self._from_fork:
                return "in a run for a pull request from a fork it may only read"
            case 403:
                return f"{permit} (in a run for Dependabot it may only read)"
            case 404:
                return permit
            case _:
                return None


@final
class _GitLab:
    """A merge request of GitLab."""

    title = "GitLab"
    token_name = "GITLAB_TOKEN"  # noqa: S105 - its name
    url_name = "CI_API_V4_URL"
    most_bytes = MOST_BYTES

    def __init__(self, environ: Mapping[str, str]) -> None:
        number = _whole(environ.get("CI_MERGE_REQUEST_IID"))
        if not number:
            raise _NoRequest("this is no pipeline of a merge request (CI_MERGE_REQUEST_IID is not set)")
        project = _whole(environ.get("CI_MERGE_REQUEST_PROJECT_ID") or environ.get("CI_PROJECT_ID"))
        self._api = self.url = environ.get(self.url_name, "")
        self._notes = f"{self._api}/projects/{project}/merge_requests/{number}/notes"
        home = environ.get("CI_MERGE_REQUEST_PROJECT_URL") or environ.get("CI_PROJECT_URL", "")
        self._page = f"{home}/-/merge_requests/{number}"
        authorities = environ.get("CI_SERVER_TLS_CA_FILE")
        self.tls = Tls(authorities=Path(authorities) if authorities else None)
        self.token = environ.get(self.token_name, "").strip()
        self.job = (environ.get("CI_JOB_NAME", ""),)
        self.order = _whole(environ.get("CI_PIPELINE_IID")), _whole(environ.get("CI_JOB_ID"))
        self.ending = _ending(self.job, environ.get("CI_COMMIT_SHA", ""), environ.get("CI_JOB_URL", ""))

    async def own_comments(self, api: _Api) -> AsyncIterator[_Comment]:
        """The comments by the owner of the token, the oldest first."""
        user, _ = await api.ask("GET", f"{self._api}/user")
        owner = user["id"]
        page = "1"
        while page:
            notes, headers = await api.ask("GET", f"{self._notes}?sort=asc&per_page={_PAGE}&page={quote(page)}")
            for note in notes:
                if note["author"]["id"] == owner:
                    yield _Comment(str(note["id"]), note["body"])
            page = headers.get("x-next-page", "")

    async def write(self, api: _Api, body: str, comment: str | None) -> str:
        """Add a comment, or update the one of that id; its URL."""
        method, url = ("POST", self._notes) if comment is None else ("PUT", f"{self._notes}/{quote(comment)}")
        note, _ = await api.ask(method, url, {"body": body})
        return f"{self._page}#note_{note['id']}"

    def cure(self, status: int) -> str | None:
        """The cure of a refusal, 0 for a missing token; None if none is known."""
        make = "a project access token with the scope `api` and the role Reporter"
        match status:
            case 0:
                return f"make {make}, and a masked CI/CD variable of it that is not protected"
            case 401 | 403 | 404:
                return f"make {make}"
            case _:
                return None


def _ending(job: tuple[str, ...], commit: str, log: str) -> str:
    """The last line of the comment, in Markdown: what was run, and where."""
    named = " · ".join(map(in_markdown, (*filter(None, job), f"commit {commit[:7]}")))
    return f"{named} · [log]({quote(log, safe='/:')})"


def _event(file: str) -> Mapping[str, Any]:
    """The event that began the job; nothing if it cannot be read."""
    try:
        event = json.loads(read_limited(Path(file), _LARGEST_EVENT))
    except (OSError, ValueError, RecursionError):
        return {}
    return event if isinstance(event, dict) else {}


def _of(value: Any, *keys: str) -> Any:
    """The value at these keys; None if there is none."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _whole(text: str | None) -> int:
    """The whole number of a variable; 0 if it is none."""
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 19 else 0


_Host = _GitHub | _GitLab


# --- writing ---------------------------------------------------------------------------------------------------------


async def _posted(run: ReportedRun, flags: Mapping[str, Any], environ: Mapping[str, str]) -> Posted:
    host: _Host = _GitHub(environ) if environ.get("GITHUB_ACTIONS") else _GitLab(environ)
    if not host.token:
        raise _NotPosted(f"{host.token_name} is not set: {host.cure(0)}")
    if not host.url:
        raise _NotPosted(f"the job does not say where {host.title}'s API is: {host.url_name} is not set")
    checked_url(host.url, whose=f"{host.title}'s")
    key = _key(host.job, flags, environ)
    one, two = host.order
    marker = f"{COMMENT} {key} run {one}.{two} -->"
    body = b"".join(comment(run, marker=marker, ending=host.ending, most_bytes=host.most_bytes)).decode()
    body = Redactor((host.token,)).redact(body)
    sending = Sending(tls=host.tls, connect_seconds=_CONNECT_SECONDS, max_body=_LARGEST_PAGE)
    done: list[Posted] = []
    async with asyncio.timeout(_SECONDS), open_transport(host.url, sending) as transport:
        api = _Api(transport, host.token)

        async def attempt() -> Reply:
            # From the start each time: a comment that was refused may have been written all the same.
            try:
                done.append(await _written(host, api, f"{COMMENT} {key} ", body, creates=bool(run.suites)))
            except _Refused as refused:
                return refused.reply
            except (KeyError, TypeError, AttributeError):
                raise _NotPosted(f"{host.title} answered in a form that is not known") from None
            return Reply(status=200, headers={}, body=b"")

        deadline = asyncio.get_running_loop().time() + _SECONDS
        try:
            reply = await send_with_retries(attempt, sending, deadline=deadline)
        except AgentError as error:
            raise _NotPosted(f"{host.title}: {error}") from None
    if not done:
        raise _NotPosted(_why(host, reply))
    return done[0]


async def _written(host: _Host, api: _Api, beginning: str, body: str, *, creates: bool) -> Posted:
    """Update the comment that begins so, or add one."""
    async for each in host.own_comments(api):
        if each.body.startswith(beginning):
            order = _ORDER.search(each.body.partition("\n")[0])
            if order is not None and (int(order[1]), int(order[2])) > host.order:
                return Posted("the comment is of a newer run, and was left as it is")
            return Posted(f"updated the comment {await host.write(api, body, each.id)}")
    if not creates:
        return Posted("no comment was written: nothing was run")
    return Posted(f"wrote the comment {await host.write(api, body, None)}")


def _why(host: _Host, reply: Reply) -> str:
    """The reason why the host did not take the comment, and its cure."""
    cure = host.cure(reply.status)
    if cure is not None:
        return f"{host.title} refuses {host.token_name} (HTTP {reply.status}): {cure}"
    if reply.status in RETRIED:
        wait = "its rate limit is reached" if reply.status == 429 else "it is not available"
        return f"{host.title} says that {wait} (HTTP {reply.status}); run the job again later"
    return f"{host.title} answered HTTP {reply.status}: {excerpt(reply.body)}"


_ASKED: Final = ("config", "prompt_id", "looked_at")
_CHOOSING: Final = ("cases", "keywords", "tags", "ids", "tiers", "shard")


def _key(job: tuple[str, ...], flags: Mapping[str, Any], environ: Mapping[str, str]) -> str:
    """A hash of the job and of what was asked for, by which its comment is found.

    Names that change with each push do not count: addresses of agents, commits and runs that cases are chosen by.
    """
    here, root = Path.cwd(), environ.get("GITHUB_WORKSPACE") or environ.get("CI_PROJECT_DIR") or "/"
    folder = here.relative_to(root) if here.is_relative_to(root) else here
    asked = {name: flags.get(name) for name in _ASKED} | {name: _of(flags.get("wanted"), name) for name in _CHOOSING}
    named = flags.get("agent")  # a journal may come from anyone, and say anything
    agents = [each for each in named if "://" not in str(each)] if isinstance(named, list | tuple) else []
    parts = (job, environ.get("EVALC_COMMENT", ""), folder.as_posix(), asked, agents)
    return short_hash(json.dumps(parts, sort_keys=True))
