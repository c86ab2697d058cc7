"""A module around a model that makes TLC tell more: witnesses reached, progress each second.

TLC reports once a minute and stops at the first violated invariant, so witnesses (states
that must be reachable) would each cost a run. The probe is an invariant that is always
TRUE and prints on the way: when a witness is true for the first time, and the counts when
a second has passed. One run then checks the model and all its witnesses.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["PROBE_INVARIANT", "PROBE_MODULE", "Reached", "parse_probe", "probe_module"]

PROBE_MODULE = "KraflaProbe"
PROBE_INVARIANT = "KraflaProbeInv"
# Registers of TLCSet that no spec of ours uses.
_CLOCK = 770_000
_REACHED = '"krafla reached"'
_PROGRESS = '"krafla progress"'
_REACHED_LINE = re.compile(rf'^<<{_REACHED}, "(\w+)", (\d+)>>$')
_PROGRESS_LINE = re.compile(rf"^<<{_PROGRESS}, (\d+), (\d+), (\d+)>>$")


class Reached(NamedTuple):
    """A witness, and after how many steps it was first true."""

    witness: str
    level: int


def probe_module(module: str, witnesses: Sequence[str], *, progress: bool) -> str:
    """Return the text of a module that extends ``module`` and defines the probe's invariant."""
    registers = [f"TLCSet({_CLOCK + n}, FALSE)" for n in range(1, len(witnesses) + 1)]
    conjuncts = [
        f"/\\ \\/ KraflaTLC!TLCGet({_CLOCK + n})\n"
        f"     \\/ ~{name}\n"
        f"     \\/ /\\ KraflaTLC!TLCSet({_CLOCK + n}, TRUE)\n"
        f'        /\\ KraflaTLC!PrintT(<<{_REACHED}, "{name}", KraflaTLC!TLCGet("level")>>)'
        for n, name in enumerate(witnesses, 1)
    ]
    if progress:
        # Equal, not less or equal: a module need not extend Naturals.
        registers.append(f"TLCSet({_CLOCK}, 0)")
        counts = ", ".join(
            f'KraflaTLC!TLCGet("{key}")' for key in ("distinct", "queue", "diameter")
        )
        conjuncts.append(
            f'/\\ \\/ KraflaTLC!TLCGet("duration") = KraflaTLC!TLCGet({_CLOCK})\n'
            f'     \\/ /\\ KraflaTLC!TLCSet({_CLOCK}, KraflaTLC!TLCGet("duration"))\n'
            f"        /\\ KraflaTLC!PrintT(<<{_PROGRESS}, {counts}>>)"
        )
    assumptions = "\n".join(f"  /\\ KraflaTLC!{register}" for register in registers) or "  TRUE"
    body = "\n".join(f"  {conjunct}" for conjunct in conjuncts) or "  TRUE"
    return (
        f"---- MODULE {PROBE_MODULE} ----\n"
        f"EXTENDS {module}\n"
        f"LOCAL KraflaTLC == INSTANCE TLC\n"
        f"ASSUME\n{assumptions}\n"
        f"{PROBE_INVARIANT} ==\n{body}\n"
        f"====\n"
    )


def parse_probe(line: str) -> Reached | tuple[int, int, int] | None:
    """Return the witness or the counts a printed line tells, or ``None`` for any other line.

    Counts are distinct, queue, depth.
    """
    if "krafla" not in line:
        return None
    reached = _REACHED_LINE.match(line)
    if reached:
        return Reached(reached[1], int(reached[2]))
    progress = _PROGRESS_LINE.match(line)
    if progress is None:
        return None
    distinct, queue, depth = map(int, progress.groups())
    return distinct, queue, depth
