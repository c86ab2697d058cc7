"""The registration of controllers as a state machine of Hypothesis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from krafla.fuzz.engine.choice_machine import ChoiceMachine
from krafla.fuzz.registration.system import SYSTEM
from kraft.sim.registration import choices
from kraft.sim.registration.cluster import ProcessState, controllers_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from krafla.fuzz.engine.choice_machine import Values
    from kraft.sim.registration.cluster import Cluster

__all__ = ["MACHINE", "RegistrationMachine"]


def _started(cluster: Cluster) -> Iterator[choices.StartController]:
    """Yield the next process of each controller, so that software is as new as a run promises."""
    seen = set()
    for one in cluster.configuration.processes:
        fresh = cluster.processes[one.incarnation_id].state is ProcessState.NOT_RUNNING
        if fresh and one.controller_id not in seen:
            seen.add(one.controller_id)
            yield choices.StartController(one.incarnation_id)


def _of_voters(kind: Any) -> Values:
    """Return the changes of voters that an operator may ask for, if the run has them."""

    def changes(cluster: Any) -> list[Any]:
        configuration = cluster.configuration
        return [kind(one) for one in controllers_of(configuration) if configuration.changes_voters]

    return changes


def _activated(cluster: Cluster) -> Iterator[choices.BecomeActive]:
    """Yield elections while no controller is active."""
    if cluster.active is None:
        for one in cluster.configuration.processes:
            yield choices.BecomeActive(one.incarnation_id)


class RegistrationMachine(ChoiceMachine):
    """Three controllers whose processes are upgraded, and an active one that hears of them.

    Spec: ``ControllerRegistration!Next``.
    """

    system = SYSTEM
    fields: ClassVar[Mapping[str, Values]] = {
        "incarnation_id": lambda cluster: [
            one.incarnation_id for one in cluster.configuration.processes
        ],
        "controller_id": lambda cluster: controllers_of(cluster.configuration),
        "message_id": lambda cluster: [one.message_id for one in cluster.network],
        "level": lambda cluster: cluster.configuration.levels,
    }
    choices_of: ClassVar[Mapping[type[Any], Values]] = {
        choices.StartController: _started,
        **{
            kind: _of_voters(kind)
            for kind in (choices.UnregisterController, choices.RemoveVoter, choices.AddVoter)
        },
    }
    usual = (
        _started, _activated, choices.SendRegistration, choices.Deliver, choices.ReplayMetadata,
    )  # fmt: skip


MACHINE: Final = RegistrationMachine
