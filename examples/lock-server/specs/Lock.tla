-------------------------------- MODULE Lock --------------------------------
(* A lock server. One client holds the lock; the others wait in a queue.    *)
EXTENDS Naturals, Sequences, FiniteSets
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

(* The clients that have the lock or wait for it.                           *)
Present == Waiting \union ({holder} \ {Nobody})

(* A client waits only once, and not for the lock that it holds.            *)
OnePlaceInv == Len(queue) = Cardinality(Waiting \ {holder})
(* While the lock is free, no client waits.                                 *)
FreeLockHasNoQueueInv == holder = Nobody => queue = <<>>
(* Only the holder can give the lock back.                                  *)
OnlyHolderReleasesInv == \A c \in Client : ENABLED Release(c) => holder = c
(* The client of a step comes, or it goes; no other client does.            *)
OnlyOneMovesInv ==
  \A c \in Client :
    /\ ~ENABLED (Acquire(c) /\ Present' # Present \union {c})
    /\ ~ENABLED ((Release(c) \/ Leave(c)) /\ Present' # Present \ {c})
(* The lock goes from its holder to the first in the queue, or to nobody.   *)
InTurnProp ==
  [][holder = Nobody \/ holder' = IF queue = <<>> THEN Nobody ELSE Head(queue)]_holder
(* The queue grows only at its end, and loses one client at a time.         *)
InOrderProp ==
  [][\E c \in Client : queue' \in {Append(queue, c), SelectSeq(queue, LAMBDA d : d # c)}]_queue
=============================================================================
