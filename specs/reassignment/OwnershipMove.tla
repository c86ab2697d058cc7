---------------------------- MODULE OwnershipMove ----------------------------
(***************************************************************************)
(* A set of replicas moves, and the committed data moves with it. Every    *)
(* replica in sync has all of that data, throughout. There are no epochs,  *)
(* leaders or requests here: only the owners of the data, the replicas in  *)
(* sync, and how much each holds. ReplicatedPartition refines this module  *)
(* (MCReplicatedPartitionRefinement), as long as no election is unclean.   *)
(*                                                                         *)
(* Sources: KIP-455; KIP-966 for what being in sync means.                 *)
(*                                                                         *)
(* What is not modelled                                                    *)
(*  - Everything that is not committed.                                    *)
(*  - Unclean elections, and a topic that is deleted.                      *)
(*  - How a replica gets the data.                                         *)
(***************************************************************************)
EXTENDS Integers, FiniteSets

CONSTANT Node   \* The nodes that can own the data.

VARIABLES
  owners,     \* The replicas.
  arriving,   \* The owners that a move adds, and a cancelled move drops again.
  leaving,    \* The owners that a move drops when it ends.
  in_sync,    \* The owners that may be asked to lead.
  committed,  \* The number of committed records.
  holds       \* [Node -> Nat]: the number of committed records each holds.

vars == <<owners, arriving, leaving, in_sync, committed, holds>>

TypeOK ==
  /\ owners \subseteq Node
  /\ arriving \subseteq owners
  /\ leaving \subseteq owners
  /\ in_sync \subseteq owners
  /\ committed \in Nat
  /\ holds \in [Node -> 0 .. committed]

(* Every node in sync holds all that is committed, and there is such a node. *)
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
(* Records are committed when every node in sync has them. Other nodes may *)
(* have them too.                                                          *)
(***************************************************************************)
Commit ==
  /\ committed' > committed
  /\ \A n \in Node : holds'[n] = holds[n] \/ (holds[n] = committed /\ holds'[n] <= committed')
  /\ \A n \in in_sync : holds'[n] = committed'
  /\ UNCHANGED <<owners, arriving, leaving, in_sync>>

(***************************************************************************)
(* A node that is not in sync holds more, or less, than before.            *)
(***************************************************************************)
Copy(n) ==
  /\ n \notin in_sync
  /\ holds' = [holds EXCEPT ![n] = holds'[n]]
  /\ holds'[n] \in 0 .. committed
  /\ holds' # holds
  /\ UNCHANGED <<owners, arriving, leaving, in_sync, committed>>

(***************************************************************************)
(* Owners that hold all data get in sync; others get out of sync.          *)
(***************************************************************************)
ChangeInSync ==
  /\ in_sync' \subseteq owners
  /\ in_sync' # in_sync
  /\ UNCHANGED <<owners, arriving, leaving, data>>

(***************************************************************************)
(* A move begins, or gets another target. That drops no owner.             *)
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
(* A move ends. The leaving owners are dropped, and every owner that stays *)
(* is in sync. A move may end in the step in which it got its target, so   *)
(* the leaving owners need not have been known before. It may also end in  *)
(* the step in which the last owner got in sync.                           *)
(***************************************************************************)
EndMove ==
  /\ owners' \subseteq owners
  /\ in_sync' = owners'
  /\ arriving' = {}
  /\ leaving' = {}
  /\ UNCHANGED data

(***************************************************************************)
(* A move is cancelled. The arriving owners are dropped. All others stay,  *)
(* in sync or not; at least one of them is in sync.                        *)
(***************************************************************************)
CancelMove ==
  /\ arriving \cup leaving # {}
  /\ owners' = owners \ arriving
  /\ in_sync' = in_sync \ arriving
  /\ arriving' = {}
  /\ leaving' = {}
  /\ UNCHANGED data

(* Each of these keeps InSyncHoldsAll, or is not a step.                     *)
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
