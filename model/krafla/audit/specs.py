"""The specs that an audit steps through; all histories share them."""

from __future__ import annotations

import sys
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Any, Final, cast

from krafla.values import ModelValue

if TYPE_CHECKING:
    from collections.abc import Mapping

    from krafla.testing import Spec, State
    from krafla.values import Value

LEASE: Final = "UntimedLease"
RAFT: Final = "RaftLog"
REGISTRATIONS: Final = "RegistrationLog"
PARTITIONS: Final = "PartitionLog"
GATE_LEVEL: Final = 15
"""The first metadata version with controller registrations, 3.7-IV0."""
_SLICE_SECONDS: Final = 0.2
# Loading asks Java for many small things, and after each takes Python back from the thread that
# reads the log. In Python's usual turns of 5 ms that takes longer than Java does.
_TURN_SECONDS: Final = 0.0005
# The turns are those of the whole process, so one thread at a time changes them.
_turns: Final = Lock()
_NOTHING: Final[frozenset[Any]] = frozenset()
_NIL: Final = ModelValue("Nil")
_ASCENDING: Final = (
    r"[k \in 1 .. Cardinality(set) |->"
    r" CHOOSE b \in set : Cardinality({other \in set : other < b}) = k - 1]"
)
"""InOrder for numeric broker ids: the brokers of a log are not known in advance."""


class LoadingSpec:
    """The specs, loaded by a thread while the log is being read; `get` waits for them.

    `brief` says that this process runs only one audit. Unless they are `needed`, the specs are
    loaded once they are asked for.
    """

    def __init__(self, *, brief: bool = False, needed: bool = True) -> None:
        self._brief = brief
        self._specs: dict[str, Spec] = {}
        self._unclean: Spec | None = None
        self._error: BaseException | None = None
        self.memory: dict[tuple[object, ...], str | None] = {}
        """PartitionLog's answers, kept for equal steps. Spec: PartitionLog!Next."""
        # Not `join`: Python takes a thread for ended once an interrupt has hit the wait for it, and
        # would end the process while that thread is in the JVM.
        self._is_loaded = {name: Event() for name in (PARTITIONS, LEASE, RAFT, REGISTRATIONS)}
        # No daemon: a process that ends while the JVM starts may hang or crash.
        self._thread = Thread(target=self._load, name="load the spec")
        if needed:
            self._thread.start()

    def get(self, name: str = LEASE) -> Spec:
        """Return a spec. Raises the KraflaError that its loading raised."""
        if self._thread.ident is None:
            self._thread.start()
        # In slices: Python hears a signal that comes just before a wait only after it.
        while not self._is_loaded[name].wait(_SLICE_SECONDS):
            pass
        if name not in self._specs:
            assert self._error is not None, "a spec that is not loaded has failed to load"
            raise self._error
        return self._specs[name]

    def partitions(self, *, unclean: bool) -> Spec:
        """Return PartitionLog with or without unclean elections.

        Few logs have unclean elections, so that spec is loaded on demand.
        """
        if not unclean:
            return self.get(PARTITIONS)
        if self._unclean is None:
            self.get(REGISTRATIONS)
            self._unclean = _partitions(unclean=True)
        return self._unclean

    def _load(self) -> None:
        with _turns:
            usual = sys.getswitchinterval()
            sys.setswitchinterval(min(usual, _TURN_SECONDS))
            try:
                self._load_all()
            finally:
                sys.setswitchinterval(usual)

    def _load_all(self) -> None:
        try:
            from krafla.oracle.jvm import start
            from krafla.testing import Spec

            start(brief=self._brief)
            no_brokers = {"Broker": _NOTHING, "Incarnation": _NOTHING}
            # In the order in which a history asks for them.
            self._put(PARTITIONS, _partitions(unclean=False))
            self._put(LEASE, Spec.load(LEASE, no_brokers))
            no_replicas = {"Node": _NOTHING, "Directory": _NOTHING, "Nil": _NIL}
            self._put(RAFT, Spec.load(RAFT, no_replicas))
            self._put(REGISTRATIONS, Spec.load(REGISTRATIONS, _any_controllers()))
        except BaseException as error:  # noqa: BLE001 - raised again by get, in the caller's thread
            self._error = error
        finally:
            for loaded in self._is_loaded.values():
                loaded.set()

    def _put(self, name: str, spec: Spec) -> None:
        self._specs[name] = spec
        self._is_loaded[name].set()


def state_in(spec: Spec, known: State | Mapping[str, Value] | None) -> State:
    """Return the state of a run: one that was saved is known by its values until it is used."""
    assert known is not None, "a run begins before its first step"
    return spec.state(known) if isinstance(known, dict) else cast("State", known)


def _any_controllers() -> Mapping[str, Any]:
    return {
        "Controller": _NOTHING,
        "Incarnation": _NOTHING,
        "ControllerOf": (),
        "Level": _NOTHING,
        "GateLevel": GATE_LEVEL,
        "Supported": (),
        "QuorumIds": _NOTHING,
        "Nil": _NIL,
    }


def _partitions(*, unclean: bool) -> Spec:
    from krafla.testing import Spec

    return Spec.load(
        PARTITIONS,
        {"Broker": _NOTHING, "BrokerOrder": (), "UncleanEnabled": unclean, "Nil": _NIL},
        expressions={"Ascending(set)": _ASCENDING},
        replacements={"InOrder": "Ascending"},
    )
