------------------------------- MODULE Network -------------------------------
(***************************************************************************)
(* Messages in flight, as a bag: a function from each message to the       *)
(* number of its copies. A delivered message leaves; a lost message leaves *)
(* without being delivered; a duplicated one gains a copy. Order is not    *)
(* kept: any message may be delivered next.                                *)
(*                                                                         *)
(* The operators are pure; the protocol that EXTENDS this module says in   *)
(* its own actions when a message is lost or duplicated.                   *)
(***************************************************************************)
EXTENDS Integers, TLC

(* No message in flight. *)
NoMessages == << >>

(* The distinct messages in flight. *)
InFlight(messages) == DOMAIN messages

(* The bag with one more copy of m. *)
Put(messages, m) ==
  IF m \in DOMAIN messages THEN [messages EXCEPT ![m] = @ + 1] ELSE messages @@ (m :> 1)

(* The bag with one copy of m less. m must be in flight. *)
Take(messages, m) ==
  IF messages[m] > 1 THEN [messages EXCEPT ![m] = @ - 1]
  ELSE [n \in DOMAIN messages \ {m} |-> messages[n]]

(* The bag without any copy of the messages of a set. *)
Drop(messages, gone) == [n \in DOMAIN messages \ gone |-> messages[n]]

(* One copy of the request is replaced by the response to it. *)
Answer(messages, request, response) == Put(Take(messages, request), response)

(* A bag of messages of the set Message. *)
IsBagOf(messages, Message) ==
  /\ DOMAIN messages \subseteq Message
  /\ \A m \in DOMAIN messages : messages[m] \in Nat \ {0}
==============================================================================
