"""A lock server: one client at a time holds the lock, in the order in which they asked."""

from lock_server.lock import Lock, LockError

__all__ = ["Lock", "LockError"]
