------------------------------- MODULE Desk -------------------------------
(* An action with two disjuncts, of which one is an operator with a name. *)
EXTENDS Sequences

CONSTANTS Client, Nobody

VARIABLES holder, queue

Init == holder = Nobody /\ queue = <<>>

Ask(c) ==
    /\ c # holder
    /\ IF holder = Nobody THEN holder' = c /\ UNCHANGED queue
                          ELSE queue' = Append(queue, c) /\ UNCHANGED holder

PassOn(c) == holder = c /\ queue # <<>> /\ holder' = Head(queue) /\ queue' = Tail(queue)

Release(c) ==
    \/ PassOn(c)
    \/ holder = c /\ queue = <<>> /\ holder' = Nobody /\ UNCHANGED queue

Next == \E c \in Client : Ask(c) \/ Release(c)
=============================================================================
