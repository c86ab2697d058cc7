---- MODULE Lock ----
(* A server lends one lock to its clients, in the order in which they ask. *)
EXTENDS Sequences

CONSTANTS Client, Nobody

VARIABLES holder, queue

vars == <<holder, queue>>

Waits(c) == \E i \in DOMAIN queue : queue[i] = c

Init ==
    /\ holder = Nobody
    /\ queue = <<>>

(* A client that neither holds the lock nor waits asks for it. *)
Ask(c) ==
    /\ holder # c
    /\ ~Waits(c)
    /\ queue' = Append(queue, c)
    /\ UNCHANGED holder

(* The first client in the queue gets the lock, if it is free. *)
Grant ==
    /\ holder = Nobody
    /\ queue # <<>>
    /\ holder' = Head(queue)
    /\ queue' = Tail(queue)

(* The holder gives the lock back. *)
Release(c) ==
    /\ holder = c
    /\ holder' = Nobody
    /\ UNCHANGED queue

Next ==
    \/ \E c \in Client : Ask(c)
    \/ Grant
    \/ \E c \in Client : Release(c)

Spec == Init /\ [][Next]_vars

TypeOK ==
    /\ holder \in Client \cup {Nobody}
    /\ \A i \in DOMAIN queue : queue[i] \in Client

(* The holder of the lock does not wait for it. *)
HolderDoesNotWait == ~Waits(holder)

(* A client that asks waits, even if others wait already. *)
AskerWaits == \A c \in Client : ~ENABLED (Ask(c) /\ ~Waits(c)')

(* The holder can free the lock, and no other client can. *)
OnlyHolderReleases ==
    \A c \in Client : ENABLED (Release(c) /\ holder' = Nobody) <=> holder = c

(* A free lock goes to the client that has waited longest; a held lock is only given back. *)
InTurn ==
    [][holder' # holder =>
        IF holder = Nobody THEN holder' = Head(queue) ELSE holder' = Nobody /\ queue' = queue]_vars

(* The queue grows only at its end; the first client leaves it only with the lock. *)
InOrder ==
    [][\/ \E c \in Client : queue' = Append(queue, c)
       \/ queue = <<holder'>> \o queue']_queue
====
