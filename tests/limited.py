"""A command that the system gives less of something than it wants."""

from __future__ import annotations


def limited(command: list[str], limit: str) -> list[str]:
    """Return a command that runs under a limit of the shell's `ulimit`, such as `-n 100`.

    A function that sets it in the new process would run after a fork. A library with threads that
    this process has loaded, as Spark's client does, may end the new process there.
    """
    return ["sh", "-c", f'ulimit {limit} && exec "$@"', "sh", *command]
