------------------------------ MODULE Parcels ------------------------------
(* A depot that sends parcels: guards of every form. *)
EXTENDS Naturals, Sequences

VARIABLES open, stock, sent

vars == <<open, stock, sent>>

Town == {"x", "y"}

Init == open = FALSE /\ stock = 2 /\ sent = <<>>

Open == ~open /\ open' = TRUE /\ UNCHANGED <<stock, sent>>

InStock == stock > 0

Ready == open /\ InStock

(* A guard without a variable, and two behind an operator. *)
Send(from, to) ==
    /\ from # to
    /\ Ready
    /\ stock' = stock - 1
    /\ sent' = IF sent = <<>> THEN <<to>> ELSE Append(sent, to)
    /\ UNCHANGED open

(* Without the first guard the second has no value. *)
Arrive ==
    /\ sent # <<>>
    /\ Head(sent) = "x"
    /\ sent' = Tail(sent)
    /\ UNCHANGED <<open, stock>>

(* The parameter depends on the state; the last guard chooses a next value. *)
Return(to) ==
    /\ ~open
    /\ \E n \in 0..(stock - 1) : stock' = n
    /\ UNCHANGED <<open, sent>>

Close == open /\ stock = 0 /\ open' = FALSE /\ UNCHANGED <<stock, sent>>

(* The second guard is never false where the first is true. *)
Rest == stock = 1 /\ stock < 2 /\ UNCHANGED vars

Next ==
    \/ Open
    \/ \E from, to \in Town : Send(from, to)
    \/ Arrive
    \/ \E to \in {sent[i] : i \in DOMAIN sent} : Return(to)
    \/ Close
    \/ Rest
    \/ stock = 7 /\ UNCHANGED vars

Spec == Init /\ [][Next]_vars
=============================================================================
