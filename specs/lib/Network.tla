------------------------------- MODULE Network -------------------------------
(***************************************************************************)
(* Messages in flight, as a bag: a function from each message to the       *)
(* number of its copies. A delivered message leaves the bag. A lost        *)
(* message leaves it without being delivered. A duplicated message gains a *)
(* copy. Order is not kept: any message may be delivered next.             *)
(*                                                                         *)
(* The operators are pure. The actions of the protocol that EXTENDS this   *)
(* module determine when a message is lost or duplicated.                  *)
(***************************************************************************)
EXTENDS Integers, TLC

(* No message in flight. *)
NoMessages == << >>

(* The distinct messages in flight. *)
InFlight(messages) == DOMAIN messages

(* The bag with one copy of m more. *)
Put(messages, m) ==
  IF m \in DOMAIN messages THEN [messages EXCEPT ![m] = @ + 1] ELSE messages @@ (m :> 1)

(* The bag with one copy of m fewer. m must be in flight. *)
Take(messages, m) ==
  IF messages[m] > 1 THEN [messages EXCEPT ![m] = @ - 1]
  ELSE [n \in DOMAIN messages \ {m} |-> messages[n]]

(* The bag without any copy of the messages in the set `gone`. *)
Drop(messages, gone) == [n \in DOMAIN messages \ gone |-> messages[n]]

(* The bag in which the response replaces one copy of the request. *)
Answer(messages, request, response) == Put(Take(messages, request), response)

(* messages is a bag of messages from the set Message. *)
IsBagOf(messages, Message) ==
  /\ DOMAIN messages \subseteq Message
  /\ \A m \in DOMAIN messages : messages[m] \in Nat \ {0}
==============================================================================
