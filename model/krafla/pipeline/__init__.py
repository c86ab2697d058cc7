"""Logs and campaigns at scale: tables of what was read, audits and runs on many machines."""
