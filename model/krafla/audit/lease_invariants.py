"""Which invariants a step breaks that UntimedLease.tla refuses: B2 to B7, by their ids."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from krafla.audit.mapping import Step
    from krafla.audit.result import FalseConjunct

_BY_RULE: Final = {"EpochUniqueInv": "B3", "NewRegistrationIsFencedProp": "B5"}
_NAMES: Final = frozenset({r"b \in DOMAIN registrations", "registrations[b].epoch = epoch"})
_SHUTDOWN: Final = "registrations[b].in_controlled_shutdown = in_controlled_shutdown"


def broken_by(
    rule: str,
    step: Step | None,
    false: tuple[FalseConjunct, ...],
    registered: Mapping[int, Mapping[str, Any]],
) -> tuple[str, ...]:
    """Return the ids of the invariants that are broken where a rule of the spec is.

    `rule` is an action or a property, `false` its false conjuncts, `registered` what the log said
    before the step.
    """
    if rule in _BY_RULE:
        return (_BY_RULE[rule],)
    texts = {conjunct.text for conjunct in false}
    named = {} if step is None else dict(step.parameters)
    if rule == "RegisterBroker":
        if any("epoch" in text for text in texts):
            epochs = {r["epoch"] for b, r in registered.items() if b != named["b"]}
            return ("B2", "B3") if named["epoch"] in epochs else ("B2",)
        return ("B5",) if texts & {"fenced", "~in_controlled_shutdown"} else ()
    if rule == "AmendRegistration":
        taken_back = _SHUTDOWN in texts and not named["in_controlled_shutdown"]
        return ("B4", "B7") if taken_back else ("B4",)
    return ("B6",) if texts & _NAMES else ()


def broken_by_unmappable(reason: str) -> tuple[str, ...]:
    """Return the same of a record that is no action at all, by the sentence that says why."""
    return ("B7",) if reason.startswith("inControlledShutdown") else ()
