---------------------------- MODULE MCKRaftSteps ----------------------------
(***************************************************************************)
(* KRaftSteps within bounds. models.toml says what is left out, and why.   *)
(***************************************************************************)
EXTENDS MCKRaftVoters, KRaftSteps

StepsSettledSpec == Settled /\ [][StepsNext]_vars

NoPark(m) == Never
NoForgetting(l, r) == Never
NoBatch(r, values) == Never
NoRecord(r, value) == Never
NoPartKept(r, end) == Never
NoPartAppended(m, end) == Never
NoPartCut(m, end) == Never
NoRepeatedEnd(r, other) == Never
NoOtherDisk(m, r) == Never
NoOtherAnswer(m) == Never
NoRedirection(m, r) == Never

Anybody(r) == TRUE

(* Figure 8, in which r2 continues to write records that will be cut off.    *)
DoomedSpec == FigureEight /\ [][StepsNext]_vars
Nobody(r) == FALSE
OnlyDoomed(r) == IF r = r2 /\ LogEnd(r) < 4 THEN Value ELSE {}

(* Two voters, and the disk that replaces the disk of one. *)
TwoAndDisk == {r1, r3, s3}
FirstAndThird == {r1, r3}

(* The disk of r3 is lost before anything else happens, and sends nothing    *)
(* any more. The disk in its place is not a voter yet.                       *)
OtherDiskInPlace ==
  /\ OneLate
  /\ role[r3] = "Follower"
  /\ epoch[r3] = 1
  /\ \A m \in InFlight(messages) : m.from # r3
------------------------------------------------------------------------------
(* Witnesses                                                                 *)

(* A fetch waits at its leader: noted, and not answered. *)
ParkedReach ==
  \E m \in InFlight(messages) :
    /\ IsFetchOfEpoch(m)
    /\ m.offset = LogEnd(m.to)
    /\ end_offset[m.to][m.from] = m.offset
    /\ high_watermark[m.to] = m.offset

(* A fetch that waited is answered with records that the leader may lose.    *)
AnsweredBeforeFlushReach ==
  \E m \in InFlight(messages) :
    /\ m.type = "FetchResponse"
    /\ Len(m.records) > 1
    /\ role[m.from] = "Leader"
    /\ m.epoch = epoch[m.from]
    /\ ~Idle(m.from)

(* A replica has one record of a batch of two, since a crash took the other. *)
HalfBatchReach ==
  \E r, s \in Replica : LogEnd(r) = 2 /\ LogEnd(s) = 3 /\ LastEpoch(r) = 1 /\ LastEpoch(s) = 1

(* A leader wrote the first voters, but they are lost, and another leader    *)
(* writes them again.                                                        *)
VotersAgainReach ==
  \E r \in Replica :
    /\ role[r] = "Leader"
    /\ Len(log[r]) = 3
    /\ log[r][3].kind = "Voters"
    /\ log[r][3].epoch > 1

(* A leader of another epoch has moved: its log has the voters twice.        *)
MovedLeaderReach ==
  \E r \in Replica : \E i, j \in 1 .. Len(log[r]) :
    /\ role[r] = "Leader"
    /\ log[r][i].kind = "Voters"
    /\ log[r][j].kind = "Voters"
    /\ log[r][i].epoch < log[r][j].epoch

(* It wrote them while a change of the voters was pending.                   *)
MovedOverChangeReach ==
  \E r \in Replica : \E change \in UncommittedChanges(r) :
    \E again \in UncommittedVoters(r) \ UncommittedChanges(r) :
      /\ role[r] = "Leader"
      /\ change < again

(* A replica that waited for a leader has its first records, without having  *)
(* asked twice.                                                              *)
FollowedWithRecordsReach ==
  \E r \in Replica :
    /\ role[r] = "Follower"
    /\ has_fetched[r]
    /\ voted[r] = leader[r]
    /\ epoch[r] = 2
    /\ LastEpoch(r) = 2

(* A log must be truncated by several records. *)
LongCutReach ==
  \E m \in InFlight(messages) :
    /\ m.type = "FetchResponse"
    /\ m.diverging # Nil
    /\ LogEnd(m.to) - TruncationPoint(m.to, m.diverging) > 1

(* A voter waits for a leader of which it knows only the id, and which is a  *)
(* voter too.                                                                *)
KnownByNameReach ==
  \E r \in Replica : role[r] = "Unattached" /\ leader[r] \in Voters(r)

(* A disk that is not a voter hears that its leader has resigned.            *)
HeardByMistakeReach ==
  \E m \in InFlight(messages) : m.type = "EndQuorumEpochRequest" /\ m.to = s3

(* A disk that is not a voter follows a leader that addressed the previous   *)
(* disk.                                                                     *)
FollowsByMistakeReach == role[s3] = "Follower" /\ epoch[s3] = 2 /\ ~has_fetched[s3]
==============================================================================
