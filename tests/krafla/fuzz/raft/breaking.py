"""The registry of histories that break a property, by the property's name."""

from __future__ import annotations

HISTORIES = {}


def breaks(name):
    """Register the decorated history as one that breaks this property; there may be several."""

    def note(history):
        assert history.__name__ not in HISTORIES, "two histories have one name"
        HISTORIES[history.__name__] = (name, history)
        return history

    return note
