"""KRaftSteps during one run, and the comparison of its state with a replica's.

States are compared as TLC's objects, and only the variables that changed are built anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krafla.oracle.difference import Difference, differences
from krafla.refinement.common.judgement import SpecAction
from krafla.refinement.common.spec_run import RefusalError, SpecRun
from krafla.refinement.raft.replica import Disk, Row
from krafla.refinement.raft.terms import Message, Term
from krafla.testing import Explanation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from krafla.refinement.common.spec_run import Action
    from krafla.refinement.raft.names import Naming
    from krafla.refinement.raft.network import Exchanges
    from krafla.refinement.raft.terms import Terms
    from krafla.testing import Spec
    from kraft.ids import OffsetAndEpoch

__all__ = ["RaftSpecRun"]

_LOG = ("log", "log_start", "flushed")
# The spec leaves open whether the new leader has moved.
_OPEN = frozenset({"BecomeLeader", "BecomeSoleLeader", "LosePreVote"})


class RaftSpecRun(SpecRun):
    """KRaftSteps in its current state, kept as TLC's state and as a column for each variable."""

    def __init__(self, spec: Spec, terms: Terms, naming: Naming) -> None:
        super().__init__(spec)
        self.terms = terms
        self.naming = naming
        self.names = terms.replicas
        self.index = {name: index for index, name in enumerate(self.names)}
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
        declared = spec.empty_state.getVars()
        self._variables = {str(one.getName().toString()): one.getName() for one in declared}

    def run(self, actions: Sequence[Action]) -> list[list[Any]]:
        """Return every way to take some actions: the current state, then the state after each.

        There are several ways if an action leaves something open (`_OPEN`). RefusalError if an
        action is not enabled.
        """
        ways = [[self.state]]
        for action in actions:
            longer = [[*way, after] for way in ways for after in self._all_after(action, way[-1])]
            if not longer:
                raise RefusalError(action, ways[0][-1])
            ways = longer
        return ways

    def _all_after(self, action: Action, state: Any) -> list[Any]:
        if action.name in _OPEN:
            reached = self.successors(action, state)
            return [reached.elementAt(index) for index in range(reached.size())]
        # The states of any other action are equal: several disjuncts found the same one.
        after = self.successor(action, state)
        return [] if after is None else [after]

    def take(
        self, name: str, row: Row | None, has_new_log: bool, exchanges: Exchanges,
        actions: Sequence[Action],
    ) -> tuple[Any, Any, tuple[str, ...]]:  # fmt: skip
        """Take some actions, after which replica `name` has this row.

        Return the states before and after, and the variables that changed. RefusalError if the spec
        does not agree.
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
            if self.are_equal(expected, way[-1]):
                break
        else:
            wrong, way = min(
                ((self._differing(expected, way[-1]), way) for way in ways),
                key=lambda pair: len(pair[0]),
            )
            raise RefusalError(actions[-1], way[-2], wrong)
        if has_sent:
            changed.append("messages")
        before, self.state = self.state, expected
        if "high_watermark" in changed:
            changed.append("committed")
        return before, expected, tuple(changed)

    def spec_action(self, action: Action) -> SpecAction:
        """Return an action with its parameters as plain values."""
        to_python = self.spec.converter.to_python
        return SpecAction(
            action.name, tuple(to_python(self._java(one)) for one in action.parameters)
        )

    def explain_change(
        self, name: str, row: Row | None, has_new_log: bool, exchanges: Exchanges
    ) -> Explanation:
        """Return what changed in a step that is no action."""
        changed = self._enter(name, row, self.state, has_new_log)
        expected = self.state.copy()
        for variable in changed:
            value = self.terms.by_replica(self._columns[variable])
            expected.bind(self._variables[variable], value)
        if exchanges.has_changed:
            expected.bind(self._variables["messages"], exchanges.java())
        details: list[Difference] = []
        for variable, value in self._differing(expected, self.state).items():
            old = self.spec.converter.to_python(self.state.lookup(self._variables[variable]))
            details += differences(variable, old, value)
        return Explanation(
            f"replica {name} changed in a step that is no action", (), tuple(details)
        )

    def _enter(self, name: str, row: Row | None, reached: Any, has_new_log: bool) -> list[str]:
        """Enter a replica's values into the columns; return the variables that this changes."""
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
        """Note what a new snapshot holds: the spec's records before its end."""
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

    def _java(self, parameter: Any) -> Any:
        if isinstance(parameter, Message):
            return parameter.java
        return self.terms.plain(parameter) if isinstance(parameter, str | int) else parameter

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

    def _differing(self, expected: Any, reached: Any) -> dict[str, Any]:
        to_python = self.spec.converter.to_python
        return {
            name: to_python(expected.lookup(variable))
            for name, variable in self._variables.items()
            if not expected.lookup(variable).equals(reached.lookup(variable))
        }
