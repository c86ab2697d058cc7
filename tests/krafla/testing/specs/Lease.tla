------------------------------- MODULE Lease -------------------------------
(* A lease that one client takes and uses. It expires by time, which nobody sees. *)

VARIABLE held

Init == held = FALSE

(* The client takes the free lease. *)
Take == ~held /\ held' = TRUE

(* The client uses the lease that it holds. *)
Use == held /\ UNCHANGED held

(* The lease is over. *)
Expire == held /\ held' = FALSE

Next == Take \/ Use \/ Expire

(* The lease is always free. *)
FreeInv == ~held
=============================================================================
