------------------------------ MODULE Untyped ------------------------------
EXTENDS Integers

VARIABLES known,
          unknown

TypeOK == known \in Int
=============================================================================
