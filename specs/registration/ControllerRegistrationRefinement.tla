------------------- MODULE ControllerRegistrationRefinement -------------------
(***************************************************************************)
(* ControllerRegistration => RegistrationLog: without processes, requests  *)
(* and images, the records that the active controller writes follow the    *)
(* rules of a committed log.                                               *)
(***************************************************************************)
EXTENDS ControllerRegistrationProperties

Log == INSTANCE RegistrationLog

RefinesRegistrationLogProp == Log!Spec

THEOREM Spec => Log!Spec
==============================================================================
