-------------------------------- MODULE Lock --------------------------------
(* A lock server. One client holds the lock; the others wait in a queue.    *)
EXTENDS Naturals, Sequences
CONSTANTS Client, Nobody
VARIABLES holder, queue

Waiting == {queue[i] : i \in 1..Len(queue)}

(* The lock goes to the first in the queue, or to nobody.                   *)
PassOn ==
  IF queue = <<>> THEN holder' = Nobody /\ UNCHANGED queue
                  ELSE holder' = Head(queue) /\ queue' = Tail(queue)

Init == holder = Nobody /\ queue = <<>>

(* A client asks for the lock, and gets it or waits.                        *)
Acquire(c) ==
  /\ holder # c
  /\ c \notin Waiting
  /\ IF holder = Nobody THEN holder' = c /\ UNCHANGED queue
                        ELSE queue' = Append(queue, c) /\ UNCHANGED holder

(* The holder gives the lock back.                                          *)
Release(c) == holder = c /\ PassOn

(* A client is gone: it neither holds the lock nor waits for it any more.   *)
Leave(c) ==
  IF holder = c THEN PassOn
  ELSE queue' = SelectSeq(queue, LAMBDA other : other # c) /\ UNCHANGED holder

Next == \E c \in Client : Acquire(c) \/ Release(c) \/ Leave(c)
Spec == Init /\ [][Next]_<<holder, queue>>

(* A client that holds the lock does not wait for it.                       *)
HolderDoesNotWaitInv == holder \notin Waiting
(* A client waits only once.                                                *)
NoDoubleWaitInv == \A i, j \in 1..Len(queue) : queue[i] = queue[j] => i = j
(* While the lock is free, no client waits.                                 *)
FreeLockHasNoQueueInv == holder = Nobody => queue = <<>>
=============================================================================
