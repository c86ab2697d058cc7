"""The registration system: controllers that register, judged by ControllerRegistration."""

from __future__ import annotations

from typing import Final

from krafla.fuzz.engine.choice_system import ChoiceSystem, profiles_of
from krafla.refinement.registration import spec
from kraft.ids import ControllerId, IncarnationId
from kraft.sim.registration import choices
from kraft.sim.registration.cluster import Configuration, ProcessIdentity, first_cluster
from kraft.sim.registration.scheduler import Scheduler
from kraft.sim.registration.step import step

__all__ = ["CONFIGURATIONS", "SYSTEM"]

_CONTROLLERS: Final = tuple(ControllerId(number) for number in (1, 2, 3))
_FROM_GATE: Final = (15, 16, 17)
_FROM_BELOW: Final = (14, *_FROM_GATE)


def _processes(*highest: int) -> tuple[ProcessIdentity, ...]:
    """Return processes of each controller: the first of all, the second of all, and so on."""
    return tuple(
        ProcessIdentity(
            IncarnationId(f"{controller:04}{number:04}".rjust(21, "P") + "A"), controller, level
        )
        for number, level in enumerate(highest)
        for controller in _CONTROLLERS
    )


_SLOWLY_NEWER: Final = _processes(16, 16, 16, 17, 17, 17, 17, 17)
_FROM_OLD_ON: Final = _processes(15, 15, 16, 16, 17, 17, 17)
_ALL_NEW: Final = _processes(17, 17, 17, 17, 17, 17)
_NOW_AND_THEN_OLDER: Final = _processes(17, 16, 17, 16, 17, 16, 17)

# The names seed the runs, so they never change.
CONFIGURATIONS: Final = {
    "registers": Configuration(_SLOWLY_NEWER, _FROM_GATE, _CONTROLLERS),
    "gate": Configuration(_FROM_OLD_ON, _FROM_BELOW, _CONTROLLERS),
    "eager": Configuration(_ALL_NEW, _FROM_BELOW, _CONTROLLERS, eager=True),
    "older-software": Configuration(_NOW_AND_THEN_OLDER, _FROM_GATE, _CONTROLLERS),
    "dynamic-quorum": Configuration(_NOW_AND_THEN_OLDER, _FROM_GATE, changes_voters=True),
}
_SENTENCES: Final = {
    "registers": "Controllers restart, the later ones with newer software.",
    "gate": "As registers, from a metadata version without registrations on.",
    "eager": "As gate, with new software only; controllers register although the version lacks it.",
    "older-software": "Controllers restart now and then with older software.",
    "dynamic-quorum": "As older-software, in a dynamic quorum: operators change the voters.",
}

SYSTEM: Final = ChoiceSystem(
    name="registration",
    first_cluster=first_cluster,
    step=step,
    judge=spec.judge,
    configuration=Configuration,
    choice=choices.Choice,
    of_message=(
        choices.Deliver,
        choices.DeliverElsewhere,
        choices.LoseMessage,
        choices.DuplicateMessage,
    ),
    modules=(spec.MODULE,),
    profiles=profiles_of(CONFIGURATIONS, Scheduler, _SENTENCES),
    default_profiles=tuple(CONFIGURATIONS),
)
