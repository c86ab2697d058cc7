"""How Java shall compile TLC, by how long a process will run."""

from __future__ import annotations

from typing import Final

__all__ = ["COMPILE_BRIEFLY", "OPTIMISE_LATE"]

COMPILE_BRIEFLY: Final = ("-XX:TieredStopAtLevel=1",)
"""For a process that is over before the optimising compiler has paid for itself."""
OPTIMISE_LATE: Final = (
    "-XX:Tier4InvocationThreshold=50000",
    "-XX:Tier4MinInvocationThreshold=6000",
    "-XX:Tier4CompileThreshold=150000",
    "-XX:Tier4BackEdgeThreshold=400000",
)
"""For a longer one: code that runs only a few thousand times is not optimised."""
