--------------------------- MODULE MCAtomicController ---------------------------
(***************************************************************************)
(* AtomicController with three requests for one value. The second reverts  *)
(* the change of the first; the third checks the value and writes nothing. *)
(***************************************************************************)
EXTENDS AtomicController

Set(from, to) == [from |-> from, to |-> to]
ThreeRequests == {Set(0, 1), Set(1, 0), Set(1, 1)}
ReplaySet(before, record) == record
RecordsToSet(request, before) ==
  IF before = request.from /\ request.from # request.to THEN <<request.to>> ELSE << >>
ResultOfSet(request, before) == IF before = request.from THEN "NONE" ELSE "INVALID_REQUEST"
Zero == 0
BothFailures == {"NOT_CONTROLLER", "DISCONNECTED"}
==============================================================================
