"""The comment on a pull request or merge request: written once, then updated, and never an error of the run."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from msgspec.structs import replace

from evalc import extras
from evalc.base.errors import UsageError
from evalc.extras.comment import hosts
from evalc.model.suite import Place
from tests.cli.conftest import Invoke, invoke, project
from tests.report.results import case, suite
from tests.report.runs import reported
from tests.support.forge import PAGE, TOKEN, Fault, Forge, event_of, opened
from tests.support.servers import closes, hangs, serving

__all__ = ["invoke", "project"]

RED = reported(suite(case("rome", status="failed", error="no")))
GREEN = reported(suite(case("rome")))


@pytest.fixture(params=["GitHub", "GitLab"])
def forge(request: pytest.FixtureRequest, project: Path) -> Iterator[Forge]:
    found = Forge(request.param)
    with serving(found.answer) as found.server:
        opened(found, project)
        yield found


@pytest.fixture
def github(project: Path) -> Iterator[Forge]:
    found = Forge("GitHub")
    with serving(found.answer) as found.server:
        opened(found, project)
        yield found


def test_it_is_written_once_and_then_updated_on_whatever_page_it_is(forge: Forge) -> None:
    forge.add("ann", "Looks good")
    assert forge.post(RED).words.startswith("wrote the comment https://code")
    copied = forge.own[0]
    forge.comments.insert(0, {"id": 1, "author": "ann", "body": copied})
    forge.comments[1:1] = [{"id": number, "author": "bob", "body": "hm"} for number in (2, 3)]
    before = [each["body"] for each in forge.comments if each["author"] != "me"]
    second = forge.post(GREEN)
    assert (second.words.partition("http")[0], second.refused) == ("updated the comment ", False)
    assert forge.comments.index(forge.of("101")) >= PAGE
    assert [body.split("\n")[1][:4] for body in forge.own] == ["## ✅"]
    assert copied.split("\n")[1][:4] == "## ❌"
    assert [each["body"] for each in forge.comments if each["author"] != "me"] == before


def test_it_says_what_was_run_where(github: Forge) -> None:
    github.post(RED)
    log = "https://code.example/o/r/actions/runs/99"
    assert github.own[0].endswith(f"\nCI &#64;&#8203;team · evals · commit abcdef0 · [log]({log})\n")
    assert re.match(r"<!-- evalc: pr-comment [0-9a-f]{12} run 5\.1 -->\n", github.own[0])


def test_each_job_and_each_choice_of_cases_has_a_comment_of_its_own(github: Forge) -> None:
    flags = {"looked_at": ["evals/a.eval.yaml"], "agent": ["fast"], "wanted": {"tags": ["slow"]}}
    github.post(RED, flags)
    github.post(RED, {**flags, "looked_at": ["evals/b.eval.yaml"]})
    github.post(RED, {**flags, "agent": ["safe"]})
    github.post(RED, {**flags, "wanted": {"tags": ["!slow"]}})
    github.post(RED, flags, GITHUB_JOB="nightly")
    github.post(RED, flags, EVALC_COMMENT="python 3.13")
    assert len(github.own) == 6
    varying = {"changed_since": "f00d", "failed_from": "01a200e6"}
    github.post(GREEN, {**flags, "agent": ["fast", "https://pr-12.example"], "wanted": {"tags": ["slow"], **varying}})
    assert len(github.own) == 6


@pytest.mark.parametrize("flags", [{"agent": "x", "wanted": "y"}, {"agent": [3], "wanted": [4]}, {"agent": 5}])
def test_a_journal_may_say_anything(github: Forge, flags: Mapping[str, object]) -> None:
    assert github.post(RED, flags).words.startswith("wrote the comment")


def test_no_run_writes_over_the_comment_of_a_newer_one(forge: Forge) -> None:
    forge.post(RED, GITHUB_RUN_NUMBER="10", CI_PIPELINE_IID="10")
    older = forge.post(GREEN, GITHUB_RUN_NUMBER="9", CI_PIPELINE_IID="9")
    assert older == ("the comment is of a newer run, and was left as it is", False)
    assert "## ❌" in forge.own[0]
    again = forge.post(GREEN, GITHUB_RUN_NUMBER="10", GITHUB_RUN_ATTEMPT="2", CI_PIPELINE_IID="10", CI_JOB_ID="32")
    assert "updated" in again.words


@pytest.mark.parametrize(
    "fault",
    [
        (429, {"Retry-After": "0"}, {}),
        (403, {"Retry-After": "0"}, {"message": "You have exceeded a secondary rate limit"}),
        (403, {"X-RateLimit-Remaining": "0"}, {}),
        (500, {}, b"<html>"),
        (200, {}, {"errors": [{"type": "RATE_LIMITED", "message": "later"}]}),
    ],
)
def test_a_refusal_for_now_is_asked_again(github: Forge, fault: Fault) -> None:
    github.faults = [fault]
    assert github.post(RED).words.startswith("wrote the comment")
    assert len(github.server.requests) == 3


def test_a_host_that_is_not_available_is_given_up(forge: Forge) -> None:
    forge.faults = [(503, {}, {}), (502, {}, {}), (504, {}, {})]
    refused = forge.post(RED)
    assert refused.refused
    assert refused.words == (
        f"no comment was written: {forge.title} says that it is not available (HTTP 503); run the job again later"
    )
    assert len(forge.server.requests) == 3


def test_a_comment_whose_answer_is_lost_is_not_written_twice(forge: Forge) -> None:
    forge.loses_the_answer = True
    assert "updated" in forge.post(RED).words
    assert len(forge.own) == 1


FORBIDDEN = {"type": "FORBIDDEN", "message": "Resource not accessible by integration"}
NO_PULL = {"type": "NOT_FOUND", "message": "Could not resolve to a PullRequest"}


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        ((401, {}, {}), "(HTTP 401): set it to `${{ github.token }}`, or to a token that has not expired"),
        ((403, {}, {}), "(HTTP 403): add `pull-requests: write` to the `permissions` of the job (in a run for"),
        ((404, {}, {}), "(HTTP 404): add `pull-requests: write` to the `permissions` of the job"),
        ((200, {}, {"errors": [FORBIDDEN]}), "(HTTP 403): add `pull-requests: write` to the"),
        ((200, {}, {"errors": [NO_PULL], "data": None}), "(HTTP 404): add `pull-requests: write` to the"),
    ],
)
def test_a_refusal_names_its_cure(github: Forge, fault: Fault, says: str) -> None:
    github.faults = [fault]
    refused = github.post(RED)
    assert refused.refused
    assert refused.words.startswith("no comment was written: GitHub refuses GITHUB_TOKEN (HTTP 40")
    assert says in refused.words


def test_a_run_for_a_fork_may_not_write(github: Forge, project: Path) -> None:
    (project / "event.json").write_text(json.dumps(event_of(fork=True)))
    github.faults = [(200, {}, {"errors": [FORBIDDEN]})]
    assert github.post(RED).words.endswith("(HTTP 403): in a run for a pull request from a fork it may only read")


@pytest.mark.parametrize("status", [401, 403, 404])
def test_gitlab_refuses_a_token_without_its_scope(project: Path, status: int) -> None:
    forge = Forge("GitLab", faults=[(status, {}, {})])
    with serving(forge.answer) as forge.server:
        opened(forge, project)
        words = forge.post(RED).words
    make = "make a project access token with the scope `api` and the role Reporter"
    assert words == f"no comment was written: GitLab refuses GITLAB_TOKEN (HTTP {status}): {make}"


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        ((422, {}, {"message": f"no {TOKEN}"}), 'answered HTTP 422: {"message": "no ***"}'),
        ((200, {}, b"<html>Sign in</html>"), "is not JSON: <html>Sign in</html>"),
        ((200, {}, {"data": {"repository": {}}, "id": None}), ""),
        ((200, {}, []), ""),
        ((200, {}, 7), "answered in a form that is not known"),
    ],
)
def test_other_answers_are_said(forge: Forge, fault: Fault, says: str) -> None:
    forge.faults = [fault, fault]
    refused = forge.post(RED)
    assert refused.refused
    assert says in refused.words
    assert forge.title in refused.words or "http://127.0.0.1" in refused.words


def test_a_host_that_cannot_be_reached_is_named(forge: Forge) -> None:
    with serving(closes) as server:
        base = f"http://{urlsplit(server.url).netloc}"
        words = forge.post(RED, GITHUB_GRAPHQL_URL=base, CI_API_V4_URL=base).words
    assert words.startswith(f"no comment was written: {forge.title}: the answer is not complete HTTP")
    words = forge.post(RED, GITHUB_GRAPHQL_URL=base, CI_API_V4_URL=base).words
    assert words == f"no comment was written: {forge.title}: no connection: Connection refused"
    words = forge.post(RED, GITHUB_GRAPHQL_URL="", CI_API_V4_URL="").words
    assert words.startswith(f"no comment was written: the job does not say where {forge.title}'s API is: ")
    words = forge.post(RED, GITHUB_GRAPHQL_URL="ftp://x", CI_API_V4_URL="ftp://x").words
    assert words == f"no comment was written: {forge.title}'s URL begins with `ftp:`, not with `http:` or `https:`"


def test_a_host_that_does_not_answer_is_given_up(forge: Forge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosts, "_SECONDS", 0.1)
    with serving(hangs) as server:
        base = f"http://{urlsplit(server.url).netloc}"
        found = forge.post(RED, GITHUB_GRAPHQL_URL=base, CI_API_V4_URL=base)
    assert found == ("no comment was written: it took more than 0.1 s", True)


def test_without_a_token_it_says_where_to_get_one(forge: Forge) -> None:
    refused = forge.post(RED, GITHUB_TOKEN="", GITLAB_TOKEN="")
    assert refused.refused
    assert re.match(r"no comment was written: GIT(HUB|LAB)_TOKEN is not set: (add|make) ", refused.words)
    assert forge.server.requests == []


def test_a_token_that_no_header_can_hold_is_not_quoted(forge: Forge) -> None:
    words = forge.post(RED, GITHUB_TOKEN=f"{TOKEN}\n{TOKEN}", GITLAB_TOKEN=f"{TOKEN}\n{TOKEN}").words
    assert "character that HTTP does not allow" in words
    assert TOKEN not in words


@pytest.mark.parametrize("event", ['{"ref": "refs/heads/main"}', "[]", "{", '{"issue": {"number": 3}}'])
def test_a_job_that_is_not_for_a_pull_request_writes_none(github: Forge, project: Path, event: str) -> None:
    (project / "event.json").write_text(event)
    found = github.post(RED, GITHUB_EVENT_NAME="push")
    assert found == ("no comment was written: the event `push` is of no pull request", False)
    assert github.server.requests == []


def test_a_comment_on_a_pull_request_may_begin_the_job(github: Forge, project: Path) -> None:
    (project / "event.json").write_text('{"issue": {"number": 12, "pull_request": {"url": ""}}}')
    assert "wrote" in github.post(RED).words


def test_a_job_of_a_branch_has_no_merge_request(project: Path) -> None:
    forge = Forge("GitLab")
    opened(forge, project)
    found = forge.post(RED, CI_MERGE_REQUEST_IID="")
    assert (found.refused, "no pipeline of a merge request" in found.words) == (False, True)


def test_a_run_that_had_nothing_to_do_only_updates(forge: Forge) -> None:
    nothing = replace(GREEN, suites=())
    assert forge.post(nothing) == ("no comment was written: nothing was run", False)
    forge.post(RED)
    assert "updated" in forge.post(nothing).words


def test_no_secret_of_the_job_is_posted(forge: Forge) -> None:
    forge.post(reported(suite(case("rome", status="failed", error=f"found {TOKEN}"))))
    assert "found ***" in forge.own[0]
    assert TOKEN not in forge.own[0]


def test_lines_have_addresses_in_the_commit(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    github, gitlab = Forge("GitHub"), Forge("GitLab")
    (project / "sub").mkdir()
    monkeypatch.chdir(project / "sub")
    for forge, blob in ((github, "o/r/blob/0123456789abcdef"), (gitlab, "stranger/r/-/blob/abcdef0123456789")):
        opened(forge, project)
        address = extras.comment.address_of(forge.environ)
        at = Place(file="evals/a (1)#.eval.yaml", line=3, column=1)
        assert address(at) == f"https://code.example/{blob}/sub/evals/a%20%281%29%23.eval.yaml#L3"
        assert address(replace(at, file="../../a.yaml")) is None
        assert address(replace(at, file="\0")) is None
    assert extras.comment.address_of({})(at) is None


# --- whole commands --------------------------------------------------------------------------------------------------

LEAKING = """\
import os


def answer(message):
    return "It is sunny. " + os.environ["GITHUB_TOKEN"]
"""


def in_job(forge: Forge, monkeypatch: pytest.MonkeyPatch, project: Path) -> Path:
    for name, value in forge.environ.items():
        monkeypatch.setenv(name, value)
    summary = project.with_suffix(".md")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    return summary


def test_a_run_and_its_reports_are_one_comment_and_the_token_is_nowhere(
    github: Forge, invoke: Invoke, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    summary = in_job(github, monkeypatch, project)
    (project / "leaking.py").write_text(LEAKING)
    first = invoke("run", "--agent", "python:leaking.py:answer", "-o", "github", "-o", "pr-comment", "-o", "r.json")
    assert first.code == 1
    assert "wrote the comment https://code/12#100\n" in first.err
    line = "https://code.example/o/r/blob/0123456789abcdef/evals/weather.eval.yaml"
    assert re.search(rf", at \[`evals/weather\.eval\.yaml:(\d+)`\]\({re.escape(line)}#L\1\)", github.own[0])
    assert "It is sunny. ***" in github.own[0]
    shown = invoke("report", "-o", "pr-comment")
    assert (shown.code, shown.err) == (0, "updated the comment https://code/12#100\n")
    assert len(github.comments) == 1
    written = [path.read_text(errors="replace") for path in project.rglob("*") if path.is_file()]
    assert not any(TOKEN in text for text in (*written, summary.read_text(), *github.own))
    assert TOKEN not in first.out + first.err + shown.out + shown.err


@pytest.mark.parametrize(("agent", "code"), [("demo", 0), ("python:wrong.py:answer", 1)])
def test_a_refused_comment_leaves_the_exit_code_and_goes_to_the_summary(
    github: Forge, invoke: Invoke, project: Path, monkeypatch: pytest.MonkeyPatch, agent: str, code: int
) -> None:
    summary = in_job(github, monkeypatch, project)
    (project / "wrong.py").write_text("def answer(message):\n    return 'Rome'\n")
    github.faults = [(403, {}, {})] * 2
    outcome = invoke("run", "--agent", agent, "-o", "pr-comment")
    assert outcome.code == code
    assert outcome.err.count("warning: no comment was written: GitHub refuses GITHUB_TOKEN (HTTP 403)") == 1
    assert summary.read_text().count("evalc: ") == 1
    summary.unlink()
    assert invoke("run", "--agent", agent, "-o", "pr-comment", "-o", "github").code == code
    assert summary.read_text().count("evalc: ") == 1
    assert github.comments == []


def test_a_run_with_nothing_to_do_updates_the_comment_of_its_job(
    github: Forge, invoke: Invoke, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_job(github, monkeypatch, project)
    assert invoke("run", "--agent", "demo", "-k", "paris", "-o", "pr-comment").code == 0
    (project / "evals" / "weather.eval.yaml").write_text("suite: empty\ntest_cases: []\n")
    invoke("run", "--agent", "demo", "-k", "paris", "-o", "pr-comment")
    assert len(github.comments) == 1


def test_elsewhere_nothing_is_run(invoke: Invoke, project: Path) -> None:
    outcome = invoke("run", "--agent", "demo", "-o", "pr-comment")
    assert outcome.code == 2
    assert "`-o pr-comment` writes to the pull request of a job of GitHub Actions" in outcome.err
    assert not (project / "evals" / "results").exists()
    with pytest.raises(UsageError):
        extras.comment.refuse_elsewhere({"CI": "true"})
