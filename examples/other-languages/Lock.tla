-------------------------------- MODULE Lock --------------------------------
(* A lock that one client holds at a time. Others wait in a queue, and get it in their order. *)
EXTENDS Naturals, Sequences

CONSTANTS Client, Free

VARIABLES holder, queue

Waiting == {queue[i] : i \in 1..Len(queue)}

TypeOK == holder \in Client \cup {Free} /\ queue \in Seq(Client)

Init == holder = Free /\ queue = <<>>

(* A client takes the lock, which is free. *)
Acquire(c) ==
  /\ holder = Free
  /\ holder' = c
  /\ UNCHANGED queue

(* A client asks for the lock, which another client holds. *)
Enqueue(c) ==
  /\ holder \notin {Free, c}
  /\ c \notin Waiting
  /\ queue' = Append(queue, c)
  /\ UNCHANGED holder

(* The holder gives the lock back, to the client that has waited longest. *)
Release(c) ==
  /\ holder = c
  /\ holder' = IF queue = <<>> THEN Free ELSE Head(queue)
  /\ queue' = IF queue = <<>> THEN <<>> ELSE Tail(queue)

Next == \E c \in Client : Acquire(c) \/ Enqueue(c) \/ Release(c)

Spec == Init /\ [][Next]_<<holder, queue>>

(* A client that holds the lock does not wait for it, too. *)
HolderDoesNotWaitInv == holder \notin Waiting
=============================================================================
