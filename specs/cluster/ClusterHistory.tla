---------------------------- MODULE ClusterHistory ----------------------------
(***************************************************************************)
(* Cluster with a history variable: the committed log as the sequence that *)
(* it is. No guard reads it. The refinements need it, since some of them   *)
(* speak of records and their offsets.                                     *)
(***************************************************************************)
EXTENDS ClusterProperties

VARIABLE history   \* The records that were committed since Init: no part of the protocol.

(* What is committed in this step: out of the tail of the former leader, or  *)
(* of the new one, which had none.                                           *)
NewlyCommitted ==
  LET of_tail == RecordsOf(tail[leader])
      count == committed'.end - committed.end
  IN  IF count = 0 THEN << >>
      ELSE IF leader' = leader THEN SubSeq(of_tail, 1, count)
      ELSE SubSeq(of_tail, 1, count - 1) \o <<LeaderChangeRecord(leader')>>

HistoryInit == Init /\ history = << >>
HistoryNext == Next /\ history' = history \o NewlyCommitted
history_vars == <<vars, history>>
HistorySpec == HistoryInit /\ [][HistoryNext]_history_vars

(* The offset of the first record in it. *)
HistoryStart == committed.end - Len(history)
==============================================================================
