--------------------------- MODULE AtomicController ---------------------------
(***************************************************************************)
(* The controller as its clients may see it: one image, to which requests  *)
(* are applied one after another, and answers that report the results. No  *)
(* log, no epochs, no second controller.                                   *)
(*                                                                         *)
(* MetadataLog refines this module (MetadataLogRefinement), and so does    *)
(* everything built on it. What the module does not promise is as          *)
(* important:                                                              *)
(*  - A client that gets NOT_CONTROLLER, or no answer, does not know the   *)
(*    outcome. The request may have been applied, and may be applied       *)
(*    later.                                                               *)
(*  - An answer without a change (a refusal, or "nothing to do") is true   *)
(*    of some image that has existed; it may no longer be true of the      *)
(*    present one.                                                         *)
(*                                                                         *)
(* What it does promise: an answer that a change was made is never given   *)
(* before the change, and the change is never taken back after it.         *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets

CONSTANTS
  Request, InitialImage, Replay(_, _), Records(_, _), Result(_, _), Nil, Failed

VARIABLES
  image,    \* The image after all requests applied so far to InitialImage.
  past,     \* All images that have existed, including the present one.
  outcome,  \* [Request -> its result when it was applied, or Nil if it was not applied].
  answers   \* [Request -> its answer, or Nil].

vars == <<image, past, outcome, answers>>

RECURSIVE ReplayAll(_, _)
ReplayAll(before, records) ==
  IF records = << >> THEN before ELSE ReplayAll(Replay(before, Head(records)), Tail(records))

(* The image after some requests, each applied to the image that the         *)
(* previous ones left.                                                       *)
RECURSIVE After(_, _)
After(before, requests) ==
  IF requests = << >> THEN before
  ELSE After(ReplayAll(before, Records(Head(requests), before)), Tail(requests))

(* All orders of some requests, each at most once. *)
Orders ==
  {order \in UNION {[1 .. count -> Request] : count \in 1 .. Cardinality(Request)} :
     \A i, j \in DOMAIN order : i # j => order[i] # order[j]}

Init ==
  /\ image = InitialImage
  /\ past = {InitialImage}
  /\ outcome = [r \in Request |-> Nil]
  /\ answers = [r \in Request |-> Nil]

(***************************************************************************)
(* Requests are applied, one after another. Mostly this is one request,    *)
(* but the end of a transaction applies all requests in it. The images in  *)
(* between are visible to no client.                                       *)
(***************************************************************************)
Before(order, i) == After(image, SubSeq(order, 1, i - 1))

Apply(order) ==
  /\ \A i \in DOMAIN order :
       /\ outcome[order[i]] = Nil
       /\ answers[order[i]] \in Failed \cup {Nil}
       /\ Records(order[i], Before(order, i)) # << >>
  /\ image' = After(image, order)
  /\ past' = past \cup {After(image, order)}
  /\ outcome' = [r \in Request |->
       IF \E i \in DOMAIN order : order[i] = r
       THEN Result(r, Before(order, CHOOSE i \in DOMAIN order : order[i] = r))
       ELSE outcome[r]]
  /\ UNCHANGED answers

(* The answers that request r may get.                                       *)
PossibleAnswers(r) ==
  Failed \cup
  IF outcome[r] # Nil THEN {outcome[r]}
  ELSE {Result(r, seen) : seen \in {i \in past : Records(r, i) = << >>}}

(***************************************************************************)
(* Some of the requests that have no answer yet are answered.              *)
(***************************************************************************)
Answer ==
  /\ answers' \in [Request -> {Nil} \cup UNION {PossibleAnswers(r) : r \in Request}]
  /\ \A r \in Request :
       \/ answers'[r] = answers[r]
       \/ answers[r] = Nil /\ answers'[r] \in PossibleAnswers(r)
  /\ UNCHANGED <<image, past, outcome>>

Next ==
  \/ \E order \in Orders : Apply(order)
  \/ Answer

Spec == Init /\ [][Next]_vars
------------------------------------------------------------------------------
(* An answer that a change was made is true, and stays true.                 *)
(* Source: KIP-631, persistence and visibility.                              *)
(* Broken by: answering before applying.                                     *)
AnswerIsOutcomeInv ==
  \A r \in Request :
    (outcome[r] # Nil /\ answers[r] # Nil) => answers[r] \in Failed \cup {outcome[r]}

(* The image changes only by a request that was not applied before.          *)
(* Source: KIP-631.                                                          *)
(* Broken by: applying a request again.                                      *)
AppliedOnceProp ==
  [][\E r \in Request : outcome[r] = Nil /\ outcome'[r] # Nil]_image

(* A request is answered once: what a client was told is not taken back.     *)
(* Source: Kafka, ControllerPurgatory. Broken by: an answer after a failure. *)
AnsweredOnceProp ==
  [][\A r \in Request : answers[r] # Nil => answers'[r] = answers[r]]_answers

(* A client was told that the outcome is unknown, and the request was        *)
(* applied.                                                                  *)
AppliedAfterFailureReach ==
  \E r \in Request : outcome[r] # Nil /\ answers[r] \in Failed
==============================================================================
