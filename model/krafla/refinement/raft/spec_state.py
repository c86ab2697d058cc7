"""The spec's own state in a lockstep, and what an implementation must be for it to agree.

States are TLC's. None is fingerprinted: they are compared as they are, and only what changed is
built anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krafla.oracle import EvaluationError
from krafla.oracle.difference import Difference, differences
from krafla.oracle.explain import Explanation
from krafla.oracle.state import State
from krafla.refinement.common.judgement import SpecAction
from krafla.refinement.raft.replica import Disk, Row
from krafla.refinement.raft.terms import Message, Term

if TYPE_CHECKING:
    from collections.abc import Sequence

    from krafla.oracle import Spec
    from krafla.refinement.raft.actions import Action
    from krafla.refinement.raft.names import Naming
    from krafla.refinement.raft.network import Exchanges
    from krafla.refinement.raft.terms import Terms
    from kraft.ids import OffsetAndEpoch

__all__ = ["RefusalError", "SpecState"]

_LOG = ("log", "log_start", "flushed")
# What the spec leaves open: whether who leads has moved.
_OPEN = frozenset({"BecomeLeader", "BecomeSoleLeader"})


class RefusalError(Exception):
    """The spec does not agree.

    `state` is where it was before `action`, `after` what was claimed.
    """

    def __init__(self, action: Action, state: Any, after: dict[str, Any] | None) -> None:
        super().__init__(action.name)
        self.action = action
        self.state = state
        self.after = after


class SpecState:
    """Where the spec is: its state, and the same as one column of values for each variable."""

    def __init__(self, spec: Spec, terms: Terms, naming: Naming) -> None:
        self.spec = spec
        self.terms = terms
        self.naming = naming
        self.names = terms.replicas
        self.index = {name: index for index, name in enumerate(self.names)}
        self.state: Any = spec.initial_states()[0].java
        self.disks = {name: Disk(terms, naming) for name in self.names}
        first = Row(
            0, None, None, "Unattached", (), (), False, None, (-1,) * len(self.names), -1, ()
        )
        self.rows = dict.fromkeys(self.names, first)
        values = {field: self._value(field, getattr(first, field)) for field in Row._fields}
        self._columns = {field: [value] * len(self.names) for field, value in values.items()}
        for variable, value in (("log", terms.empty), ("log_start", 0), ("flushed", 0)):
            java = value if variable == "log" else terms.plain(value)
            self._columns[variable] = [java] * len(self.names)
        self._action_class = spec.classes("tlc2.tool.Action")
        declared = spec.empty_state.getVars()
        self._variables = {str(one.getName().toString()): one.getName() for one in declared}
        self._bodies: dict[str, tuple[Any, Any, list[Any]]] = {}

    def run(self, actions: Sequence[Action]) -> list[list[Any]]:
        """Return the ways that some actions can go: the states after each, the one before first.

        There are several where an action leaves something open (`_OPEN`).
        RefusalError if one is not enabled.
        """
        ways = [[self.state]]
        for action in actions:
            definition, body, formals = self._body(action.name)
            context = self.spec.empty_context
            for formal, parameter in zip(formals, action.parameters, strict=True):
                context = context.cons(formal, self._parameter(parameter))
            asked = self._action_class(body, context, definition)
            longer = []
            for way in ways:
                try:
                    reached = self.spec.asked(self.spec.tool.getNextStates, asked, way[-1])
                except EvaluationError:
                    raise RefusalError(action, way[-1], None) from None
                # Of any other action all states are one, found by several disjuncts.
                many = reached.size() if action.name in _OPEN else min(1, reached.size())
                longer += [[*way, reached.elementAt(index)] for index in range(many)]
            if not longer:
                raise RefusalError(action, ways[0][-1], None)
            ways = longer
        return ways

    def agree(
        self, name: str, row: Row | None, has_new_log: bool, exchanges: Exchanges,
        actions: Sequence[Action],
    ) -> tuple[Any, Any, tuple[str, ...]]:  # fmt: skip
        """Take some actions, after which replica `name` has this row.

        Return the states before and after, and the variables that changed. RefusalError if the
        spec does not agree.
        """
        ways = self.run(actions)
        changed = self._enter(name, row, ways[0][-1], has_new_log)
        expected = self.state.copy()
        for variable in changed:
            value = self.terms.by_replica(self._columns[variable])
            expected.bind(self._variables[variable], value)
        has_sent = exchanges.has_changed
        if has_sent:
            expected.bind(self._variables["messages"], exchanges.java())
        for way in ways:
            if "high_watermark" in changed:
                committed = self._variables["committed"]
                expected.bind(committed, way[-1].lookup(committed))
            if expected.equals(way[-1]):
                break
        else:
            wrong, way = min(
                ((self._wrong(expected, way[-1]), way) for way in ways),
                key=lambda pair: len(pair[0]),
            )
            raise RefusalError(actions[-1], way[-2], wrong)
        if has_sent:
            changed.append("messages")
        before, self.state = self.state, expected
        if "high_watermark" in changed:
            changed.append("committed")
        return before, expected, tuple(changed)

    def explain(self, refusal: RefusalError) -> Explanation:
        """Return which conjunct is false, or which variables differ."""
        action = refusal.action
        parameters = tuple(
            self.spec.converter.to_python(self._parameter(one)) for one in action.parameters
        )
        state = State(self.spec, refusal.state)
        return self.spec.explain(state, action.name, parameters, after=refusal.after)

    def spoken(self, action: Action) -> SpecAction:
        """Return an action with its parameters as plain values."""
        to_python = self.spec.converter.to_python
        return SpecAction(
            action.name, tuple(to_python(self._parameter(one)) for one in action.parameters)
        )

    def claimed(
        self, name: str, row: Row | None, has_new_log: bool, exchanges: Exchanges
    ) -> Explanation:
        """Return what changed in a step that no action is."""
        changed = self._enter(name, row, self.state, has_new_log)
        expected = self.state.copy()
        for variable in changed:
            value = self.terms.by_replica(self._columns[variable])
            expected.bind(self._variables[variable], value)
        if exchanges.has_changed:
            expected.bind(self._variables["messages"], exchanges.java())
        details: list[Difference] = []
        for variable, value in self._wrong(expected, self.state).items():
            old = self.spec.converter.to_python(self.state.lookup(self._variables[variable]))
            details += differences(variable, old, value)
        return Explanation(
            f"replica {name} changed in a step that no action is", (), tuple(details)
        )

    def _enter(self, name: str, row: Row | None, reached: Any, has_new_log: bool) -> list[str]:
        """Put what a replica is now into the columns; return which variables that changes."""
        changed = []
        index = self.index[name]
        if row is not None:
            old = self.rows[name]
            for field, before, after in zip(Row._fields, old, row, strict=True):
                if before != after:
                    if field == "snapshots":
                        self._learn_snapshots(name, row.snapshots, reached)
                    self._columns[field][index] = self._value(field, after)
                    changed.append(field)
            self.rows[name] = row
        if has_new_log:
            disk = self.disks[name]
            values = (disk.java, self.terms.plain(disk.start), self.terms.plain(disk.flushed))
            for variable, value in zip(_LOG, values, strict=True):
                self._columns[variable][index] = value
                changed.append(variable)
        return changed

    def _learn_snapshots(
        self, name: str, snapshots: tuple[OffsetAndEpoch, ...], reached: Any
    ) -> None:
        """Note what a new snapshot holds: all records before its end, as the spec has them."""
        known = self.naming.snapshots
        for snapshot_id in snapshots:
            if snapshot_id not in known:
                terms = self.terms
                history = self.evaluate("History", reached, terms.plain(name))
                records = terms.piece(history, 1, snapshot_id.end_offset)
                java = terms.record(
                    [
                        ("end_offset", terms.plain(snapshot_id.end_offset)),
                        ("epoch", terms.plain(snapshot_id.epoch)),
                        ("records", records),
                    ]
                )
                known[snapshot_id] = Term(("snapshot", snapshot_id), java)

    def evaluate(self, operator: str, state: Any, *arguments: Any) -> Any:
        """Return TLC's value of an operator in a state."""
        _, body, formals = self._body(operator)
        context = self.spec.empty_context
        for formal, argument in zip(formals, arguments, strict=True):
            context = context.cons(formal, argument)
        return self.spec.asked(self.spec.tool.eval, body, context, state)

    def _body(self, name: str) -> tuple[Any, Any, list[Any]]:
        known = self._bodies.get(name)
        if known is None:
            definition = self.spec.definition(name)
            known = definition, definition.getBody(), list(definition.getParams())
            self._bodies[name] = known
        return known

    def _parameter(self, value: Any) -> Any:
        if isinstance(value, Message):
            return value.java
        return self.terms.plain(value) if isinstance(value, str | int) else value

    def _value(self, field: str, value: Any) -> Any:
        terms = self.terms
        if field in ("leader", "voted"):
            return terms.optional(value)
        if field in ("granted", "rejected"):
            return terms.members(value)
        if field == "fetching_snapshot":
            return terms.nil if value is None else terms.offset_and_epoch(*value)
        if field == "end_offset":
            return terms.once(
                ("ends", value), lambda: terms.by_replica([terms.plain(one) for one in value])
            )
        if field == "snapshots":
            return terms.set_of(self.naming.snapshots[one].java for one in value)
        return terms.plain(value)

    def _wrong(self, expected: Any, reached: Any) -> dict[str, Any]:
        to_python = self.spec.converter.to_python
        return {
            name: to_python(expected.lookup(variable))
            for name, variable in self._variables.items()
            if not expected.lookup(variable).equals(reached.lookup(variable))
        }
