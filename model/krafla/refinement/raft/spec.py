"""KRaftSteps loaded for a quorum, with operators replaced to make long logs fast."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from krafla.refinement.common.loading import load_generated
from krafla.values import fmt, function

if TYPE_CHECKING:
    from pathlib import Path

    from krafla.oracle import Spec
    from krafla.refinement.raft.vocabulary import Quorum, Vocabulary

__all__ = ["VERSION_VALUE", "load_raft"]

MODULE: Final = "KRaftSteps"
VERSION_VALUE: Final = "kraft.version"
_ROOT: Final = "KRaftLockstep"

_TEXT: Final = """---- MODULE KRaftLockstep ----
EXTENDS KRaftSteps, KRaftProperties
TheReplicas == {replicas}
TheVoters == {voters}
TheNodes == {nodes}
AnyValue == STRING
StaticVoters(records) == TheVoters
Anybody(r) == TRUE
AnybodyElse(r) == Replica \\ {{r}}
Joined(one, other) == one \\o other
Piece(one, from, to) == SubSeq(one, from, to)
====
"""
_SETTINGS: Final = """CONSTANTS
  Nil = Nil
  Replica <- TheReplicas
  InitialVoters <- TheVoters
  NodeOf <- TheNodes
  Value <- AnyValue
  VersionValue = "kraft.version"
  VotersOf <- {voters_of}
  Reorder = TRUE
  BootstrapServers <- AnybodyElse
  EndOffsetForEpoch <- FoundEndOffsetForEpoch
  EpochStart <- FoundEpochStart
  Restarts <- StartsAgain
  MayHaveMoved <- Anybody
{lead}INIT Init
NEXT StepsNext
CHECK_DEADLOCK FALSE
"""


def load_raft(vocabulary: Vocabulary, path: Path | None = None) -> Spec:
    """Return KRaftSteps with the constants of a vocabulary, loaded once for equal constants.

    `path` is the folder of another copy of the spec.
    """
    quorum: Quorum = vocabulary.quorum
    names = quorum.names()
    voters = frozenset(vocabulary.name(key) for key in quorum.first_voters)
    nodes = function((name, int(node)) for name, node in names)
    text = _TEXT.format(
        replicas=fmt(frozenset(vocabulary.names)), voters=fmt(voters), nodes=fmt(nodes)
    )
    settings = _SETTINGS.format(
        voters_of="LatestVoters" if quorum.is_dynamic else "StaticVoters",
        lead="  Lead <- LeadWithVoters\n  VotersKnownTo <- VotersInLog\n"
        if quorum.is_dynamic
        else "",
    )
    return _load(text, settings, path)


@lru_cache(maxsize=8)
def _load(text: str, settings: str, path: Path | None) -> Spec:
    return load_generated(_ROOT, text, settings, MODULE, path, shares_classes=True)
