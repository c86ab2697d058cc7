---------------------- MODULE ReassignmentElrProperties ----------------------
(***************************************************************************)
(* The properties of ReassignmentElr. Those properties of                  *)
(* ReassignmentProperties that do not speak of actions hold too, except    *)
(* that the ISR may be empty.                                              *)
(*                                                                         *)
(* The models forbid unclean elections. Where a topic allows them, Kafka   *)
(* as built differs: a forced cancellation takes a fenced replica from the *)
(* ELR into the ISR, and a leader from the ELR may be marked as            *)
(* recovering.                                                             *)
(***************************************************************************)
EXTENDS ReassignmentElr, ReassignmentProperties

(* No replica is both in the ISR and in the ELR.                             *)
(* Source: KIP-966 (ValidControllerIsrAndElr, Vanlightly). Broken by: adding *)
(* to the ELR without looking at the ISR.                                    *)
ElrIsrDisjointInv == partition.isr \cap eligibility.elr = {}

(* The members of the ELR are replicas. False as built: see                  *)
(* broken/reassignment/ElrOutside.cfg.                                       *)
ElrSubsetReplicasInv == eligibility.elr \subseteq Members(partition.replicas)

(* The members of the ISR are replicas. With an ELR the ISR may be empty.    *)
(* Broken by: completing without taking the removed replicas out of the ISR. *)
ElrIsrSubsetReplicasInv == partition.isr \subseteq Members(partition.replicas)

(* With an empty ISR there is no leader.                                     *)
(* Source: KIP-966. Broken by: electing from the ELR and leaving the ISR     *)
(* empty.                                                                    *)
EmptyIsrHasNoLeaderInv == (partition.isr = {}) => (partition.leader = NoLeader)

(* No fenced broker is in the ISR, not even as the last member.              *)
(* Source: KIP-966. Broken by: keeping the last member in the ISR.           *)
ElrNoFencedInIsrInv == partition.isr \subseteq ActiveBrokers

(* While there is a leader, no last known leader is remembered.              *)
(* Source: Kafka, PartitionChangeBuilder.maybeUpdateLastKnownLeader. Broken  *)
(* by: not forgetting it.                                                    *)
LastKnownOnlyLeaderlessInv ==
  /\ Cardinality(eligibility.last_known_leader) <= 1
  /\ (partition.leader # NoLeader) => (eligibility.last_known_leader = {})

(* There is no leader only while no member of the ISR is active, and, if the *)
(* ISR is empty, no active replica is in the ELR. A broker of the ELR that   *)
(* is no longer a replica is never elected: see ElrOutside.                  *)
(* Source: KIP-966. Broken by: an election that looks at the ISR only.       *)
ElrLeaderlessForAReasonInv ==
  (partition.leader = NoLeader) =>
    /\ partition.isr \cap ActiveBrokers = {}
    /\ partition.isr = {} =>
         eligibility.elr \cap ActiveBrokers \cap Members(partition.replicas) = {}
------------------------------------------------------------------------------
(* Steps                                                                     *)

(* Only members of the ISR enter the ELR. A change that leaves the ISR with  *)
(* min.insync.replicas members, or with as many as the partition had         *)
(* replicas before it, empties the ELR.                                      *)
(* Source: KIP-966. Broken by: keeping the ELR of a full ISR; counting all   *)
(* replicas where min.insync.replicas asks for less.                         *)
ElrComesOfIsrProp ==
  [][/\ eligibility'.elr \subseteq eligibility.elr \cup partition.isr
     /\ (/\ partition' # partition
         /\ \/ Cardinality(partition'.isr) >= MinIsr
            \/ Cardinality(partition'.isr) >= Len(partition.replicas)) =>
          eligibility'.elr = {}]_<<partition, eligibility>>

(* A change that leaves the ISR with fewer members keeps in the ELR all that *)
(* were in the ISR or the ELR and are not in the ISR now, except the process *)
(* that restarted. An election that loses data empties the ELR.              *)
(* Source: KIP-966. Broken by: taking a fenced broker out of the ELR; asking *)
(* how large the ISR was before the change.                                  *)
OutsideLeader ==
  /\ partition'.leader \notin {partition.leader, NoLeader}
  /\ partition'.leader \notin partition.isr \cup eligibility.elr \cup AskedFor
Restarted == {b \in Broker : registrations'[b].epoch > registrations[b].epoch}
EligibleStaysProp ==
  [][(/\ partition' # partition
      /\ Cardinality(partition'.isr) < MinIsr
      /\ Cardinality(partition'.isr) < Len(partition.replicas)
      /\ ~OutsideLeader) =>
        (partition.isr \cup eligibility.elr) \ (partition'.isr \cup Restarted)
          \subseteq eligibility'.elr]_<<partition, eligibility>>

(* A replica gets in sync only if the leader asks for it, or as the leader   *)
(* that is alone in sync.                                                    *)
(* Source: KIP-966. Broken by: a leader from the ELR that brings the others  *)
(* of the ELR with it.                                                       *)
ElrIsrGrowsProp ==
  [][\/ partition'.isr \subseteq partition.isr \cup AskedFor
     \/ partition'.isr = {partition'.leader}]_partition

(* A process that restarts is neither in the ISR nor in the ELR.             *)
(* Source: KIP-966, unclean shutdown. Broken by: keeping it in the ELR.      *)
RestartedIsNotEligibleProp ==
  [][\A b \in Broker : registrations'[b].epoch > registrations[b].epoch =>
       b \notin partition'.isr \cup eligibility'.elr]_registrations

(* A leader from outside the ISR and the ELR is marked as recovering. It is  *)
(* elected only by an unclean election, or because it was the last leader    *)
(* while the ELR was empty.                                                  *)
(* Source: KIP-966, KIP-704.                                                 *)
(* Broken by: electing the last known leader while the ELR has a member.     *)
ElrOutsideIsMarkedProp ==
  [][OutsideLeader =>
       /\ partition'.recovery = "RECOVERING"
       /\ \/ UncleanEnabled
          \/ ElectUncleanLeaderElr
          \/ /\ partition.isr = {}
             /\ eligibility.elr \subseteq Restarted
             /\ eligibility.last_known_leader = {partition'.leader}]_partition

(* A leader from the ISR or the ELR loses no data, so electing it does not   *)
(* mark the partition as recovering.                                         *)
(* Source: KIP-966, KIP-704. Broken by: marking every new leader.            *)
ElrMarkedOnlyOutsideProp ==
  [][(partition'.recovery = "RECOVERING" /\ partition.recovery = "RECOVERED") =>
       partition'.leader \notin partition.isr \cup eligibility.elr \cup AskedFor]_partition
------------------------------------------------------------------------------
(* Must be possible                                                          *)

EmptyIsrReach == partition.isr = {} /\ eligibility.elr # {}
BothEmptyReach == partition.isr = {} /\ eligibility.elr = {}
LedFromElrReach ==
  /\ partition.leader # NoLeader
  /\ partition.isr = {partition.leader}
  /\ eligibility.elr # {}
LastKnownLedReach ==
  /\ partition.recovery = "RECOVERING"
  /\ partition.leader # NoLeader
ElrDuringReassignReach == InProgress(partition) /\ eligibility.elr # {}
==============================================================================
