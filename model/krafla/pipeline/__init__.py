"""Logs and campaigns at scale: tables of logs, audits and runs on many machines."""
