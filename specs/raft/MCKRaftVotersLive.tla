-------------------------- MODULE MCKRaftVotersLive --------------------------
(***************************************************************************)
(* What happens to a change eventually, if the replicas continue to fetch. *)
(* No replica stands for election; there are two voters, and one may be    *)
(* removed.                                                                *)
(***************************************************************************)
EXTENDS MCKRaftVoters

FetchesOn ==
  /\ WF_vars(\E r, other \in Replica : SendFetch(r, other))
  /\ WF_vars(\E m \in InFlight(messages) : \E end \in 0 .. LogEnd(m.to) : AnswerFetch(m, end))
  /\ WF_vars(\E m \in InFlight(messages) : AppendFetched(m))
ResignsWhenRemoved == WF_vars(\E l \in Replica : ResignRemoved(l))

(* A leader whose request for its removal has timed out need not resign.     *)
AsBuiltSpec == DynamicSettledSpec /\ FetchesOn
LiveSpec == AsBuiltSpec /\ ResignsWhenRemoved

(* A change of the voters is eventually committed.                           *)
(* Source: KIP-853.                                                          *)
(* Broken by: a removed leader whose followers no longer fetch from it; one  *)
(* that resigns before its removal is committed.                             *)
ChangeCommitsLive ==
  \A l \in Replica :
    ((role[l] = "Leader" /\ UncommittedVoters(l) # {}) ~> (UncommittedVoters(l) = {}))

(* A leader whose removal is committed eventually leads no more.             *)
(* Source: KIP-853, RemoveVoter.                                             *)
(* Broken by: resigning only for a request that is still pending, as Kafka   *)
(* does: broken/voters/RemovedLeaderStays.                                   *)
RemovedLeaderResignsLive ==
  \A l \in Replica :
    ((role[l] = "Leader" /\ ~IsVoter(l) /\ VotersAreCommitted(l)) ~> role[l] # "Leader")
==============================================================================
