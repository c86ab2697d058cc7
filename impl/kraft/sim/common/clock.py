"""The clocks of simulations that are driven by choices."""

from __future__ import annotations

from typing import Final

START_MS: Final = 1_700_000_000_000
"""When they begin. At zero, code that forgets to set a time would do the right thing."""
