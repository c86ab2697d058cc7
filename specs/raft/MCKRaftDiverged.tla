-------------------------- MODULE MCKRaftDiverged --------------------------
(***************************************************************************)
(* Recovery of three voters whose logs diverge in both directions: r1 has  *)
(* records of epochs 1 and 3, r2 of epochs 1, 2 and 2, r3 of epoch 1 only. *)
(* Nothing but the first record is committed. Now r1 or r2 has been        *)
(* elected by r3 in epoch 4, and brings the others to its own log. A       *)
(* leader's answer may name an epoch that the follower lacks, and an end   *)
(* beyond the one up to which the logs agree. The faults are over, and     *)
(* there is a leader, so no timer expires.                                 *)
(***************************************************************************)
EXTENDS MCKRaftLive

DivergedUnder(l) ==
  LET second == [epoch |-> 2, kind |-> "LeaderChange", value |-> r2]
      data   == [epoch |-> 2, kind |-> "Data", value |-> v1]
      third  == [epoch |-> 3, kind |-> "LeaderChange", value |-> r1]
      fourth == [epoch |-> 4, kind |-> "LeaderChange", value |-> l]
      own    == [r \in Replica |-> CASE r = r1 -> <<FirstRecord, third>>
                                     [] r = r2 -> <<FirstRecord, second, data>>
                                     [] OTHER -> <<FirstRecord>>]
  IN
  /\ epoch = [r \in Replica |-> CASE r \in {l, r3} -> 4 [] r = r1 -> 3 [] OTHER -> 2]
  /\ leader = [r \in Replica |-> IF r = r3 THEN Nil ELSE r]
  /\ voted = [r \in Replica |-> IF r = r3 THEN l ELSE Nil]
  /\ log = [r \in Replica |-> IF r = l THEN Append(own[r], fourth) ELSE own[r]]
  /\ log_start = [r \in Replica |-> 0]
  /\ flushed = [r \in Replica |-> Len(log[r])]
  /\ snapshots = [r \in Replica |-> {}]
  /\ role = [r \in Replica |-> IF r = r3 THEN "Unattached" ELSE "Leader"]
  /\ granted = [r \in Replica |-> {}]
  /\ rejected = [r \in Replica |-> {}]
  /\ has_fetched = [r \in Replica |-> FALSE]
  /\ fetching_snapshot = [r \in Replica |-> Nil]
  /\ end_offset = [r \in Replica |-> NoEndOffsets]
  /\ high_watermark = [r \in Replica |-> IF r = r3 THEN 1 ELSE NoOffset]
  /\ messages = PutAll(NoMessages,
       QuorumEpochRequests("BeginQuorumEpochRequest", l, Replica \ {l}))
  /\ committed = <<FirstRecord>>

DivergedNext == \E r \in Replica : Heals(Healing(r))
(* A leader that answers one follower for ever does not let the other wait.  *)
HearsFrom(r, other) ==
  \E m \in InFlight(messages) : m.to = r /\ m.from = other /\ Takes(m)
DivergedFairness ==
  \A r \in Replica :
    /\ \A other \in Replica : WF_live_vars(Heals(HearsFrom(r, other)))
    /\ WF_live_vars(Heals(Fetches(r)))
DivergedSpec ==
  /\ \E l \in {r1, r2} : DivergedUnder(l)
  /\ stable = TRUE
  /\ [][DivergedNext]_live_vars
  /\ DivergedFairness

(* The same under r1, which also writes snapshots and cleans its log. So r2  *)
(* may have records of an epoch that is older than all that r1 still has.    *)
SnapshotDivergedNext ==
  \/ DivergedNext
  \/ \E end \in 1 .. high_watermark[r1] : Heals(CreateSnapshot(r1, end))
  \/ Heals(CleanLog(r1))
SnapshotDivergedSpec ==
  /\ DivergedUnder(r1)
  /\ stable = TRUE
  /\ [][SnapshotDivergedNext]_live_vars
  /\ DivergedFairness

(* A follower that is told where its log diverges cuts at least one record.  *)
(* So it never asks again from where it asked before.                        *)
(* Source: KIP-595, KIP-630; Kafka, ReplicatedLog.validateOffsetAndEpoch.    *)
(* Broken by: a leader that looks at the offset alone to see whether a       *)
(* follower needs a snapshot. A last epoch older than the snapshot has no    *)
(* end in the leader's log.                                                  *)
DivergingTruncatesInv ==
  \A m \in InFlight(messages) :
    (m.type = "FetchResponse" /\ FromLeader(m) /\ m.diverging # Nil) =>
      TruncationPoint(m.to, m.diverging) < LogEnd(m.to)

(* r2 leads, and tells r1 an end of epoch 2, of which r1 has no record.      *)
UnknownEpochToldReach ==
  \E m \in InFlight(messages) :
    /\ m.type = "FetchResponse"
    /\ m.to = r1
    /\ m.diverging # Nil
    /\ m.diverging.epoch = 2
    /\ m.diverging.end_offset > LogEnd(r1)

(* r1 leads, and r2 has as many records, the last ones of an older epoch.    *)
EqualLengthReach ==
  /\ role[r1] = "Leader"
  /\ role[r2] = "Follower"
  /\ LogEnd(r2) = LogEnd(r1)
  /\ LastEpoch(r2) = 2
==============================================================================
