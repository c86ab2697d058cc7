---------------------- MODULE MCMetadataLogOverKRaftThree ----------------------
(***************************************************************************)
(* Two controllers over KRaft and a third voter. With two voters each      *)
(* election needs the old leader's vote, so no record that it wrote is     *)
(* ever lost. Here r2 can be elected by the third voter: r1 continues to   *)
(* lead beside it, with a batch that will be cut off its log.              *)
(*                                                                         *)
(* The third voter votes and fetches. It does not stand, and its           *)
(* controller is handed nothing.                                           *)
(***************************************************************************)
EXTENDS MCMetadataLogOverKRaft

CONSTANT r3

ThreeReplicas == {r1, r2, r3}

SecondStands(r) == r = r2 /\ StandAtOnce(r)

(* The old leader still leads and has an answer deferred; another replica    *)
(* leads too, and both take themselves for active.                           *)
TwoLeadersOverKRaftReach ==
  /\ role[r1] = "Leader" /\ deferred[r1] # {}
  /\ role[r2] = "Leader" /\ claim_epoch[r2] # -1

(* A follower is told to truncate its log.                                   *)
CutOffOverKRaftReach ==
  \E m \in InFlight(messages) : m.type = "FetchResponse" /\ m.diverging # Nil

BoundsOfThree == Bounds /\ committed_end[r3] = 0
==============================================================================
