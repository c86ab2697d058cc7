------------------- MODULE ControllerRegistrationRefinement -------------------
(***************************************************************************)
(* ControllerRegistration => RegistrationLog: with processes, requests and *)
(* images left out, what the active controller writes follows the rules of *)
(* a committed log.                                                        *)
(***************************************************************************)
EXTENDS ControllerRegistrationProperties

Log == INSTANCE RegistrationLog

RefinesRegistrationLogProp == Log!Spec

THEOREM Spec => Log!Spec
==============================================================================
