------------------ MODULE MCControllerRegistrationRefinement ------------------
(***************************************************************************)
(* Every step of ControllerRegistration, within bounds, is a step of       *)
(* RegistrationLog.                                                        *)
(***************************************************************************)
EXTENDS MCControllerRegistration, ControllerRegistrationRefinement
==============================================================================
