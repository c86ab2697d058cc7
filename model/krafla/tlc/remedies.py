"""What to do about an expression that TLC cannot evaluate, behind TLC's own words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from krafla.tlc.community import COMMUNITY_NAMES

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["JAVA_ALONE", "java_advice", "with_advice", "with_remedy"]

_PLACE: Final = re.compile(r"line (\d+), col \d+ to line \d+, col \d+ of module (\w+)")
_CAST: Final = re.compile(
    r"(?:Attempted to apply the operator overridden by the Java method .*? error: )?"
    r"Cannot cast (?:class )?tlc2\.value\.impl\.(?P<found>\w+) to (?:class )?tlc2\.value\.impl\."
    r"(?P<needed>\w+)"
)
# What TLC's classes are in TLA+.
_KINDS: Final = {
    "BoolValue": "a boolean", "FcnRcdValue": "a function", "IntValue": "a number",
    "IntervalValue": "a set", "ModelValue": "a model value", "RecordValue": "a record",
    "SetEnumValue": "a set", "StringValue": "a string", "TupleValue": "a tuple",
}  # fmt: skip
_ENDLESS: Final = re.compile(r"not enumerable|non-enumerable|can't enumerate")
_REMEDIES: Final = (
    (
        r"a model value stands where",
        "the CONSTANTS of the cfg make it one",
    ),
    (
        _ENDLESS.pattern,
        "TLC goes through finite sets only: bound the set, or let the cfg put a finite one in its "
        "place, as in Nat <- SmallNat",
    ),
    (
        r"not completely specified|gives no next value",
        "give it a value in each disjunct of the action, or write UNCHANGED",
    ),
    (
        r"unbounded CHOOSE",
        "let the cfg make a model value of the definition, as in None = None",
    ),
    (
        r"identifier \S+ is either undefined",
        "TLC takes a variable's value from name = value, or name \\in set, in front of its use",
    ),
    (
        r"StackOverflowError",
        "an operator calls itself too deeply, perhaps without end",
    ),
    (
        r"Too many possible next states",
        "these are more than a million initial states, or successors of one state: take smaller "
        "constants",
    ),
    (
        # The second: the numbers of a run that the pinned TLC has.
        r"TLC\.TLC[GS]et\(.*TLCGlobals|"
        r"TLCGet\((diameter|distinct|duration|level|queue)\) was undefined",
        "TLCSet and TLCGet keep values during a run of TLC: a check is one, the oracle is none",
    ),
    (
        r"undefined in an UNCHANGED expression",
        "it has no variables: a newer TLC leaves a definition of << >> unchanged, and a check can "
        "run one (KRAFLA_TLA2TOOLS)",
    ),
    (
        r"TLCGet\((?!\d+\))\S+\) was undefined",
        "a newer TLC knows it: a check can run one (KRAFLA_TLA2TOOLS), the oracle cannot",
    ),
    (
        r"Overflow when computing",
        "TLC's numbers have 32 bits: bound them by a CONSTRAINT of the cfg",
    ),
)  # fmt: skip
# Modules of the community whose operators TLA+ cannot define.
JAVA_ALONE: Final = frozenset({"CSV", "IOUtils", "Json"})


def with_remedy(message: str) -> str:
    """Return TLC's complaint about an evaluation in one line, with short places and a remedy."""
    text = _CAST.sub(_plainly, " ".join(message.split()))
    text = _PLACE.sub(r"\2.tla:\1", text)
    for pattern, remedy in _REMEDIES:
        if re.search(pattern, text):
            return f"{text.rstrip('.')}; {remedy}"
    return text


def with_advice(message: str, modules: Iterable[str]) -> str:
    """Return what `with_remedy` does, with what `java_advice` has to say of these modules."""
    return with_remedy(message) + java_advice(modules, message)


def _plainly(cast: re.Match[str]) -> str:
    """Return what TLC says of two classes of Java in words of TLA+; the same for others."""
    found, needed = (_KINDS.get(cast[which]) for which in ("found", "needed"))
    return f"{found} stands where {needed} is needed" if found and needed else cast[0]


def java_advice(modules: Iterable[str], message: str) -> str:
    """Return a remark about modules that a spec uses, if they work by Java alone; else nothing.

    ``message`` tells of operators of other CommunityModules that go through an endless set: Java
    alone can evaluate these, too.
    """
    places = {name for _, name in _PLACE.findall(message)} if _ENDLESS.search(message) else set()
    names = sorted(JAVA_ALONE.intersection(modules) | COMMUNITY_NAMES.intersection(places))
    if not names:
        return ""
    return (
        f" (operators of {' and '.join(names)} of the CommunityModules work by Java alone: only in "
        "a newer TLC, which KRAFLA_TLA2TOOLS names, after krafla doctor --trust)"
    )
