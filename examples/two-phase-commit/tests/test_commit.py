"""The transaction does what the spec says."""

from tests.commit_machine import CommitMachine

TestCommit = CommitMachine.TestCase
