---------------------------- MODULE OwnershipMove ----------------------------
(***************************************************************************)
(* A set of replicas moves, and the committed data moves with it. At all   *)
(* times every in-sync replica has all of the data. There are no epochs,   *)
(* no leaders and no requests here, only owners of the data, in-sync       *)
(* replicas, and how much each holds. ReplicatedPartition refines this     *)
(* module (MCReplicatedPartitionRefinement), as long as no election is     *)
(* unclean.                                                                *)
(*                                                                         *)
(* Sources: KIP-455; KIP-966 for the meaning of being in sync.             *)
(*                                                                         *)
(* What is not modelled                                                    *)
(*  - Everything that is not committed.                                    *)
(*  - Unclean elections, and a topic that is deleted.                      *)
(*  - How a replica gets the data: the model only says how much it holds.  *)
(***************************************************************************)
EXTENDS Integers, FiniteSets

CONSTANT Node   \* The nodes that can own the data.

VARIABLES
  owners,     \* The replicas.
  arriving,   \* Owners that a move adds, and a cancelled move drops again.
  leaving,    \* Owners that a move drops at its end.
  in_sync,    \* Owners that may be asked to lead.
  committed,  \* How many records are committed.
  holds       \* [Node -> Nat]: how many of the committed records each node holds.

vars == <<owners, arriving, leaving, in_sync, committed, holds>>

TypeOK ==
  /\ owners \subseteq Node
  /\ arriving \subseteq owners
  /\ leaving \subseteq owners
  /\ in_sync \subseteq owners
  /\ committed \in Nat
  /\ holds \in [Node -> 0 .. committed]

(* Every in-sync node holds everything committed, and some node is in sync.  *)
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
(* A record is committed when every in-sync node has it. Others may have   *)
(* it too.                                                                 *)
(***************************************************************************)
Commit ==
  /\ committed' > committed
  /\ \A n \in Node : holds'[n] = holds[n] \/ (holds[n] = committed /\ holds'[n] <= committed')
  /\ \A n \in in_sync : holds'[n] = committed'
  /\ UNCHANGED <<owners, arriving, leaving, in_sync>>

(***************************************************************************)
(* A node that is not in sync gets more of the data, or loses some.        *)
(***************************************************************************)
Copy(n) ==
  /\ n \notin in_sync
  /\ holds' = [holds EXCEPT ![n] = holds'[n]]
  /\ holds'[n] \in 0 .. committed
  /\ holds' # holds
  /\ UNCHANGED <<owners, arriving, leaving, in_sync, committed>>

(***************************************************************************)
(* Owners that hold everything become in sync; others leave the in-sync    *)
(* set.                                                                    *)
(***************************************************************************)
ChangeInSync ==
  /\ in_sync' \subseteq owners
  /\ in_sync' # in_sync
  /\ UNCHANGED <<owners, arriving, leaving, data>>

(***************************************************************************)
(* A move begins, or gets another target. No owner is dropped.             *)
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
(* A move ends: the leaving owners are dropped, and all that stay are in   *)
(* sync. A move may end in the step that gave it its target, so the        *)
(* leaving owners need not have been known before. It may also end in the  *)
(* step in which the last node became in sync.                             *)
(***************************************************************************)
EndMove ==
  /\ owners' \subseteq owners
  /\ in_sync' = owners'
  /\ arriving' = {}
  /\ leaving' = {}
  /\ UNCHANGED data

(***************************************************************************)
(* A move is cancelled: the arriving owners are dropped. All others stay,  *)
(* in sync or not, and at least one of them is in sync.                    *)
(***************************************************************************)
CancelMove ==
  /\ arriving \cup leaving # {}
  /\ owners' = owners \ arriving
  /\ in_sync' = in_sync \ arriving
  /\ arriving' = {}
  /\ leaving' = {}
  /\ UNCHANGED data

(* A step counts only if it keeps InSyncHoldsAll: Next demands it.           *)
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
