"""A system that is driven by choices as a state machine of Hypothesis: a rule for each choice."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from itertools import islice, product
from typing import TYPE_CHECKING, Any, ClassVar, Final, get_args

from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule

from krafla.fuzz.engine.choice_run import ChoiceCase, Player
from krafla.fuzz.engine.state_machine import SystemMachine
from kraft.sim.common.step import Refused

if TYPE_CHECKING:
    from krafla.fuzz.engine.choice_system import ChoiceSystem
    from krafla.fuzz.engine.runs import Run

__all__ = ["ChoiceMachine", "Values"]

Values = Callable[[Any], Iterable[Any]]
"""What a field, or a choice, can be in a cluster: the plainest first, to which examples shrink."""
_FIRST: Final = st.sampled_from((0, 12, 60))
_PROPOSALS_MAXIMUM: Final = 400
"""How many choices of a kind are tried in one state of the cluster."""


class ChoiceMachine(SystemMachine):
    """A rule for each kind of choice, judged by the spec of the system.

    A rule draws among the choices of its kind that the implementation does not refuse now. They are
    made from ``fields``: for each field by its name the values that it can have in a cluster.
    ``choices_of`` has, for a kind whose fields depend on each other, the choices themselves.
    ``usual`` are kinds, or choices, by which a cluster moves without faults and operators, in turn.
    ``profiles`` are those whose configurations runs have, by default those of the system.
    A kind of choice that is added to the system gets its rule from the same table; the class raises
    TypeError if it names a field that the table lacks.
    """

    system: ClassVar[ChoiceSystem]
    fields: ClassVar[Mapping[str, Values]]
    choices_of: ClassVar[Mapping[type[Any], Values]] = {}
    usual: ClassVar[tuple[type[Any] | Values, ...]] = ()
    profiles: ClassVar[tuple[str, ...]] = ()
    player: Player
    _possible: dict[type[Any], list[Any]]
    _some: dict[type[Any], bool]
    _turn: int = 0

    def __init_subclass__(cls, **options: Any) -> None:
        """Give the class its rules; TypeError if one could not be drawn."""
        super().__init_subclass__(**options)
        for kind in get_args(cls.system.choice):
            missing = [one for one in kind.__struct_fields__ if one not in cls.fields]
            if missing and kind not in cls.choices_of:
                raise TypeError(
                    f"{cls.__name__} has no rule for {kind.__name__}: `fields` says nothing of "
                    f"{', '.join(missing)}, and `choices_of` nothing of the choice"
                )
            name = rule_name(kind)
            if not hasattr(cls, name):
                setattr(cls, name, _rule_of(kind, name))

    @initialize(data=st.data(), steps=_FIRST)
    def begin(self, data: st.DataObject, steps: int) -> None:
        """Draw the configuration, and how far the cluster gets before anything goes wrong."""
        self.start(data.draw(self.cases(), label="begins with"))
        self.go_on(steps)

    def cases(self) -> st.SearchStrategy[ChoiceCase]:
        """Return how runs can begin: in the configurations of the profiles, without a choice."""
        profiles = map(self.system.profile, self.profiles or self.system.default_profiles)
        return st.sampled_from(
            [ChoiceCase(one.configuration, (), one.also, one.name) for one in profiles]
        )

    def start(self, case: ChoiceCase) -> None:
        """Begin a run."""
        self.player = Player(self.system, case)
        self._possible, self._some = {}, {}

    @precondition(lambda self: self.usual)
    @rule(steps=st.integers(1, 6))
    def go_on_a_little(self, steps: int) -> None:
        """Let the cluster move without faults."""
        self.go_on(steps)

    @precondition(lambda self: self.usual)
    @rule(steps=st.integers(10, 40))
    def go_on_for_long(self, steps: int) -> None:
        """Let the cluster move without faults until it is where it wants to be."""
        self.go_on(steps)

    @rule(data=st.data())
    def try_what_is_refused(self, data: st.DataObject) -> None:
        """Take a choice that the implementation refuses now: the spec must refuse it, too."""
        kind = data.draw(st.sampled_from(get_args(self.system.choice)), label="refuses")
        cluster = self.player.cluster
        proposed = islice(self._proposed(kind), _PROPOSALS_MAXIMUM)
        refused = [one for one in proposed if self._is_refused(cluster, one)]
        if refused:
            self.take(data.draw(st.sampled_from(refused), label=kind.__name__))

    def go_on(self, steps: int) -> None:
        """Take usual steps in turn: messages arrive, what is written commits, logs are replayed."""
        for _ in range(steps):
            for _ in self.usual:
                self._turn += 1
                found = self._usual(self.usual[self._turn % len(self.usual)])
                if found:
                    # No process and no message is always the one whose turn it is.
                    self.take(found[self._turn // len(self.usual) % len(found)])
                    break

    def _usual(self, move: type[Any] | Values) -> list[Any]:
        if isinstance(move, type):
            return self.possible(move)
        cluster = self.player.cluster
        return [one for one in move(cluster) if not self._is_refused(cluster, one)]

    def possible(self, kind: type[Any]) -> list[Any]:
        """Return the choices of a kind that the implementation would not refuse now."""
        found = self._possible.get(kind)
        if found is None:
            found = self._possible[kind] = list(self._allowed(kind))
        return found

    def is_possible(self, kind: type[Any]) -> bool:
        """Return whether there is such a choice, without a look at all of them."""
        if kind not in self._some:
            self._some[kind] = next(iter(self._allowed(kind)), None) is not None
        return self._some[kind]

    def _allowed(self, kind: type[Any]) -> Iterable[Any]:
        cluster = self.player.cluster
        proposed = islice(self._proposed(kind), _PROPOSALS_MAXIMUM)
        return (one for one in proposed if not self._is_refused(cluster, one))

    def _proposed(self, kind: type[Any]) -> Iterable[Any]:
        cluster = self.player.cluster
        if kind in self.choices_of:
            return self.choices_of[kind](cluster)
        values = [self.fields[name](cluster) for name in kind.__struct_fields__]
        return (kind(*drawn) for drawn in product(*values))

    def _is_refused(self, cluster: Any, choice: Any) -> bool:
        try:
            return isinstance(self.system.step(cluster, choice).outcome, Refused)
        except Exception:  # noqa: BLE001 - the step itself fails the same way, for its judge to see
            return False

    def take(self, choice: Any) -> None:
        """Take a step; ``SystemViolationError`` if the spec denies it."""
        self._possible, self._some = {}, {}
        self.player.step(choice)
        if self.player.finding is not None:
            self.fail(self.player.finding, lambda: self.player.run)

    def played(self) -> Run | None:
        """Return the run up to now; None if it has not begun."""
        return self.player.run if hasattr(self, "player") else None


def rule_name(kind: type[Any]) -> str:
    """Return the name of the rule that draws a choice of a kind."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower()


def _rule_of(kind: type[Any], name: str) -> Callable[..., None]:
    """Return the rule that draws a choice of this kind among those that are possible now."""

    def take(self: ChoiceMachine, data: st.DataObject) -> None:
        self.take(data.draw(st.sampled_from(self.possible(kind)), label=kind.__name__))

    take.__name__ = name
    take.__doc__ = f"Take a step that is {kind.__name__}."
    drawn: Callable[..., None] = rule(data=st.data())(take)
    return precondition(lambda self: self.is_possible(kind))(drawn)
