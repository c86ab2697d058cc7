"""Where the histories that break a property are noted, with the name of that property."""

from __future__ import annotations

HISTORIES = {}


def breaks(name):
    """The decorated history breaks this property; several histories may break one."""

    def note(history):
        assert history.__name__ not in HISTORIES, "two histories have one name"
        HISTORIES[history.__name__] = (name, history)
        return history

    return note
