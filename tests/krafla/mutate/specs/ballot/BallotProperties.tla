------------------------- MODULE BallotProperties -------------------------
EXTENDS Ballot

(* Nobody grants what is not open. *)
GrantedWhileOpenInv == granted # {} => status = "OPEN"

(* What is closed is remembered with the epoch that was last closed. *)
LastIsClosedInv == last.epoch # 0 => last.epoch \in closed

(* A ballot is closed by two of three. *)
ClosedByMajorityProp == [][closed' # closed => Cardinality(granted) >= 2]_vars

(* Epochs go up by one. *)
EpochGrowsProp == [][epoch' # epoch => epoch' = epoch + 1]_vars

(* The last ballot can be closed. *)
DoneReach == status = "DONE"

(* If nobody waits for ever, the last ballot is closed. *)
FairSpec ==
  Spec /\ WF_vars(Open) /\ WF_vars(Close) /\ \A n \in Node : WF_vars(Grant(n))
DoneLive == <>(status = "DONE")
=============================================================================
