"""The sentences of Raft's properties that no spec states; the others have theirs in the spec.

`docs/internals/raft-fuzzing.md` says the same.
"""

from __future__ import annotations

from typing import Final

__all__ = ["SENTENCES"]

_ROWS: Final = (
    ("FlushedSurvivesInv AlwaysRestartsInv",
     "A start finds what was flushed, and accepts every disk that its own replica wrote."),
    ("ListenerInOrderInv ListenerLeaderProp",
     "The state machine hears commits in order without a gap, and of its leadership only once "
     "caught up."),
    ("AcknowledgedStaysProp", "A value acknowledged to a client is committed at the end."),
    ("CheckQuorumProp", "A leader resigns if no majority fetches from it."),
    ("HeardLeaderStaysProp",
     "A replica that hears the leader, or is it, rejects pre-votes (KIP-996)."),
    ("OwnVoteProp",
     "A replica grants no vote or pre-vote that names another replica id or directory id "
     "(KIP-853)."),
    ("OldAnswerProp", "An answer of a past epoch is ignored, but for freeing its connection."),
    ("ChangeAnsweredProp", "Requests to change voters are answered, even by a deposed leader."),
    ("StableLeadershipProp",
     "Without faults, no replica takes over from a leader that it followed; a sole voter steps "
     "down only on request."),
    ("DueFirstProp", "A process takes a message only if its replica has nothing due."),
    ("SentInOrderProp",
     "A process sends exactly the messages of the effects that it has performed, in their order."),
    ("ProgressProp", "The healed core makes progress."),
    ("HandlersReturnInv", "No handler raises an error."),
)  # fmt: skip
SENTENCES: Final = {name: sentence for names, sentence in _ROWS for name in names.split()} | {
    "NoIllegalStateInv": "A replica ends its process only if its node had two disks, or a bad one.",
    "KRaftSteps": "Every step of a replica is a step of KRaftSteps.tla.",
}
"""Each property that a violation can name, with its sentence, unless a spec states it."""
