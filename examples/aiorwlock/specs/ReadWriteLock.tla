---------------------------- MODULE ReadWriteLock ----------------------------
(* The promise of aiorwlock 1.5.1. Sentences in quotes are from its README or *)
(* its docstrings, at the definition that says the same in TLA+.              *)
EXTENDS Naturals
CONSTANTS
  Task,
  NestingMax,  \* so often a task acquires the lock without giving it back: a bound
  Forgiving    \* TRUE: a reader may wait for readers, too, as it does in aiorwlock

VARIABLES
  reads,   \* how often each task holds the lock for reading
  writes,  \* and for writing
  asks     \* what each task waits for

vars == <<reads, writes, asks>>

Mode == {"read", "write"}
Others(t) == Task \ {t}
Holds(t) == reads[t] + writes[t] > 0

Init ==
  /\ reads = [t \in Task |-> 0]
  /\ writes = [t \in Task |-> 0]
  /\ asks = [t \in Task |-> "nothing"]

(* A task begins to acquire the lock. "Cannot upgrade RWLock from read to   *)
(* write": the text of the error that is raised otherwise.                  *)
Ask(t, mode) ==
  /\ asks[t] = "nothing"
  /\ reads[t] + writes[t] < NestingMax
  /\ mode = "write" /\ reads[t] > 0 => writes[t] > 0
  /\ asks' = [asks EXCEPT ![t] = mode]
  /\ UNCHANGED <<reads, writes>>

(* "The read lock may be held simultaneously by multiple reader tasks, so   *)
(* long as there are no writers."                                           *)
GrantRead(t) ==
  /\ asks[t] = "read"
  /\ \A u \in Others(t) : writes[u] = 0
  /\ asks' = [asks EXCEPT ![t] = "nothing"]
  /\ reads' = [reads EXCEPT ![t] = @ + 1]
  /\ UNCHANGED writes

(* "The write lock is exclusive."                                           *)
GrantWrite(t) ==
  /\ asks[t] = "write"
  /\ \A u \in Others(t) : ~Holds(u)
  /\ asks' = [asks EXCEPT ![t] = "nothing"]
  /\ writes' = [writes EXCEPT ![t] = @ + 1]
  /\ UNCHANGED reads

(* A task that waits is cancelled: it asks no more, and holds what it held. *)
Cancel(t) ==
  /\ asks[t] # "nothing"
  /\ asks' = [asks EXCEPT ![t] = "nothing"]
  /\ UNCHANGED <<reads, writes>>

(* "A task that acquires the lock should be used for releasing it. Locking  *)
(* from one task and releasing from another one generates RuntimeError."    *)
ReleaseRead(t) ==
  /\ asks[t] = "nothing"
  /\ reads[t] > 0
  /\ reads' = [reads EXCEPT ![t] = @ - 1]
  /\ UNCHANGED <<writes, asks>>

ReleaseWrite(t) ==
  /\ asks[t] = "nothing"
  /\ writes[t] > 0
  /\ writes' = [writes EXCEPT ![t] = @ - 1]
  /\ UNCHANGED <<reads, asks>>

(* The tasks that a reader may wait for: writers, at work or waiting as it   *)
(* does.                                                                    *)
AheadOfReader(t) ==
  {u \in Others(t) : writes[u] > 0 \/ asks[u] = "write" \/ (Forgiving /\ Holds(u))}

(* A writer may wait until no other task holds the lock.                    *)
AheadOfWriter(t) == {u \in Others(t) : Holds(u)}

(* A task that asks again for the lock that it holds would wait for itself. *)
ReaderMayWait(t) == ~Holds(t) /\ AheadOfReader(t) # {}
WriterMayWait(t) == AheadOfWriter(t) # {}

(* The event loop has run until nothing more happens, and the lock says of  *)
(* itself whether it is held. No task waits without a reason.               *)
Rest(readers, writers) ==
  /\ readers = (\E t \in Task : reads[t] > 0)
  /\ writers = (\E t \in Task : writes[t] > 0)
  /\ \A t \in Task : asks[t] = "read" => ReaderMayWait(t)
  /\ \A t \in Task : asks[t] = "write" => WriterMayWait(t)
  /\ UNCHANGED vars

Next ==
  \/ \E t \in Task :
       \/ \E mode \in Mode : Ask(t, mode)
       \/ GrantRead(t) \/ GrantWrite(t) \/ Cancel(t) \/ ReleaseRead(t) \/ ReleaseWrite(t)
  \/ \E readers, writers \in BOOLEAN : Rest(readers, writers)

Spec == Init /\ [][Next]_vars

------------------------------------------------------------------------------
TypeInv ==
  /\ reads \in [Task -> 0..NestingMax]
  /\ writes \in [Task -> 0..NestingMax]
  /\ asks \in [Task -> Mode \union {"nothing"}]

(* While a task writes, no other task holds the lock.                       *)
ExclusiveInv == \A t \in Task : writes[t] > 0 => \A u \in Others(t) : ~Holds(u)

(* A task that waits without a reason can be granted what it asks for.      *)
WaitingEndsInv ==
  \A t \in Task :
    /\ asks[t] = "read" /\ ~ReaderMayWait(t) => ENABLED GrantRead(t)
    /\ asks[t] = "write" /\ ~WriterMayWait(t) => ENABLED GrantWrite(t)

(* What a task holds, and what it would hold if it got what it asks for.    *)
Held(t) == <<reads[t], writes[t]>>
Granted(t) ==
  CASE asks[t] = "read" -> <<reads[t] + 1, writes[t]>>
    [] asks[t] = "write" -> <<reads[t], writes[t] + 1>>
    [] OTHER -> Held(t)

(* A step is one task's. It gives back once, or asks, or asks no more: then *)
(* it gets what it asked for, or holds what it held.                        *)
OneTaskProp ==
  [][\E t \in Task :
       /\ \A u \in Others(t) : asks'[u] = asks[u] /\ Held(u)' = Held(u)
       /\ IF asks'[t] = asks[t]
            THEN Held(t) \in {<<reads'[t] + 1, writes'[t]>>, <<reads'[t], writes'[t] + 1>>}
            ELSE Held(t)' \in {Held(t), Granted(t)}]_vars
==============================================================================
