"""A real browser for the tests of pages: headless Chromium, given a file and read as it stands."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
QUIET = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage",
)  # fmt: skip


def dom(page: Path, fragment: str = "") -> str:
    """Return the document after its scripts have run; an error in them makes this fail."""
    program = next((found for name in NAMES if (found := shutil.which(name))), None)
    assert program is not None, f"no browser: install one of {', '.join(NAMES)}"
    with tempfile.TemporaryDirectory(prefix="krafla-browser-") as profile:
        done = subprocess.run(
            [program, *QUIET, f"--user-data-dir={profile}", "--virtual-time-budget=5000",
             "--enable-logging=stderr", "--dump-dom", f"{page.resolve().as_uri()}{fragment}"],
            capture_output=True, text=True, timeout=120, check=True,
        )  # fmt: skip
    complaints = [line for line in done.stderr.splitlines() if ":CONSOLE" in line]
    assert not complaints, "\n".join(complaints)
    return done.stdout
