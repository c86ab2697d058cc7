"""The options of ``krafla fuzz`` and ``campaign`` that decide runs, and their systems."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from krafla.fuzz.engine.system import NAMES, RunOptions, System, find_system
from krafla.verdict import KraflaError

__all__ = [
    *("Chaos", "Faults", "Lockstep", "Profile", "RequireCoverage", "Steps", "SystemName"),
    "chosen_system",
]

SystemName = Annotated[
    str,
    typer.Argument(
        metavar="SYSTEM", help=f"What to fuzz: {', '.join(NAMES)}, or a machine of yours."
    ),
]
Steps = Annotated[
    int | None,
    typer.Option(min=1, help="Choices in a run, by default 600; not for raft and stack."),
]
Profile = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="Kind of run; may be repeated; by default several in turn. `krafla fuzz lease "
        "--profile list` shows those of the lease. Not for raft and stack.",
    ),
]
Faults = Annotated[
    str | None,
    typer.Option(
        metavar="LIST",
        help="For raft and stack: kinds of faults or groups of kinds (loss,disk), or all, or "
        "none. By default each run draws from those that break no promise of Raft. `krafla fuzz "
        "raft --faults list` shows them.",
    ),
]
Chaos = Annotated[
    float | None,
    typer.Option(min=1, help="For raft and stack: seconds of a run with faults, by default 30."),
]
Lockstep = Annotated[
    bool | None,
    typer.Option(
        "--lockstep/--no-lockstep",
        help="For raft and stack: the specs judge every step as well.",
    ),
]
RequireCoverage = Annotated[
    bool,
    typer.Option(
        "--require-coverage",
        help="Inconclusive (3) if an action was never taken or a witness never reached.",
    ),
]
# Some options are of machines only, and a cluster has none.
_MOVED: Final = "; did you mean `{verb} stack`?"


def chosen_system(
    verb: str,
    name: str,
    steps: int | None,
    profiles: list[str] | None,
    faults: str | None,
    chaos: float | None,
    lockstep: bool | None,
) -> tuple[System, RunOptions]:
    """Return a system and the options of its runs.

    ``KraflaError`` for a word that names no system, or an option that the system does not take.
    """
    system = find_system(name)
    names = None if profiles is None else tuple(profiles)
    kinds = None if faults is None else tuple(faults.split(","))
    options = RunOptions(steps, names, kinds, chaos, lockstep)
    strange = [option for option in options.arguments if option not in system.takes]
    if strange:
        takers = [one for one in NAMES if {*strange} <= {*find_system(one).takes}]
        moved = _MOVED.format(verb=f"krafla {verb}") if name == "cluster" else ""
        who = ", ".join(takers) or "other systems"
        raise KraflaError(f"{', '.join(strange)}: only for `krafla {verb}` {who}{moved}")
    return system, options
