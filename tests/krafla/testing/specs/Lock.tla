------------------------------- MODULE Lock -------------------------------
(* A lock server: one client at a time holds the lock, and the others wait in a queue. *)
EXTENDS Naturals, Sequences

CONSTANTS Client, Nobody

VARIABLES holder, queue

vars == <<holder, queue>>

Waiting == {queue[i] : i \in DOMAIN queue}

Init == holder = Nobody /\ queue = <<>>

(* A client asks for the lock: it gets a free lock, or a place at the end of the queue. *)
Acquire(c) ==
    /\ holder # c
    /\ c \notin Waiting
    /\ IF holder = Nobody
       THEN holder' = c /\ UNCHANGED queue
       ELSE queue' = Append(queue, c) /\ UNCHANGED holder

(* The holder gives the lock back, and the first client that waits gets it. *)
Release(c) ==
    /\ holder = c
    /\ IF queue = <<>>
       THEN holder' = Nobody /\ UNCHANGED queue
       ELSE holder' = Head(queue) /\ queue' = Tail(queue)

Next == \E c \in Client : Acquire(c) \/ Release(c)

Spec == Init /\ [][Next]_vars

(* The holder does not wait for the lock that it has. *)
HolderInv == holder \notin Waiting

(* No client overtakes another: the lock goes to the head of the queue. *)
InTurnProp == [][holder' # holder /\ queue # <<>> => holder' = Head(queue)]_vars

(* At most one client waits. Not so: a test asks for it. *)
ShortInv == Len(queue) < 2

(* The lock is never free. Not so from the beginning: a test asks for it. *)
BusyInv == holder # Nobody

(* The lock is never free again. Not so: a test asks for it. *)
HeldProp == [][holder' # Nobody]_vars
=============================================================================
