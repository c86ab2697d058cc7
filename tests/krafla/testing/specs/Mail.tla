------------------------------- MODULE Mail -------------------------------
(* Letters between people: the post delivers them in any order, and each person reads its own. *)
EXTENDS Sequences

CONSTANTS Person, Letter

VARIABLES post, inbox

Init == post = {} /\ inbox = [p \in Person |-> <<>>]

(* Somebody sends a letter. *)
Send(p, l) ==
    /\ [to |-> p, letter |-> l] \notin post
    /\ post' = post \union {[to |-> p, letter |-> l]}
    /\ UNCHANGED inbox

(* The post delivers a letter. Nobody sees it do so. *)
Deliver(m) ==
    /\ m \in post
    /\ post' = post \ {m}
    /\ inbox' = [inbox EXCEPT ![m.to] = Append(@, m.letter)]

(* A person reads the oldest letter that was delivered. *)
Read(p, l) ==
    /\ inbox[p] # <<>>
    /\ l = Head(inbox[p])
    /\ inbox' = [inbox EXCEPT ![p] = Tail(@)]
    /\ UNCHANGED post

Next ==
    \/ \E p \in Person, l \in Letter : Send(p, l) \/ Read(p, l)
    \/ \E m \in post : Deliver(m)
=============================================================================
