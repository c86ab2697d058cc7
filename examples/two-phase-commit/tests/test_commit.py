"""The transaction does what the spec says."""

from commit_machine import CommitMachine

TestCommit = CommitMachine.TestCase
