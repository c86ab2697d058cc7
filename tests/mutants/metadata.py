"""Seeded bugs of a quorum controller, each with what must notice it."""

from __future__ import annotations

from typing import Any

from tests.mutants import metadata_bugs as bugs
from tests.mutants.mutant import Mutant

_QUORUM = "kraft.controller"
_MACHINE = f"{_QUORUM}.machine"
_WRITE_PATH = f"{_QUORUM}.write_path"


def _renounce(function: Any) -> dict[str, Any]:
    return {f"{_MACHINE}.renounce": function, f"{_WRITE_PATH}.renounce": function}


_COMMIT = f"{_MACHINE}.handle_commit"
_REPLAY = f"{_MACHINE}.replay_committed"
_STEPS_BACK = ("Renounce", "RefuseAppend")

MUTANTS = (
    Mutant(
        "Raft is not made to resign", "KAFKA-13104",
        _renounce(bugs.renounces_without_resigning),
        _STEPS_BACK, "leader_epoch", breaks="RenounceRevertsProp", profile="failovers",
    ),
    Mutant(
        "the future is kept", "QuorumController.renounce",
        _renounce(bugs.renounces_and_keeps_the_future),
        _STEPS_BACK, "write_end", breaks="RenounceRevertsProp", profile="failovers",
    ),
    Mutant(
        "who waits is left waiting", "QuorumController.renounce",
        _renounce(bugs.renounces_and_leaves_who_waits),
        _STEPS_BACK, "deferred", breaks="DeferredWaitsInv", profile="failovers",
    ),
    Mutant(
        "a controller forgets the transaction it is in", "OffsetControlManager.deactivate",
        _renounce(bugs.renounces_to_what_is_stable),
        _STEPS_BACK, "written", breaks="StandbyCommittedOnlyInv", profile="transactions",
    ),
    Mutant(
        "only the newest batch can be gone back to", "KAFKA-13114",
        {f"{_WRITE_PATH}.append": bugs.remembers_the_last_batch_only},
        ("HandleWrite", "BeginTransaction", "EndTransaction"), "timeline", profile="failovers",
    ),
    Mutant(
        "what is committed is replayed once more", "QuorumController.handleCommit",
        {_COMMIT: bugs.replays_its_own_again},
        ("HandleCommit",), "written", breaks="WrittenIsReplayOfLogInv", profile="failovers",
    ),
    Mutant(
        "answered when it is appended", "KIP-631",
        {f"{_WRITE_PATH}.answer": bugs.answers_at_once},
        ("HandleWrite",), "answers", breaks="ReplyOnlyAfterCommitInv", profile="failovers",
    ),
    Mutant(
        "what writes nothing is answered at once", "DeferredEventQueue.highestPendingOffset",
        {f"{_WRITE_PATH}.answer": bugs.answers_what_wrote_nothing_at_once},
        ("AnswerUnchanged",), conjunct="stable_end[c] = write_end[c]", profile="failovers",
    ),
    Mutant(
        "a commit answers all who wait", "DeferredEventQueue.completeUpTo",
        {_COMMIT: bugs.answers_all_with_the_first},
        ("HandleCommit",), "answers", profile="failovers",
    ),
    Mutant(
        "the last is answered first", "DeferredEventQueue.completeUpTo",
        {_COMMIT: bugs.answers_the_last_first},
        ("HandleCommit",), "answers", breaks="AnsweredInOrderProp", profile="transactions",
    ),
    Mutant(
        "answered in a transaction", "KIP-868",
        {_COMMIT: bugs.answers_what_is_committed},
        ("HandleCommit",), "answers", breaks="ReplyOnlyAfterCommitInv", profile="transactions",
    ),
    Mutant(
        "half of a transaction is shown", "KIP-868",
        {f"{_QUORUM}.commit_path.stable_end_of": bugs.shows_what_is_committed},
        ("HandleCommit", "ReplayCommitted"), "stable_end", profile="transactions",
    ),
    Mutant(
        "a standby passes over a record", "KAFKA-14275",
        {_REPLAY: bugs.skips_what_it_does_not_like},
        ("ReplayCommitted",), "written", breaks="StandbyCommittedOnlyInv", profile="failovers",
    ),
    Mutant(
        "control records move what is stable to where no state is", "KAFKA-17608",
        {_REPLAY: bugs.moves_over_control_records_without_a_state},
        ("ReplayCommitted",), "timeline", profile="failovers",
    ),
    Mutant(
        "a snapshot is loaded over what there is", "KAFKA-14894",
        {f"{_MACHINE}.load_snapshot": bugs.loads_a_snapshot_over_what_there_is},
        ("LoadSnapshot",), "written", breaks="SameOffsetSameImageInv", profile="snapshots",
    ),
    Mutant(
        "a snapshot is loaded and its end forgotten", "OffsetControlManager.endLoadSnapshot",
        {f"{_MACHINE}.load_snapshot": bugs.loads_a_snapshot_and_forgets_its_end},
        ("LoadSnapshot", "Restart"), "committed_end", profile="snapshots",
    ),
    Mutant(
        "a snapshot ends at its last offset", "KAFKA-14618",
        {f"{_MACHINE}.create_snapshot": bugs.ends_its_snapshot_at_the_last_offset},
        ("CreateSnapshot",), "snapshot", profile="snapshots",
    ),
    Mutant(
        "a snapshot is of the newest", "KIP-630",
        {f"{_MACHINE}.create_snapshot": bugs.cuts_its_snapshot_of_the_newest},
        ("CreateSnapshot",), "snapshot", breaks="SnapshotIsStableInv", profile="controllers",
    ),
    Mutant(
        "a snapshot is cut in a transaction", "KAFKA-17713",
        {f"{_MACHINE}.create_snapshot": bugs.cuts_its_snapshot_where_the_newest_ends},
        ("CreateSnapshot",), breaks="SnapshotIsStableInv", profile="controllers",
    ),
    Mutant(
        "a batch is appended in another epoch", "RaftClient.prepareAppend",
        {f"{_WRITE_PATH}.append": bugs.appends_in_the_epoch_of_raft},
        ("RefuseAppend",), conjunct="MayAppend", profile="failovers",
    ),
    Mutant(
        "a new leader ends the transaction", "KIP-868",
        {f"{_QUORUM}.activation.activation_records": bugs.ends_the_transaction_it_finds},
        ("ClaimWithOpenTransaction",), "written", breaks="OpenTransactionAbortedProp",
        profile="transactions",
    ),
    Mutant(
        "a new leader does not look for a transaction", "KIP-868",
        {f"{_QUORUM}.activation.activation_records": bugs.does_not_look_for_a_transaction},
        ("ClaimWithOpenTransaction",), "written", breaks="OpenTransactionAbortedProp",
        profile="transactions",
    ),
    Mutant(
        "what was aborted is shown", "MetadataBatchLoader",
        {f"{_QUORUM}.memory._marked": bugs.marks_an_abort_as_an_end},
        ("ClaimWithOpenTransaction",), "written", breaks="OpenTransactionAbortedProp",
        profile="transactions",
    ),
    Mutant(
        "a write is checked against what is stable", "KIP-631",
        {f"{_WRITE_PATH}.generate": bugs.reads_what_is_stable},
        ("HandleWrite", "DelayUnchanged"), profile="failovers",
    ),
)  # fmt: skip
