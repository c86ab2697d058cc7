"""What can be simulated, and which options of a command are for which of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["BY_STEPS", "OVER_MACHINES", "Chaos", "Profile", "Steps", "check_options"]

OVER_MACHINES: Final = ("raft", "cluster")
"""What is simulated over machines, disks and networks, by plans of faults."""
BY_STEPS: Final = ("lease", "reassignment", "registration", "metadata", "together")
"""What is simulated by choices, and judged step by step."""

Steps = Annotated[int | None, typer.Option(min=1, help="not raft, cluster: steps of a run; 600.")]
Profile = Annotated[
    list[str] | None,
    typer.Option(help="not raft, cluster: a kind of run, again for each; without, a mixture."),
]
Chaos = Annotated[
    float | None,
    typer.Option(min=1, help="raft, cluster: seconds of a run in which things go wrong; 30."),
]


def check_options(verb: str, protocol: str, own: Mapping[str, Mapping[str, object]]) -> None:
    """Refuse a protocol that there is not, and options that are another protocol's.

    ``own`` has for each protocol the options of its own and their values, None if not given.
    """
    if protocol not in own:
        raise KraflaError(f"nothing is called {protocol!r} here; there are: {', '.join(own)}")
    for other, options in own.items():
        strange = [name for name, value in options.items() if value is not None]
        strange = [name for name in strange if name not in own[protocol]]
        if strange:
            takes = ", ".join(key for key, named in own.items() if {*strange} <= {*named})
            raise KraflaError(f"{', '.join(strange)}: only for `krafla {verb}` {takes or other}")
