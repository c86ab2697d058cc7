------------------------------- MODULE Ballot -------------------------------
(* Replicas vote once in each epoch. Messages are a set and are never lost.  *)
EXTENDS Naturals, FiniteSets

CONSTANTS Replica, MaxEpoch, Nil

VARIABLES epoch, voted_for, messages

vars == <<epoch, voted_for, messages>>

Init ==
  /\ epoch = [r \in Replica |-> 0]
  /\ voted_for = [r \in Replica |-> Nil]
  /\ messages = {}

Ask(r) ==
  /\ epoch[r] < MaxEpoch
  /\ epoch' = [epoch EXCEPT ![r] = @ + 1]
  /\ voted_for' = [voted_for EXCEPT ![r] = r]
  /\ messages' = messages \cup
       {[type |-> "Vote", source |-> r, target |-> t, epoch |-> epoch[r] + 1] : t \in Replica \ {r}}

Answer(r, m) ==
  /\ m.type = "Vote"
  /\ m.target = r
  /\ m.epoch >= epoch[r]
  /\ LET promised == IF m.epoch > epoch[r] THEN Nil ELSE voted_for[r]
         granted == promised \in {Nil, m.source}
     IN  /\ epoch' = [epoch EXCEPT ![r] = m.epoch]
         /\ voted_for' = [voted_for EXCEPT ![r] = IF granted THEN m.source ELSE promised]
         /\ messages' = messages \cup
              {[type |-> "Answer", source |-> r, target |-> m.source,
                epoch |-> m.epoch, granted |-> granted]}

Next ==
  \/ \E r \in Replica : Ask(r)
  \/ \E m \in messages : \E r \in Replica : Answer(r, m)

Spec == Init /\ [][Next]_vars

TypeOK ==
  /\ epoch \in [Replica -> 0 .. MaxEpoch]
  /\ \A r \in Replica : voted_for[r] \in Replica \cup {Nil}
  /\ \A m \in messages : m.type = "Vote" => m.epoch > 0

Granted(r, e) == {m \in messages : m.type = "Answer" /\ m.target = r /\ m.epoch = e /\ m.granted}

NeverElected ==
  ~ \E r \in Replica, e \in 1 .. MaxEpoch :
       Cardinality(Granted(r, e)) + 1 > Cardinality(Replica) \div 2

FewMessages == Cardinality(messages) <= 4

EpochsGrow == [][\A r \in Replica : epoch'[r] >= epoch[r]]_vars
VotesAreForever == [][\A r \in Replica : voted_for[r] # Nil => voted_for'[r] = voted_for[r]]_vars
NoNewMessage == messages' = messages
=============================================================================
