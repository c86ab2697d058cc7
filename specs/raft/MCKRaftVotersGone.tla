------------------------- MODULE MCKRaftVotersGone -------------------------
(***************************************************************************)
(* A leader has added a voter and is gone. r1 led r2, and added r3. The    *)
(* record of the new voters is committed, since two of the three have it:  *)
(* r1, and either r3 or r2. r1 sends and answers nothing any more. The     *)
(* other replica does not know of the change: it has another voter set.    *)
(* Timers expire as in MCKRaftLive, and once more: a follower notices that *)
(* its leader is gone. Nothing else goes wrong.                            *)
(***************************************************************************)
EXTENDS MCKRaftVoters, MCKRaftLive

Survivors == {r2, r3}

(* r1 is gone, and only the survivor `knowing` has the record of the voters. *)
Gone(knowing) ==
  LET added   == [epoch |-> 1, kind |-> "Voters", value |-> {r1, r2, r3}]
      whole   == <<FirstRecord, added>>
      Knows(r) == r \in {r1, knowing}
  IN
  /\ epoch = [r \in Replica |-> 1]
  /\ leader = [r \in Replica |-> r1]
  /\ voted = [r \in Replica |-> IF r = r2 THEN r1 ELSE Nil]
  /\ log = [r \in Replica |-> IF Knows(r) THEN whole ELSE <<FirstRecord>>]
  /\ log_start = [r \in Replica |-> 0]
  /\ flushed = [r \in Replica |-> Len(log[r])]
  /\ snapshots = [r \in Replica |-> {}]
  /\ role = [r \in Replica |-> IF r = r1 THEN "Leader" ELSE "Follower"]
  /\ granted = [r \in Replica |-> {}]
  /\ rejected = [r \in Replica |-> {}]
  /\ has_fetched = [r \in Replica |-> r # r1]
  /\ fetching_snapshot = [r \in Replica |-> Nil]
  /\ end_offset = [r \in Replica |->
       IF r # r1 THEN NoEndOffsets
       ELSE [other \in Replica |-> CASE other = r1 -> NoOffset [] Knows(other) -> 2 [] OTHER -> 1]]
  /\ high_watermark = [r \in Replica |-> IF r = r1 THEN 2 ELSE 1]
  /\ messages = NoMessages
  /\ committed = whole

NewestHasLeader == \E l \in Survivors : role[l] = "Leader" /\ epoch[l] = NewestEpoch
BestStands(r) == r = CHOOSE s \in Best(Survivors) : TRUE
SurvivorsAnswered(r) ==
  \A other \in (Voters(r) \cap Survivors) \ {r} :
    ~Waiting(r, other) /\ other \in granted[r] \cup rejected[r]
MissesLeader(r) ==
  /\ r \in Survivors
  /\ ~NewestHasLeader
  /\ \/ role[r] = "Follower" /\ has_fetched[r] /\ leader[r] = r1
     \/ BestStands(r) /\ (IsNominee(r) => SurvivorsAnswered(r))

GoesOn(r) == Healing(r) \/ RequestTimeout(r, r1)
GoneNext == \E r \in Survivors : GoesOn(r) /\ UNCHANGED stable
GoneFairness ==
  \A r \in Survivors :
    /\ WF_live_vars(Heals(Hears(r)))
    /\ WF_live_vars(Heals(Fetches(r)))
    /\ WF_live_vars(Heals(StandsUp(r)))
    /\ WF_live_vars(Heals(Asks(r)))
    /\ WF_live_vars(Heals(Tells(r)))
    /\ WF_live_vars(Heals(RequestTimeout(r, r1)))

AddedKnowsSpec == Gone(r3) /\ stable = TRUE /\ [][GoneNext]_live_vars /\ GoneFairness
AddedUnawareSpec == Gone(r2) /\ stable = TRUE /\ [][GoneNext]_live_vars /\ GoneFairness

(* In the end one of the survivors leads, the other follows it, and what the *)
(* leader has is committed.                                                  *)
(* Source: KIP-853.                                                          *)
(* Broken by: a voter that refuses a candidate that is not among the voters  *)
(* it knows.                                                                 *)
SurvivorsRecover ==
  \E l \in Survivors :
    /\ role[l] = "Leader"
    /\ \A r \in Survivors : epoch[r] = epoch[l] /\ leader[r] = l /\ high_watermark[r] = LogEnd(l)
SurvivorsRecoverLive == <>[]SurvivorsRecover

(* A candidate has the vote of a replica that does not know it as a voter.   *)
StrangerElectedReach ==
  \E r, s \in Survivors : role[r] = "Leader" /\ voted[s] = r /\ r \notin Voters(s)
==============================================================================
