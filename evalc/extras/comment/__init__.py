"""Writes a run as one comment on a pull request of GitHub or a merge request of GitLab, which later runs update.

The first line of the comment is hidden. It says which job and which choice of cases the comment is of, and which run
wrote it: so each job has a comment of its own, and no run writes over the comment of a newer one. Only a comment by the
owner of the token is updated.

A comment that cannot be written is a sentence for the user, and never an error of the run.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from evalc.base.errors import UsageError
from evalc.base.files import commit_of
from evalc.model.suite import Place
from evalc.report import Address, ReportedRun, no_address

if TYPE_CHECKING:
    from evalc.extras.comment.hosts import Posted


def refuse_elsewhere(environ: Mapping[str, str]) -> None:
    """Do nothing in a job of GitHub Actions or GitLab CI.

    Raises:
        UsageError: the command runs anywhere else.
    """
    if not (environ.get("GITHUB_ACTIONS") or environ.get("GITLAB_CI")):
        raise UsageError(
            "`-o pr-comment` writes to the pull request of a job of GitHub Actions, or the merge request of a job of "
            "GitLab CI, and this is neither; `-o pr-comment:FILE` writes the comment to a file"
        )


def post(run: ReportedRun, flags: Mapping[str, Any], environ: Mapping[str, str]) -> Posted:
    """Write the comment on the run, which was begun with these flags, or update that of an earlier run.

    A run without suites only updates it.
    """
    from evalc.extras.comment.hosts import post_to_host  # noqa: PLC0415 - for start-up: what only links needs no HTTP

    return post_to_host(run, flags, environ)


def address_of(environ: Mapping[str, str]) -> Address:
    """The addresses of lines on the host of the job, in the commit that is checked out; none outside of a job."""
    if environ.get("GITHUB_ACTIONS"):
        folder, commit = environ.get("GITHUB_WORKSPACE", ""), environ.get("GITHUB_SHA", "")
        base = f"{environ.get('GITHUB_SERVER_URL', '')}/{environ.get('GITHUB_REPOSITORY', '')}/blob"
    elif environ.get("GITLAB_CI"):
        folder, commit = environ.get("CI_PROJECT_DIR", ""), environ.get("CI_COMMIT_SHA", "")
        base = f"{environ.get('CI_PROJECT_URL', '')}/-/blob"
    else:
        return no_address
    root, here = Path(folder).resolve(), Path.cwd()
    with suppress(UsageError):  # no repository, or no git: then what the job says
        commit = commit_of("HEAD", here)

    def address(place: Place) -> str | None:
        try:
            file = (here / place.file).resolve().relative_to(root).as_posix()
            return f"{base}/{quote(commit)}/{quote(file)}#L{place.line}" if commit else None
        except (OSError, RuntimeError, ValueError):  # outside, or a name that no file has
            return None

    return address
