"""``krafla mutate``: put small mistakes into the specs and see which property notices each."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from krafla.cli.ci.reports import reported
from krafla.cli.options import Json  # noqa: TC001 - typer reads the annotations
from krafla.verdict import ExitCode  # noqa: TC001 - typer reads the annotations

__all__ = ["command"]

_Subject = Annotated[
    str,
    typer.Argument(
        metavar="SPECS", help="specs: those at hand; or a path: a .tla, a .cfg, a krafla.toml."
    ),
]
_Tier = Annotated[str, typer.Option(help="The models that try the mutants.")]
_Sample = Annotated[
    int | None, typer.Option(metavar="N", help="Draw N mutants instead of the fixed sample.", min=1)
]
_Seed = Annotated[int | None, typer.Option(help="Which mutants a sample draws.", min=1)]
_All = Annotated[bool, typer.Option("--all", help="Every mutant.")]
_Only = Annotated[
    list[str] | None,
    typer.Option(metavar="ID", help="One mutant, or all whose names begin with ID."),
]
_Room = Annotated[
    list[str] | None, typer.Option(help="Only of this folder of specs; may be repeated.")
]
_Module = Annotated[list[str] | None, typer.Option(help="Only of this module.")]
_Operator = Annotated[list[str] | None, typer.Option(help="Only by this operator.")]
_Workers = Annotated[int, typer.Option(help="Processes that try mutants.", min=1)]
_Timeout = Annotated[
    float, typer.Option(help="Seconds after which a process that says nothing is replaced.", min=1)
]
_Results = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Write the results here; a later run goes on from there."),
]
_List = Annotated[bool, typer.Option("--list", help="List the mutants and stop.")]
_Show = Annotated[str | None, typer.Option(metavar="ID", help="Show what a mutant changes.")]


@reported()
def command(
    subject: _Subject,
    tier: _Tier = "smoke",
    sample: _Sample = None,
    seed: _Seed = None,
    every: _All = False,
    only: _Only = None,
    room: _Room = None,
    module: _Module = None,
    operator: _Operator = None,
    workers: _Workers = 1,
    timeout: _Timeout = 600.0,
    results: _Results = None,
    list_mutants: _List = False,
    show: _Show = None,
    as_json: Json = False,
) -> ExitCode:
    r"""Mutate the specs, and see which property of which model notices each mistake.

    A mutant is killed by a false property, by a witness that is not reached, or because TLC has
    no value for something. If only the number of states or the set of actions taken changes, the
    mutant is noticed where these are pinned, and survives elsewhere. A mutant with the steps of
    the spec is not counted.

    Without options a fixed sample of 200 mutants is tried. A file mutation.toml, beside krafla.toml
    or else beside the spec, gives the sample another size and seed. It also asks for results:
    that 9 of 10 mutants are noticed, that 7 of 10 are killed by name, and that the file gives a
    reason for each other one; those with a reason are tried as well. Without the file nothing is
    asked, and the results are only shown.

    Exit status: 0 if mutation.toml is satisfied, or there is none; 1 if it is not, or if a mutant
    with a reason is killed or gone; 3 if a model does not hold unchanged, or time ran out.

    \b
    Examples:
      krafla mutate Lock.tla --all
      krafla mutate specs
      krafla mutate specs --room lease --sample 40 --seed 7
      krafla mutate specs --list --module BrokerLease --operator drop-guard
      krafla mutate specs --results mutation.jsonl --workers 2
    """
    from krafla.cli.mutate_run import AT_HAND, Request, run
    from krafla.project.asked import is_path

    if subject != AT_HAND and not is_path(subject):
        raise typer.BadParameter(f"what can be mutated is specs, or a path, not {subject!r}")
    return run(
        Request(
            subject=subject,
            tier=tier,
            size=sample,
            seed=seed,
            every=every,
            only=tuple(only or ()),
            rooms=tuple(room or ()),
            modules=tuple(module or ()),
            operators=tuple(operator or ()),
            workers=workers,
            timeout=timeout,
            results=results,
            lists=list_mutants,
            show=show,
            as_json=as_json,
        )
    )
