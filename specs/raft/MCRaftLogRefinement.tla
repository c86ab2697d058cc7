------------------------- MODULE MCRaftLogRefinement -------------------------
(***************************************************************************)
(* What a reader takes from the committed log of KRaft and of KRaftVoters, *)
(* within bounds, are steps of RaftLog. The models with records of voters  *)
(* begin with a leader that all replicas follow.                           *)
(***************************************************************************)
EXTENDS MCKRaftVoters, RaftLogRefinement

(* What RaftLog!Next tries: any epoch may be skipped, and a static quorum is *)
(* all the voters there are.                                                 *)
FewEpochs == 0 .. MaxEpoch
StaticVoters == {VotersAs(InitialVoters)}
DynamicVoters == {VotersAs(some) : some \in SUBSET Replica \ {{}}}

FirstIsR1(r) == EpochLeft(r) /\ (epoch[r] = 0 => r = r1)

TransactionRoomLeft(r) == IF LogEnd(r) < MaxLogEnd THEN WritableInTransaction(r) ELSE {}

(* A leader that does not look whether its log is in a transaction. For      *)
(* broken/raft.                                                              *)
AnyTransactionRoomLeft(r) ==
  IF LogEnd(r) < MaxLogEnd THEN {"BeginTransaction", "Other"} ELSE {}

DynamicReaderSettledSpec ==
  /\ Settled
  /\ elections = (1 :> [leader |-> r1, voters |-> InitialVoters, granting |-> InitialVoters])
  /\ read = 0
  /\ [][DynamicReaderNext]_reader_vars
==============================================================================
