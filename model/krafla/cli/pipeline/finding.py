"""A finding of a table or a report in one line."""

from __future__ import annotations

from typing import Any

__all__ = ["finding_line"]


def finding_line(finding: dict[str, Any]) -> str:
    """Return a finding as a line: its weight, its place, what is broken, how."""
    places = [finding["path"] or ""]
    places += [
        f"{name} {finding[name]}" for name in ("byte", "offset") if finding[name] is not None
    ]
    return f"{finding['weight']}  {', '.join(places)}: {finding['kind']}: {finding['detail']}"
