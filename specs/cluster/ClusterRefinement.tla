--------------------------- MODULE ClusterRefinement ---------------------------
(***************************************************************************)
(* The committed part of a cluster, as each of the other specs sees it.    *)
(* Each mapping takes the committed image, or the committed records, and   *)
(* leaves the rest out.                                                    *)
(*                                                                         *)
(* The cluster does not refine the fine-grained modules (BrokerLease,      *)
(* Reassignment, ControllerRegistration, MetadataLog). They decide and     *)
(* answer in one step. A cluster decides when it writes, and answers when  *)
(* it commits, and a deposed controller decides what never takes effect.   *)
(* The committed log shows their abstraction, which each of these specs    *)
(* has.                                                                    *)
(***************************************************************************)
EXTENDS ClusterHistory

------------------------------------------------------------------------------
(* Cluster => ReplicatedLog: every node knows a piece of one log. A standby  *)
(* knows nothing until it claims, and a process that ends forgets. No node   *)
(* remembers the records before Init. The mapping puts in the contents of a  *)
(* piece, so only ends are compared. SameOffsetSameImageInv says that an     *)
(* image is the replay of the log up to its end, and CommittedOnlyInv says   *)
(* that its records are committed.                                           *)
WholeLog == [k \in 1 .. HistoryStart |-> Nil] \o history
UpTo(end) ==
  IF end <= Len(WholeLog) THEN SubSeq(WholeLog, 1, end)
  ELSE WholeLog \o [k \in 1 .. end - Len(WholeLog) |-> Nil]
Known(image) == [start |-> 0, records |-> IF image = Nil THEN << >> ELSE UpTo(image.end)]

Log == INSTANCE ReplicatedLog WITH
  Node <- Controller \cup Incarnation,
  Record <- {Nil},
  committed <- WholeLog,
  known <- [n \in Controller \cup Incarnation |->
              Known(IF n \in Controller THEN stable[n] ELSE applied[n])]

RefinesReplicatedLogProp == [][Log!AxiomNext]_(Log!vars)
------------------------------------------------------------------------------
(* Cluster => UntimedLease: the effect of the records on the registrations   *)
(* of brokers. A batch is one step, and at most one of its records concerns  *)
(* the lease. The records after that one in its batch count as part of the   *)
(* next step. So for the lease the log ends after the last record that       *)
(* concerns it.                                                              *)
OfTheLease(r) == r.type \in {"RegisterBrokerRecord", "BrokerRegistrationChangeRecord"}
LeaseEnd ==
  LET at == {k \in DOMAIN history : OfTheLease(history[k])} IN
  HistoryStart + IF at = {} THEN 0 ELSE CHOOSE k \in at : \A other \in at : other <= k

Projected(r) ==
  [incarnation |-> r.incarnation, epoch |-> r.epoch, fenced |-> r.fenced,
   in_controlled_shutdown |-> r.in_controlled_shutdown]

LeaseLog == INSTANCE UntimedLease WITH
  registrations <- [b \in {x \in Broker : Registered(committed, x)} |->
                      Projected(committed.registrations[b])],
  log_end <- LeaseEnd,
  epoch_floor <- LeaseEnd

(* A step of the lease. Its record, the last that concerns the lease, says   *)
(* which action it must be, as in an audit. (The actions of UntimedLease     *)
(* allow any offset at or after the end of the log. Its Next tries only the  *)
(* end.)                                                                     *)
LeaseStep ==
  LET end == LeaseEnd'
      r == history'[end - HistoryStart]
  IN
  /\ end > LeaseEnd
  /\ IF r.type = "RegisterBrokerRecord"
     THEN \/ LeaseLog!RegisterBroker(r.broker, r.incarnation, r.epoch, r.fenced,
                                     r.in_controlled_shutdown, end - 1)
          \/ LeaseLog!AmendRegistration(r.broker, r.incarnation, r.epoch, r.fenced,
                                        r.in_controlled_shutdown, end - 1)
     ELSE \/ LeaseLog!FenceBroker(r.broker, r.epoch, end - 1)
          \/ LeaseLog!UnfenceBroker(r.broker, r.epoch, end - 1)
          \/ LeaseLog!BeginControlledShutdown(r.broker, r.epoch, end - 1)

RefinesUntimedLeaseProp == [][LeaseStep]_(LeaseLog!vars)

(* At most one record that is committed in one step concerns the lease.      *)
(* There may be more when an election commits several batches of the former  *)
(* leader at once; models let one of them survive.                           *)
OneLeaseRecord ==
  [][Cardinality({k \in Len(history) + 1 .. Len(history') : OfTheLease(history'[k])})
       <= 1]_history

(* The same for a model that begins with an empty log. *)
RefinesUntimedLeaseFromStartProp == LeaseLog!Init /\ RefinesUntimedLeaseProp
------------------------------------------------------------------------------
(* Cluster => PartitionLog, with the step of ClusterPartitionLog. Both build *)
(* a change with the same operators. So this says when a change may be made, *)
(* and nothing of how it is built.                                           *)
PartitionView == INSTANCE ClusterPartitionLog WITH
  UncleanEnabled <- FALSE,
  partition <- committed.partition,
  registrations <- [b \in Broker |->
    LET r == committed.registrations[b] IN
    IF r = Nil
    THEN [epoch |-> NoEpoch, registered |-> FALSE, fenced |-> TRUE,
          in_controlled_shutdown |-> FALSE]
    ELSE [epoch |-> r.epoch, registered |-> TRUE, fenced |-> r.fenced,
          in_controlled_shutdown |-> r.in_controlled_shutdown]]

RefinesPartitionLogProp == PartitionView!ClusterLogSpec
------------------------------------------------------------------------------
(* Cluster => RegistrationLog: a static quorum of all controllers.           *)
ControllerLog == INSTANCE RegistrationLog WITH
  Incarnation <- ControllerProcess,
  QuorumIds <- Controller,
  registrations <- committed.controllers,
  metadata_version <- committed.metadata_version,
  voters <- Controller

RefinesRegistrationLogProp == ControllerLog!Spec

THEOREM (HistorySpec /\ OneLeaseRecord) =>
  /\ RefinesReplicatedLogProp
  /\ RefinesUntimedLeaseProp
  /\ RefinesPartitionLogProp
  /\ RefinesRegistrationLogProp
==============================================================================
