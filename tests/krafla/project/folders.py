"""A small spec of a lock, and projects of it, laid out in a folder."""

from __future__ import annotations

from textwrap import dedent

LOCK = r"""
---- MODULE Lock ----
EXTENDS Naturals, FiniteSets
CONSTANT Client
VARIABLES holder, waits

Init == holder = {} /\ waits = [c \in Client |-> FALSE]

\* A client asks for the lock.
Ask(c) == ~waits[c] /\ c \notin holder /\ waits' = [waits EXCEPT ![c] = TRUE] /\ UNCHANGED holder

\* A client that waits gets the lock, if it is free.
Acquire(c) ==
    /\ waits[c]
    /\ holder = {}
    /\ holder' = {c}
    /\ waits' = [waits EXCEPT ![c] = FALSE]

\* The holder gives the lock back.
Release(c) == c \in holder /\ holder' = holder \ {c} /\ UNCHANGED waits

Next == \E c \in Client : Ask(c) \/ Acquire(c) \/ Release(c)

Spec == Init /\ [][Next]_<<holder, waits>>

\* At most one client holds the lock.
OneHolder == Cardinality(holder) <= 1

\* The lock stays free, which is wrong.
StaysFree == holder = {}
====
"""
CONFIG = "SPECIFICATION Spec\nCONSTANT Client = {c1, c2}\nINVARIANT OneHolder\n"
# It binds the constant otherwise, as the Toolbox and VS Code do.
MODEL = """
---- MODULE {name} ----
EXTENDS Lock
const_clients == {{"a", "b"}}
====
"""
MODEL_CONFIG = "SPECIFICATION Spec\nCONSTANT Client <- const_clients\nINVARIANT OneHolder\n"


def lay_out(folder, **files):
    """Write ``Lock.tla`` and ``Lock.cfg`` into a new folder, and files by their names' stems."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "Lock.tla").write_text(LOCK)
    (folder / "Lock.cfg").write_text(CONFIG)
    for name, text in files.items():
        (folder / name.replace("_toml", ".toml")).write_text(dedent(text))
    return folder
