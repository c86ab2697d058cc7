"""The project at hand: the modules that somebody works on, their models, and what is said of them.

A project is the folder of a ``krafla.toml``, a tree of rooms with a ``manifest.toml`` as the
shipped specs are, or nothing but the paths that a command was given.
"""

from __future__ import annotations

from krafla.project.base import Machine, Project

__all__ = ["Machine", "Project"]
