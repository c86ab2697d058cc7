"""``krafla record``: run a real cluster of Apache Kafka through a scenario, and audit it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from krafla.cli.ci.audits import audit_entries
from krafla.cli.ci.reports import reported, tell
from krafla.verdict import ExitCode, KraflaError

if TYPE_CHECKING:
    from krafla.record.scenario import Scenario

__all__ = ["command"]

_Subject = Annotated[str, typer.Argument(metavar="kafka", help="What to record: kafka.")]
_Out = Annotated[Path | None, typer.Argument(metavar="OUT", help="A new folder for the recording.")]
_Name = Annotated[
    str, typer.Option("--scenario", metavar="NAME", help="A scenario's name, or its file.")
]
_Controllers = Annotated[
    str | None,
    typer.Option(metavar="KIND", help="java, kraft, mixed, mixed:ID,...; else the scenario's."),
]
_Seed = Annotated[
    int | None, typer.Option(min=0, metavar="N", help="What --scenario random draws from.")
]
_List = Annotated[bool, typer.Option("--list", help="List the scenarios and stop.")]
_Plan = Annotated[bool, typer.Option("--plan", help="Print the scenario's file and stop.")]
_Steps = Annotated[bool, typer.Option("--steps", help="Explain the steps of a scenario and stop.")]
_Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress; findings and verdict.")]


@reported()
def command(
    subject: _Subject,
    out: _Out = None,
    scenario: _Name = "calm",
    controllers: _Controllers = None,
    seed: _Seed = None,
    list_scenarios: _List = False,
    plan: _Plan = False,
    steps: _Steps = False,
    quiet: _Quiet = False,
) -> ExitCode:
    r"""Run a real cluster of Kafka 4.1 on this machine, drive it by a scenario, audit it.

    Kafka's jars are fetched from Maven once, each checked against a pinned SHA-256. Servers
    are processes that listen on free ports of 127.0.0.1; none of them is left behind, whether
    the recording ends, fails or is interrupted. Needs Java 17 or later; a cluster of six nodes
    takes a gigabyte of memory and a minute or two.

    OUT gets a folder for each node with its metadata log, checkpoints and server logs,
    harness.log with every step and its time, inventory.json, and the scenario. Folders and the
    name of this machine are replaced in all text. Nothing is overwritten.

    A scenario is a file: the cluster, then one step on each line. All of it is checked before
    anything is booted. `random` draws one from --seed; the same seed is the same plan.

    Brokers are Kafka's. Controllers are what the scenario says, as `controllers: 3 mixed`, or
    --controllers: java is Kafka's, kraft is `kraft server start`, mixed has kraft's as the first
    controller and Kafka's as the others, mixed:3000,3002: 3000 and 3002 are kraft's.

    Exit status: the verdict of `krafla audit OUT`; 2 if there is no Java, no network at the
    first run, or if Kafka refused a step: then OUT holds what was recorded until then.

    \b
    Examples:
      krafla record kafka --list
      krafla record kafka --scenario failover recorded
      krafla record kafka --scenario failover --controllers kraft recorded-kraft
      krafla record kafka --scenario random --seed 7 recorded-7
      krafla record kafka --scenario random --seed 7 --plan > mine.scenario
      krafla record kafka --scenario mine.scenario recorded-mine
      krafla record kafka --steps
    """
    if subject != "kafka":
        raise typer.BadParameter(f"what can be recorded is kafka, not {subject!r}")
    if list_scenarios or steps:
        _explain(list_scenarios=list_scenarios)
        return ExitCode.HELD
    chosen, seed = _chosen(scenario, controllers, seed)
    if plan:
        sys.stdout.write(chosen.text)
        return ExitCode.HELD
    if out is None:
        raise typer.BadParameter("name a new folder for the recording")
    return _record(chosen, seed, out, quiet=quiet)


def _chosen(name: str, controllers: str | None, seed: int | None) -> tuple[Scenario, int | None]:
    """Return the scenario, checked, and the seed it was drawn from."""
    from krafla.record.check import check
    from krafla.record.draw import RANDOM, draw
    from krafla.record.scenario import load, with_controllers

    if name == RANDOM:
        seed = 0 if seed is None else seed
        scenario = draw(seed)
    elif seed is not None:
        raise KraflaError("only --scenario random takes a --seed")
    else:
        scenario = load(name)
    if controllers is not None:
        scenario = with_controllers(scenario, controllers)
    check(scenario)
    return scenario, seed


def _record(scenario: Scenario, seed: int | None, out: Path, *, quiet: bool) -> ExitCode:
    from krafla.audit.report_text import text_lines
    from krafla.audit.run import audit
    from krafla.cli.screen import LiveLine
    from krafla.record.run import Recording, record

    with LiveLine(quiet=quiet) as line:
        record(Recording(scenario, seed, out), line.show)
        report = audit([out], line.show)
    tell(audit_entries, report)
    sys.stdout.writelines(f"{text}\n" for text in text_lines(report, quiet=quiet))
    return report.exit_code


def _explain(*, list_scenarios: bool) -> None:
    """Print each scenario with its sentence, or each step with its form and meaning."""
    if list_scenarios:
        from krafla.record.draw import RANDOM
        from krafla.record.scenario import load, shipped

        lines = [(name, load(name).sentence) for name in shipped()]
        lines.append((RANDOM, "Faults and requests as --seed draws them."))
    else:
        from krafla.record.verbs import VERBS

        lines = [(f"{name} {verb.usage}", verb.sentence) for name, verb in VERBS.items()]
    width = max(len(name) for name, _ in lines) if list_scenarios else 0
    for name, sentence in lines:
        separator = "  " if list_scenarios else "\n    "
        sys.stdout.write(f"{name.ljust(width)}{separator}{sentence}\n")
