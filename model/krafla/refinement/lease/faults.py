"""Which actions of BrokerLease are faults: what a quiet cluster does without."""

from __future__ import annotations

from typing import Final

__all__ = ["FAULTS"]

# The actions, with what they are in a table of faults.
FAULTS: Final = {
    "LoseMessage": "message lost",
    "DuplicateMessage": "message repeated",
    "RequestTimeout": "request given up",
    "Crash": "process killed",
    "FailOver": "controller replaced",
    "UnregisterBroker": "registration removed",
}
