---------------------- MODULE ReassignmentElrProperties ----------------------
(***************************************************************************)
(* What must be true of ReassignmentElr. Of ReassignmentProperties, those  *)
(* that do not speak of actions hold too, but for the ISR that may be      *)
(* empty.                                                                  *)
(*                                                                         *)
(* The models forbid unclean elections. Where a topic allows them, as      *)
(* built, a forced cancellation takes a fenced replica from the ELR into   *)
(* the ISR, and a leader out of the ELR may be marked as recovering.       *)
(***************************************************************************)
EXTENDS ReassignmentElr, ReassignmentProperties

(* Nobody is both in sync and merely eligible.                               *)
(* Source: KIP-966 (ValidControllerIsrAndElr, Vanlightly). Broken by: adding *)
(* to the ELR without looking at the ISR.                                    *)
ElrIsrDisjointInv == partition.isr \cap eligibility.elr = {}

(* Who is eligible is a replica. False as built: see                         *)
(* broken/reassignment/ElrOutside.cfg.                                       *)
ElrSubsetReplicasInv == eligibility.elr \subseteq Members(partition.replicas)

(* Who is in sync is a replica; with an ELR the ISR may be empty.            *)
(* Broken by: completing without taking the removed out of the ISR.          *)
ElrIsrSubsetReplicasInv == partition.isr \subseteq Members(partition.replicas)

(* Without anybody in sync there is no leader.                               *)
(* Source: KIP-966. Broken by: electing out of the ELR without an ISR.       *)
EmptyIsrHasNoLeaderInv == (partition.isr = {}) => (partition.leader = NoLeader)

(* No fenced broker is in sync, not even as the last.                        *)
(* Source: KIP-966. Broken by: keeping the last member in the ISR.           *)
ElrNoFencedInIsrInv == partition.isr \subseteq ActiveBrokers

(* While somebody leads nobody is remembered as the last leader.             *)
(* Source: Kafka, PartitionChangeBuilder.maybeUpdateLastKnownLeader. Broken  *)
(* by: not forgetting it.                                                    *)
LastKnownOnlyLeaderlessInv ==
  /\ Cardinality(eligibility.last_known_leader) <= 1
  /\ (partition.leader # NoLeader) => (eligibility.last_known_leader = {})

(* There is no leader only while no replica could lead without loss. Who is  *)
(* eligible but no replica any more is never elected: see ElrOutside.        *)
(* Source: KIP-966. Broken by: an election that looks at the ISR only.       *)
ElrLeaderlessForAReasonInv ==
  (partition.leader = NoLeader) =>
    /\ partition.isr \cap ActiveBrokers = {}
    /\ partition.isr = {} =>
         eligibility.elr \cap ActiveBrokers \cap Members(partition.replicas) = {}
------------------------------------------------------------------------------
(* Steps                                                                     *)

(* Only who was in sync becomes eligible; and once enough are in sync, or as *)
(* many as there are replicas, nobody is.                                    *)
(* Source: KIP-966. Broken by: keeping the ELR of a full ISR; counting all   *)
(* replicas where min.insync.replicas asks for less.                         *)
ElrComesOfIsrProp ==
  [][/\ eligibility'.elr \subseteq eligibility.elr \cup partition.isr
     /\ (/\ partition' # partition
         /\ \/ Cardinality(partition'.isr) >= MinIsr
            \/ Cardinality(partition'.isr) >= Len(partition.replicas)) =>
          eligibility'.elr = {}]_<<partition, eligibility>>

(* A process that starts anew is neither in sync nor eligible.               *)
(* Source: KIP-966, unclean shutdown. Broken by: keeping it in the ELR.      *)
RestartedIsNotEligibleProp ==
  [][\A b \in Broker : registrations'[b].epoch > registrations[b].epoch =>
       b \notin partition'.isr \cup eligibility'.elr]_registrations

(* A leader from outside ISR and ELR is marked as recovering, and is there   *)
(* only by an unclean election, or because it was the last leader while      *)
(* nobody was eligible. Source: KIP-966, KIP-704.                            *)
(* Broken by: electing the last known leader while somebody is eligible.     *)
ElrOutsideIsMarkedProp ==
  [][LET leader == partition'.leader IN
     (/\ leader # NoLeader
      /\ leader # partition.leader
      /\ leader \notin partition.isr \cup eligibility.elr \cup AskedFor) =>
        /\ partition'.recovery = "RECOVERING"
        /\ \/ UncleanEnabled
           \/ ElectUncleanLeaderElr
           \/ /\ partition.isr = {}
              /\ eligibility.elr \subseteq Broker \ {b \in Broker :
                   registrations'[b].epoch = registrations[b].epoch}
              /\ eligibility.last_known_leader = {leader}]_partition

(* A leader out of the ISR or the ELR costs no data: nobody is marked as     *)
(* recovering for it.                                                        *)
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
