---------------------- MODULE MCMetadataLogOverKRaftThree ----------------------
(***************************************************************************)
(* Two controllers over KRaft and a third voter. With two voters each      *)
(* election needs the old leader's vote, so nothing that it wrote is ever  *)
(* lost. Here r2 can be elected by the third: r1 leads on beside it, with  *)
(* a batch that will be cut off its log.                                   *)
(*                                                                         *)
(* The third voter votes and fetches; it does not stand, and its           *)
(* controller is handed nothing.                                           *)
(***************************************************************************)
EXTENDS MCMetadataLogOverKRaft

CONSTANT r3

ThreeReplicas == {r1, r2, r3}

SecondStands(r) == r = r2 /\ StandAtOnce(r)

(* The old leader leads on and has a batch parked; another leads, too, and   *)
(* both take themselves for active.                                          *)
TwoLeadersOverKRaftReach ==
  /\ role[r1] = "Leader" /\ deferred[r1] # {}
  /\ role[r2] = "Leader" /\ claim_epoch[r2] # -1

(* A follower is told to cut its log.                                        *)
CutOffOverKRaftReach ==
  \E m \in InFlight(messages) : m.type = "FetchResponse" /\ m.diverging # Nil

BoundsOfThree == Bounds /\ committed_end[r3] = 0
==============================================================================
