------------------------ MODULE MCMetadataLogOverKRaft ------------------------
(***************************************************************************)
(* Two controllers over KRaft, within bounds. r1 leads epoch 1 at first,   *)
(* and there are at most two more elections, each with the vote of the     *)
(* other replica: nothing that was written is ever lost.                   *)
(* MCMetadataLogOverKRaftThree covers lost writes.                         *)
(***************************************************************************)
EXTENDS MetadataLogOverKRaft

CONSTANTS r1, r2, MaxEpoch, MaxLogEnd

TwoReplicas == {r1, r2}
AllVote(records) == Replica

(* The image is one value. A request sets it if it is the expected value. *)
Set(from, to) == [from |-> from, to |-> to]
NoRequest == {}
OneChange == {Set(0, 1)}
ChangeAndCheck == {Set(0, 1), Set(1, 1)}
ReplaySet(image, record) == record.value
RecordsToSet(request, image) ==
  IF image = request.from /\ request.from # request.to
  THEN <<[type |-> "Set", value |-> request.to]>> ELSE << >>
ResultOfSet(request, image) == IF image = request.from THEN "NONE" ELSE "INVALID_REQUEST"
Zero == 0

Batches ==
  {BatchOf(r, <<[type |-> "Set", value |-> r.to]>>) : r \in Request} \cup
  {BatchOf(Nil, <<Metadata!BeginTransactionRecord>>),
   BatchOf(Nil, <<Metadata!EndTransactionRecord>>),
   BatchOf(Nil, <<Metadata!AbortTransactionRecord>>)}

(* As in MCKRaft: a replica that stands has won its pre-vote, and a leader   *)
(* sends all records.                                                        *)
StandAtOnce(r) ==
  /\ Idle(r)
  /\ role[r] \in {"Unattached", "Follower", "Candidate"}
  /\ epoch[r] < MaxEpoch
  /\ WriteQuorumState(r, epoch[r] + 1, Nil, r)
  /\ Stand(r, epoch[r] + 1, "Candidate", Disconnected(r))
  /\ UNCHANGED <<log_state, commit>>
EpochLeft(r) == epoch[r] < MaxEpoch
AllThereIs(r, offset) == {LogEnd(r)}
RoomLeft(r) == IF LogEnd(r) < MaxLogEnd THEN Batches ELSE {}
NoServers(r) == {}
Never == \E nothing \in {} : FALSE
NoMarker(r) == Never
NoRequestTimeout(r, other) == Never
NoHeartbeat(r, other) == Never
NoRestart(r) == Never
NoGiveUp(r) == Never

FirstRecord == [epoch |-> 1, kind |-> "LeaderChange", value |-> r1]
SettledInit ==
  /\ epoch = [r \in Replica |-> 1]
  /\ leader = [r \in Replica |-> r1]
  /\ voted = [r \in Replica |-> IF r = r1 THEN Nil ELSE r1]
  /\ log = [r \in Replica |-> <<FirstRecord>>]
  /\ log_start = [r \in Replica |-> 0]
  /\ flushed = [r \in Replica |-> 1]
  /\ snapshots = [r \in Replica |-> {}]
  /\ role = [r \in Replica |-> IF r = r1 THEN "Leader" ELSE "Follower"]
  /\ granted = [r \in Replica |-> {}]
  /\ rejected = [r \in Replica |-> {}]
  /\ has_fetched = [r \in Replica |-> r # r1]
  /\ fetching_snapshot = [r \in Replica |-> Nil]
  /\ end_offset = [r \in Replica |->
       IF r = r1 THEN [other \in Replica |-> IF other = r1 THEN NoOffset ELSE 1]
       ELSE NoEndOffsets]
  /\ high_watermark = [r \in Replica |-> 1]
  /\ messages = NoMessages
  /\ committed = <<FirstRecord>>
  /\ EmptyMemory
SettledSpec == SettledInit /\ [][OverNext]_over_vars

(* Both replicas take themselves for active, over KRaft's own elections. *)
BothActiveOverKRaftReach == \A r \in Replica : claim_epoch[r] # -1
(* A batch is committed although its writer gave up.                         *)
SurvivedOverKRaftReach ==
  \E request \in Request :
    /\ answers[request] = "NOT_CONTROLLER"
    /\ \E k \in DOMAIN committed :
         committed[k].kind = "Data" /\ committed[k].value.request = request

(* A batch is lost: it stands in a log at an offset where something else is  *)
(* committed.                                                                *)
LostOverKRaftReach ==
  \E request \in Request, r \in Replica :
    /\ answers[request] = "NOT_CONTROLLER"
    /\ \E k \in DOMAIN committed \cap DOMAIN log[r] :
         /\ log[r][k].kind = "Data" /\ log[r][k].value.request = request
         /\ committed[k] # log[r][k]

(* An epoch passed, and its first record committed together with a later     *)
(* epoch's.                                                                  *)
PassedEpochReach ==
  \E k \in DOMAIN committed :
    /\ k > 1 /\ committed[k].kind = "LeaderChange" /\ committed[k - 1].epoch = 2
    /\ committed[k - 1].kind = "LeaderChange"

(* A broken listener: it is told that it leads before it has been handed all *)
(* earlier records.                                                          *)
TellAtOnce(r) ==
  /\ role[r] = "Leader"
  /\ claim_epoch[r] = -1
  /\ claim_epoch' = [claim_epoch EXCEPT ![r] = epoch[r]]
  /\ UNCHANGED <<vars, committed_end, stable_end, write_end, written, timeline, deferred,
                 answers, snapshot>>

Bounds == \A r \in Replica : epoch[r] <= MaxEpoch /\ LogEnd(r) <= MaxLogEnd + 1
==============================================================================
