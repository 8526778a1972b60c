"""The flags of `evalc run` that choose cases, stop the run, decide it, or say what is shown, as typer declares them."""

from __future__ import annotations

from typing import Annotated

import typer

from evalc.cli.options import DATA

CHOICE = "Selecting cases"
HOW = "Running"
STOPS = "Stopping"
GATES = "Gates, instead of requiring every case to pass"
SHOWN = "Output"
INSTEAD = "Instead of running"

Keywords = Annotated[
    str | None,
    typer.Option(
        "-k",
        metavar="EXPR",
        rich_help_panel=CHOICE,
        help="Cases whose id, tool or tags contain these words, joined by and, or, not and parentheses.",
    ),
]
Tags = Annotated[
    list[str] | None,
    typer.Option(
        "--tag", metavar="TAG", rich_help_panel=CHOICE, help="Cases with this tag; !TAG without it. May be repeated."
    ),
]
NotTags = Annotated[
    list[str] | None,
    typer.Option("--not-tag", metavar="TAG", rich_help_panel=CHOICE, help="Cases without this tag. May be repeated."),
]
Filters = Annotated[
    list[str] | None,
    typer.Option(
        "--filter",
        metavar="PATTERN",
        rich_help_panel=CHOICE,
        help="Cases whose id matches a glob such as 'weather/*', or /REGEX/.",
    ),
]
Tiers = Annotated[
    list[str] | None,
    typer.Option("--tier", metavar="TIER", rich_help_panel=CHOICE, help="Cases of this tier. May be repeated."),
]
FailedFrom = Annotated[
    str | None,
    typer.Option(
        "--failed-from",
        metavar="RUN",
        rich_help_panel=CHOICE,
        help="Cases that did not pass in a run: its id, a path, or latest.",
    ),
]
LastFailed = Annotated[
    bool,
    typer.Option(
        "--last-failed",
        "--lf",
        rich_help_panel=CHOICE,
        help="Cases that did not pass in the newest run, or all if none failed.",
    ),
]
ChangedSince = Annotated[
    str | None,
    typer.Option(
        "--changed-since",
        metavar="REF",
        rich_help_panel=CHOICE,
        help="Suites whose files differ from those of a git commit.",
    ),
]
Repeat = Annotated[
    int | None,
    typer.Option("--repeat", metavar="N", min=1, rich_help_panel=HOW, help="How often each case is run."),
]
EnvFile = Annotated[
    str | None,
    typer.Option(
        "--env-file", metavar="FILE", rich_help_panel=DATA, help="Variables that the environment does not set."
    ),
]
FailFast = Annotated[
    bool, typer.Option("--fail-fast", "-x", rich_help_panel=STOPS, help="Stop after the first case that fails.")
]
MaxFail = Annotated[
    int | None,
    typer.Option("--maxfail", metavar="N", min=1, rich_help_panel=STOPS, help="Stop after N cases that fail."),
]
Agents = Annotated[
    list[str] | None,
    typer.Option(
        "--agent",
        metavar="AGENT",
        rich_help_panel=HOW,
        help="http://..., openai:MODEL, anthropic:MODEL, python:MODULE:NAME, command:..., local, replay:DIR "
        "or demo; several are each asked everything.",
    ),
]
Judge = Annotated[
    list[str] | None,
    typer.Option(
        "--judge",
        metavar="JUDGE",
        rich_help_panel=HOW,
        help="Who scores criteria and rubrics: http://..., openai:MODEL, anthropic:MODEL, python:MODULE:NAME or local; "
        "several are a panel.",
    ),
]
JudgeSamples = Annotated[
    int | None,
    typer.Option(
        "--judge-samples", metavar="N", rich_help_panel=HOW, help="Ask each judge N times, and take the median."
    ),
]
Rubrics = Annotated[
    str | None,
    typer.Option(
        "--rubrics",
        metavar="passed|always",
        rich_help_panel=HOW,
        help="When the rubric tier runs. Default: where all other tiers passed.",
    ),
]
NoJudgeCache = Annotated[
    bool,
    typer.Option("--no-judge-cache", rich_help_panel=HOW, help="Ignore cached judgements, and ask judges again."),
]
MaxCost = Annotated[
    float | None,
    typer.Option(
        "--max-cost", metavar="USD", rich_help_panel=STOPS, help="Stop before the total cost exceeds this amount."
    ),
]
MinPassRate = Annotated[
    float | None,
    typer.Option(
        "--min-pass-rate",
        metavar="SHARE",
        rich_help_panel=GATES,
        help="Fail if a smaller share of the cases passes, from 0 to 1.",
    ),
]
MinScore = Annotated[
    float | None,
    typer.Option(
        "--min-score", metavar="SCORE", rich_help_panel=GATES, help="Fail if the score is lower, from 0 to 1."
    ),
]
MaxP95 = Annotated[
    float | None,
    typer.Option(
        "--max-p95-ms",
        metavar="N",
        rich_help_panel=GATES,
        help="Fail if the 95th percentile of the durations is longer.",
    ),
]
FailOnRegression = Annotated[
    bool,
    typer.Option(
        "--fail-on-regression",
        rich_help_panel=GATES,
        help="Fail if a case fails that passed in the baseline: evals/baseline.json, else the last green run of this "
        "agent.",
    ),
]
Otel = Annotated[
    str | None,
    typer.Option(
        "--otel",
        metavar="URL",
        rich_help_panel=SHOWN,
        help="Export the run to an OTLP receiver, such as http://localhost:4318; env for OTEL_EXPORTER_OTLP_ENDPOINT.",
    ),
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", rich_help_panel=SHOWN, help="Show only the cases that did not pass.")
]
Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", rich_help_panel=SHOWN, help="Show the assertions of each case.")
]
Durations = Annotated[
    int | None,
    typer.Option("--durations", metavar="N", min=1, rich_help_panel=SHOWN, help="Show the N slowest cases."),
]
CollectOnly = Annotated[
    bool,
    typer.Option("--collect-only", rich_help_panel=INSTEAD, help="List the cases; with -q their ids alone."),
]
DryRun = Annotated[
    bool,
    typer.Option("--dry-run", rich_help_panel=INSTEAD, help="Show what would be sent, and what it may cost."),
]
ShowSettings = Annotated[
    bool,
    typer.Option("--show-settings", rich_help_panel=INSTEAD, help="Show the settings and where each comes from."),
]
