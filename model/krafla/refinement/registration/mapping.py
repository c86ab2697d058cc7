"""Simulated controllers as a state of ControllerRegistration, and a choice as an action of it.

This changes the notation and holds no rule of the protocol. Where spec and code differ, one of them
is fixed, never this file.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from krafla.refinement.common.interner import Interner
from krafla.refinement.common.judged_spec import StepMapping
from krafla.refinement.lease.vocabulary import NIL
from krafla.values import function, record
from kraft.image.metadata_image import METADATA_VERSION
from kraft.sim.registration import choices
from kraft.sim.registration.cluster import controllers_of, find

if TYPE_CHECKING:
    from krafla.values import Value
    from kraft.controller.registration_sender import RegistrationSender
    from kraft.image.entries import ControllerRegistration
    from kraft.sim.registration.choices import Choice
    from kraft.sim.registration.cluster import Cluster, Configuration, Envelope

__all__ = ["RegistrationMapping"]

_NO_LEVEL: Final = -1
_OF_MESSAGES: Final = (
    choices.Deliver, choices.DeliverElsewhere, choices.LoseMessage, choices.DuplicateMessage,
)  # fmt: skip
_OF_CONTROLLERS: Final = (
    choices.UnregisterController, choices.RemoveVoter, choices.AddVoter,
)  # fmt: skip
_REFUSED: Final = {
    "RaiseMetadataVersion": "UpgradeFeature",
    "DeliverElsewhere": "AnswerNotController",
}


class RegistrationMapping(StepMapping):
    """The mapping for one configuration. Equal values are one object while they are remembered."""

    def __init__(self, configuration: Configuration) -> None:
        self._levels = configuration.levels
        self._controllers = controllers_of(configuration)
        self._incarnations = tuple(sorted(one.incarnation_id for one in configuration.processes))
        self._values: Interner[Value] = Interner()

    def variables(self, cluster: Cluster) -> dict[str, Value]:
        """Return the values of all variables. Spec: ControllerRegistration!vars."""
        image = cluster.image
        registered = tuple(image.controllers.get(one) for one in self._controllers)
        running = tuple(cluster.processes[one] for one in self._incarnations)
        states = tuple(one.state.value for one in running)
        images = tuple(_image_row(one.sender) for one in running)
        waiting = tuple(one.sender.pending is not None for one in running)
        bag = Counter(self.message(one) for one in cluster.network)
        version, active, voters = image.metadata_version, cluster.active, cluster.voters
        interned = self._values.get
        return {
            "registrations": interned(
                ("registrations", registered),
                lambda: self._by(
                    self._controllers, [self._registration(one) for one in registered]
                ),
            ),
            "metadata_version": interned(
                ("metadata_version", version), lambda: _NO_LEVEL if version is None else version
            ),
            "voters": interned(("voters", voters), lambda: frozenset(int(one) for one in voters)),
            "active": interned(("active", active), lambda: NIL if active is None else active),
            "status": interned(
                ("status", states), lambda: self._by(self._incarnations, list(states))
            ),
            "image": interned(
                ("image", images),
                lambda: self._by(self._incarnations, [_image(*one) for one in images]),
            ),
            "pending": interned(
                ("pending", waiting), lambda: self._by(self._incarnations, list(waiting))
            ),
            "messages": interned(("messages", frozenset(bag.items())), lambda: function(bag)),
        }

    def message(self, envelope: Envelope) -> Value:
        """Return a message. Spec: ControllerRegistration!Message."""
        incarnation = envelope.request.incarnation_id
        response, awaited = envelope.response, envelope.correlation_id is not None
        if response is None:
            return self._values.get(
                ("request", incarnation, awaited),
                lambda: record(
                    type="ControllerRegistrationRequest", incarnation=incarnation, awaited=awaited
                ),
            )
        error = response.error_code.name
        return self._values.get(
            ("response", incarnation, error),
            lambda: record(
                type="ControllerRegistrationResponse", incarnation=incarnation, error=error
            ),
        )

    def parameters_of(self, cluster: Cluster, choice: Choice) -> tuple[Value, ...] | None:
        """Return the parameters of the action a choice stands for, by the cluster before it."""
        if isinstance(choice, _OF_MESSAGES):
            envelope = find(cluster, choice.message_id)
            return None if envelope is None else (self.message(envelope),)
        if isinstance(choice, choices.RaiseMetadataVersion):
            return (choice.level,) if choice.level in self._levels else None
        if isinstance(choice, _OF_CONTROLLERS):
            known = choice.controller_id in self._controllers
            return (int(choice.controller_id),) if known else None
        known = choice.incarnation_id in self._incarnations
        return (str(choice.incarnation_id),) if known else None

    def refused_action(self, choice: Choice) -> str | None:
        """Return the action that a refused choice would have been; a delivery has none."""
        if isinstance(choice, choices.Deliver):
            return None
        name = type(choice).__name__
        return _REFUSED.get(name, name)

    def _registration(self, registration: ControllerRegistration | None) -> Value:
        if registration is None:
            return NIL
        ranges = [one for one in registration.features if one.name == METADATA_VERSION]
        supported = (
            level
            for level in self._levels
            if any(one.minimum <= level <= one.maximum for one in ranges)
        )
        return record(incarnation=registration.incarnation_id, supported=frozenset(supported))

    def _by(self, names: tuple[Value, ...], results: list[Value]) -> Value:
        return function(zip(names, results, strict=True))


def _image_row(sender: RegistrationSender) -> tuple[str | None, int | None]:
    return sender.registered_incarnation, sender.metadata_version


def _image(incarnation: str | None, level: int | None) -> Value:
    return record(
        incarnation=NIL if incarnation is None else incarnation,
        metadata_version=_NO_LEVEL if level is None else level,
    )
