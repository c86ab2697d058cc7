"""Two-phase commit of one transaction, by processes that crash and recover from their logs."""

from two_phase_commit.coordinator import Coordinator
from two_phase_commit.disk import Disk
from two_phase_commit.messages import Decision, Outcome, Vote
from two_phase_commit.participant import Participant

__all__ = ["Coordinator", "Decision", "Disk", "Outcome", "Participant", "Vote"]
