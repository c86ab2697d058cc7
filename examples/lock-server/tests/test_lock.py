"""The lock does what the spec says."""

from lock_machine import LockMachine

TestLock = LockMachine.TestCase
