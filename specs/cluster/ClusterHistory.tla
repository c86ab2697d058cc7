---------------------------- MODULE ClusterHistory ----------------------------
(***************************************************************************)
(* Cluster with a history variable: the committed log as a sequence. No    *)
(* guard reads it. The refinements need it, since some of them speak of    *)
(* records and their offsets.                                              *)
(***************************************************************************)
EXTENDS ClusterProperties

VARIABLE history   \* The records committed since Init: not part of the protocol.

(* The records that are committed in this step. They come from the tail of   *)
(* the former leader, or from the new leader, which had no tail.             *)
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

(* The offset of the first record in history. *)
HistoryStart == committed.end - Len(history)
==============================================================================
