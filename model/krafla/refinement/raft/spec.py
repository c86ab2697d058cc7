"""KRaftSteps loaded for a quorum, with operators replaced to make long logs fast."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from krafla.refinement.common.loading import load_generated
from krafla.values import fmt, function

if TYPE_CHECKING:
    from pathlib import Path

    from krafla.refinement.raft.vocabulary import Quorum, Vocabulary
    from krafla.testing import Spec

__all__ = ["VERSION_VALUE", "load_raft"]

MODULE: Final = "KRaftSteps"
VERSION_VALUE: Final = "kraft.version"
_ROOT: Final = "KRaftLockstep"

_TEXT: Final = """---- MODULE KRaftLockstep ----
EXTENDS {modules}
TheReplicas == {replicas}
TheVoters == {voters}
TheNodes == {nodes}
TheBrokers == {brokers}
IsNoBroker(r) == r \\notin TheBrokers
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
  VotersOffset <- FoundVotersOffset
  UpdateHighWatermark <- UpdateHighWatermarkOnce
  MayHaveMoved <- Anybody
  AlwaysFlushes <- IsNoBroker
{more}INIT Init
NEXT StepsNext
CHECK_DEADLOCK FALSE
"""
_OF_DYNAMIC_VOTERS: Final = """  Lead <- LeadWithVoters
  VotersKnownTo <- VotersInLog
"""
_OF_PROPERTIES: Final = """  Restarts <- StartsAgain
"""
# Most runs need one of their own; the others are shrunk again and again.
_LOADED: Final = 4


def load_raft(
    vocabulary: Vocabulary, path: Path | None = None, *, with_properties: bool = False
) -> Spec:
    """Return KRaftSteps with the constants of a vocabulary, loaded once for equal constants.

    `path` is the folder of another copy of the spec. With properties KRaftProperties is loaded,
    too, which takes longer.
    """
    quorum: Quorum = vocabulary.quorum
    names = quorum.names()
    voters = frozenset(vocabulary.name(key) for key in quorum.first_voters)
    nodes = function((name, int(node)) for name, node in names)
    text = _TEXT.format(
        modules=f"{MODULE}, KRaftProperties" if with_properties else MODULE,
        replicas=fmt(frozenset(vocabulary.names)),
        voters=fmt(voters),
        nodes=fmt(nodes),
        brokers=fmt(frozenset(name for name, node in names if node in quorum.brokers)),
    )
    settings = _SETTINGS.format(
        voters_of="LatestVoters" if quorum.is_dynamic else "StaticVoters",
        more=(_OF_DYNAMIC_VOTERS if quorum.is_dynamic else "")
        + (_OF_PROPERTIES if with_properties else ""),
    )
    return _load(text, settings, path)


@lru_cache(maxsize=_LOADED)
def _load(text: str, settings: str, path: Path | None) -> Spec:
    return load_generated(_ROOT, text, settings, MODULE, path, shares_classes=True)
