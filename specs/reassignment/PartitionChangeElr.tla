-------------------------- MODULE PartitionChangeElr --------------------------
(***************************************************************************)
(* PartitionChange with the eligible leader replicas (ELR) of KIP-966, as  *)
(* pure operators. When the ISR falls below min.insync.replicas, nothing   *)
(* more is committed. A replica that leaves the ISR after that still has   *)
(* all that is committed, and may lead: it is in the ELR. The ISR may then *)
(* be empty. When both are empty, the log remembers the last leader, and   *)
(* that one is elected if no other replica can be.                         *)
(*                                                                         *)
(* Source: KIP-966, and Kafka as built with                                *)
(* useLastKnownLeaderInBalancedRecovery: PartitionChangeBuilder.           *)
(*                                                                         *)
(* Kafka's code -> operators here (PartitionChangeBuilder)                 *)
(*   maybePopulateTargetElr -> NextElr                                     *)
(*   canElectLastKnownLeader -> LastKnownMayLead                           *)
(*   electLeader -> ElectedElr                                             *)
(*   build -> BuildElr                                                     *)
(*                                                                         *)
(* What is not modelled                                                    *)
(*  - A last known ELR of several members, for recoveries that look at     *)
(*    logs.                                                                *)
(*  - ClearElrRecord, and min.insync.replicas that changes.                *)
(***************************************************************************)
EXTENDS PartitionChange

(* The fields that the log has for a partition besides those of Partition. *)
Eligibility(brokers) ==
  [elr : SUBSET brokers, last_known_leader : SUBSET brokers]
NoEligibility == [elr |-> {}, last_known_leader |-> {}]

(* The next ELR, given the wanted ISR. It is empty while the ISR is large    *)
(* enough. Otherwise it has the members of the old ELR and of the old ISR    *)
(* that are not in the wanted ISR. A process that stopped uncleanly may have *)
(* lost data, and is not in it. A broker that is no longer a replica stays   *)
(* in it: no conjunct here intersects the ELR with the replicas. This is     *)
(* Kafka as built, see broken/reassignment/ElrOutside.cfg.                   *)
(* Kafka: PartitionChangeBuilder.maybePopulateTargetElr.                     *)
NextElr(p, e, ask, min_isr, unclean_shutdown) ==
  IF Cardinality(ask.isr) >= min_isr THEN {}
  ELSE ((e.elr \cup p.isr) \ ask.isr) \ unclean_shutdown

(* The last known leader may be elected: no other replica is known to have   *)
(* any data. It must be active (KAFKA-19522).                                *)
(* Kafka: PartitionChangeBuilder.canElectLastKnownLeader.                    *)
LastKnownMayLead(r, acceptable) == r \in acceptable

(* The elected leader, for a given ELR.                                      *)
(* Kafka: PartitionChangeBuilder.electLeader.                                *)
ElectedElr(p, e, ask, elr, acceptable) ==
  LET valid   == (ask.isr \cup (IF ask.isr = {} THEN elr ELSE {})) \cap acceptable
      clean   == CleanLeader(p, ask, valid)
      known   == {r \in e.last_known_leader :
                    ask.isr = {} /\ elr = {} /\ LastKnownMayLead(r, acceptable)}
      unclean == UncleanLeader(ask, acceptable)
  IN  IF clean # NoLeader THEN [leader |-> clean, unclean |-> FALSE]
      ELSE IF known # {} THEN [leader |-> CHOOSE r \in known : TRUE, unclean |-> TRUE]
      ELSE [leader |-> unclean, unclean |-> unclean # NoLeader]

(* The record for a wanted state, with the fields of the eligibility. A      *)
(* leader from the ELR is alone in the ISR, and loses no data.               *)
(* Kafka: PartitionChangeBuilder.build.                                      *)
BuildElr(p, e, ask, acceptable, min_isr, unclean_shutdown) ==
  LET done     == Completed(ask)
      elr      == NextElr(p, e, done, min_isr, unclean_shutdown)
      election == ElectedElr(p, e, done, elr, acceptable)
      from_elr == election.leader # p.leader /\ election.leader \in elr
      asked    == IF from_elr THEN [done EXCEPT !.isr = {election.leader}] ELSE done
      forced   == election.leader # p.leader /\ election.unclean
      record   == ChangeRecord(p, asked, election, TRUE)
      empties  == "isr" \in DOMAIN record /\ record.isr = {}
      next_elr == IF forced THEN {} ELSE elr \ (IF from_elr THEN {election.leader} ELSE {})
      last     == IF empties /\ e.last_known_leader # {p.leader} THEN {p.leader}
                  ELSE IF Replay(p, record).leader # NoLeader THEN {}
                  ELSE e.last_known_leader
  IN  record
      @@ Field("elr", next_elr, next_elr # e.elr)
      @@ Field("last_known_leader", last, last # e.last_known_leader)

ReplayElr(e, record) ==
  [elr |-> IF "elr" \in DOMAIN record THEN record.elr ELSE e.elr,
   last_known_leader |-> IF "last_known_leader" \in DOMAIN record
                         THEN record.last_known_leader ELSE e.last_known_leader]
==============================================================================
