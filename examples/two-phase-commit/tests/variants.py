"""Two-phase commit with one mistake each, all of them old."""

from two_phase_commit import Coordinator, Outcome, Participant


class LazyCoordinator(Coordinator):
    """It writes its decision, and leaves it to a later flush to make that durable."""

    def _record(self, decision):
        self._disk.append(decision)


class HastyCoordinator(Coordinator):
    """It announces its decision, and writes it down afterwards."""

    def _decide(self, outcome):
        if self._decision == "none":
            self._decision = outcome.value
            self.announce()
            self._record(outcome.value)


class CountingCoordinator(Coordinator):
    """It counts votes, and counts a repeated one twice."""

    def on_vote(self, vote):
        """Count a vote; decide if there are enough, or at a no."""
        self._count = getattr(self, "_count", 0) + vote.is_yes
        if not vote.is_yes:
            self._decide(Outcome.ABORTED)
        elif self._count == len(self._participants):
            self._decide(Outcome.COMMITTED)
        self.announce()


class ImpatientParticipant(Participant):
    """It has promised, hears nothing, and aborts alone."""

    def vote(self):
        """Abort, as the answer is late."""
        if self._state == "prepared" and self._has_voted:
            self._record("aborted")
        self._has_voted = True
        super().vote()

    _has_voted = False


class LazyParticipant(Participant):
    """It promises before its promise is durable."""

    def _record(self, state):
        self._disk.append(state)
        if state != "prepared":
            self._disk.flush()
        self._state = state


class ForgetfulParticipant(Participant):
    """It shows its client an outcome before that is durable."""

    def _record(self, state):
        self._disk.append(state)
        if state == "prepared":
            self._disk.flush()
        self._state = state
