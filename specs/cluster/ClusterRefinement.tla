--------------------------- MODULE ClusterRefinement ---------------------------
(***************************************************************************)
(* The committed log of a cluster, seen from each of the other rooms. Each *)
(* mapping takes the committed image or the committed records, and leaves  *)
(* out the rest.                                                           *)
(*                                                                         *)
(* A cluster does not refine the fine-grained modules themselves           *)
(* (BrokerLease, Reassignment, ControllerRegistration). They decide, write *)
(* and answer in one step. A cluster decides when it writes and answers    *)
(* when it commits, and some decisions of a deposed controller never take  *)
(* effect: no mapping of its state makes those one step. MetadataLog has   *)
(* the same steps as Cluster, but keeps the log as a sequence with its     *)
(* snapshots, and knows each request by name, once. What both share is     *)
(* ReplicatedLog. The committed log shows the abstraction of each module,  *)
(* which each of these rooms has.                                          *)
(*                                                                         *)
(* A step of UntimedLease is one record. So in the models at most one      *)
(* batch survives its controller, and the theorem requires that no step    *)
(* commits two records of the lease (OneLeaseRecord).                      *)
(***************************************************************************)
EXTENDS ClusterHistory

------------------------------------------------------------------------------
(* Cluster => ReplicatedLog: every node knows a piece of one log. A standby  *)
(* knows nothing until it claims, and a process that ends forgets. The       *)
(* contents of the records before Init are not kept. The mapping itself      *)
(* supplies the contents of a piece, so that the refinement compares only    *)
(* ends. SameOffsetSameImageInv says that an image is the replay of the log  *)
(* up to its end; CommittedOnlyInv says that this part of the log is         *)
(* committed.                                                                *)
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
(* Cluster => UntimedLease: what the records do to the registrations of      *)
(* brokers. A batch is one step, and has at most one record of the lease.    *)
(* Records after it in its batch belong to the next operation, so for the    *)
(* lease the log ends after the last record of the lease.                    *)
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

(* A step of the lease. Its record, the last record of the lease, determines *)
(* the action, as in an audit. (The actions of UntimedLease allow any offset *)
(* at or after the log's end; its Next tries only the end.)                  *)
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

(* The records committed in one step contain at most one record of the       *)
(* lease. There may be more when an election commits several batches of the  *)
(* former leader at once; models let one batch survive.                      *)
OneLeaseRecord ==
  [][Cardinality({k \in Len(history) + 1 .. Len(history') : OfTheLease(history'[k])})
       <= 1]_history

(* The same, for a model that begins with an empty log. *)
RefinesUntimedLeaseFromStartProp == LeaseLog!Init /\ RefinesUntimedLeaseProp
------------------------------------------------------------------------------
(* Cluster => PartitionLog, with the step of ClusterPartitionLog. Both build *)
(* a change with the same operators, so the refinement says when a change    *)
(* may be made, and nothing about how it is built.                           *)
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
