---------------------------- MODULE OwnershipMove ----------------------------
(***************************************************************************)
(* A set of replicas moves, and the committed data moves with it: every    *)
(* replica that is in sync has all of it, throughout. There are no epochs, *)
(* no leaders and no requests here: only who owns the data, who is in      *)
(* sync, and how much each holds. ReplicatedPartition refines this module  *)
(* (MCReplicatedPartitionRefinement), as long as no election is unclean.   *)
(*                                                                         *)
(* Sources: KIP-455; KIP-966 for what being in sync means.                 *)
(*                                                                         *)
(* What is not modelled                                                    *)
(*  - Everything that is not committed.                                    *)
(*  - Unclean elections, and a topic that is deleted.                      *)
(*  - How a replica comes by the data: what it holds, it holds.            *)
(***************************************************************************)
EXTENDS Integers, FiniteSets

CONSTANT Node   \* Whoever can own the data.

VARIABLES
  owners,     \* The replicas.
  arriving,   \* Those of them that a move brings in, and a cancelled move takes back.
  leaving,    \* Those of them that a move takes out in the end.
  in_sync,    \* Those of them that may be asked to lead.
  committed,  \* How many records are committed.
  holds       \* [Node -> Nat]: how many of the committed records each holds.

vars == <<owners, arriving, leaving, in_sync, committed, holds>>

TypeOK ==
  /\ owners \subseteq Node
  /\ arriving \subseteq owners
  /\ leaving \subseteq owners
  /\ in_sync \subseteq owners
  /\ committed \in Nat
  /\ holds \in [Node -> 0 .. committed]

(* Who is in sync holds all that is committed, and somebody is.              *)
InSyncHoldsAll ==
  /\ in_sync # {}
  /\ \A n \in in_sync : holds[n] = committed

Init ==
  /\ owners \in SUBSET Node \ {{}}
  /\ arriving = {}
  /\ leaving = {}
  /\ in_sync \in SUBSET owners \ {{}}
  /\ committed = 0
  /\ holds = [n \in Node |-> 0]

data == <<committed, holds>>

(***************************************************************************)
(* A record is committed when everybody who is in sync has it. Others may  *)
(* have it too.                                                            *)
(***************************************************************************)
Commit ==
  /\ committed' > committed
  /\ \A n \in Node : holds'[n] = holds[n] \/ (holds[n] = committed /\ holds'[n] <= committed')
  /\ \A n \in in_sync : holds'[n] = committed'
  /\ UNCHANGED <<owners, arriving, leaving, in_sync>>

(***************************************************************************)
(* Somebody comes to hold more; or less, if it is not in sync.             *)
(***************************************************************************)
Copy(n) ==
  /\ n \notin in_sync
  /\ holds' = [holds EXCEPT ![n] = holds'[n]]
  /\ holds'[n] \in 0 .. committed
  /\ holds' # holds
  /\ UNCHANGED <<owners, arriving, leaving, in_sync, committed>>

(***************************************************************************)
(* Owners get in sync that hold all there is; others get out of it.        *)
(***************************************************************************)
ChangeInSync ==
  /\ in_sync' \subseteq owners
  /\ in_sync' # in_sync
  /\ UNCHANGED <<owners, arriving, leaving, data>>

(***************************************************************************)
(* A move begins, or gets another goal. Nobody is dropped by that.         *)
(***************************************************************************)
BeginMove ==
  /\ owners \subseteq owners'
  /\ arriving' \subseteq owners'
  /\ leaving' \subseteq owners'
  /\ arriving' \cup leaving' # {}
  /\ owners' \ arriving' # {}
  /\ owners' \ leaving' # {}
  /\ UNCHANGED <<in_sync, data>>

(***************************************************************************)
(* A move ends: who leaves is dropped, and everybody who stays is in sync. *)
(* It may end in the step in which it got its goal, so who leaves need not *)
(* have been known before; and in the step in which the last one got in    *)
(* sync.                                                                   *)
(***************************************************************************)
EndMove ==
  /\ owners' \subseteq owners
  /\ in_sync' = owners'
  /\ arriving' = {}
  /\ leaving' = {}
  /\ UNCHANGED data

(***************************************************************************)
(* A move is taken back: who arrived is dropped, everybody else stays,     *)
(* whether in sync or not; and somebody of them is.                        *)
(***************************************************************************)
CancelMove ==
  /\ arriving \cup leaving # {}
  /\ owners' = owners \ arriving
  /\ in_sync' = in_sync \ arriving
  /\ arriving' = {}
  /\ leaving' = {}
  /\ UNCHANGED data

(* Each of these keeps the promise, so each is only a step if it does.       *)
Step ==
  \/ Commit
  \/ \E n \in Node : Copy(n)
  \/ ChangeInSync
  \/ BeginMove
  \/ EndMove
  \/ CancelMove

Next == Step /\ InSyncHoldsAll'

Spec == Init /\ [][Next]_vars
==============================================================================
