"""The pictures of krafla's pages in `docs/pictures`: `make site SITE_ARGS=--pictures` remakes them.

Each page is written by the commands of its row, in a folder of its own, and looked at by a headless
Chromium. Pictures of terminals are made with the site; these are kept in the repository, because a
reader of the Markdown alone sees them, too.
"""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

from handbook.blocks import BlockError
from handbook.pages import PICTURES
from handbook.runs import Place

from krafla.child_processes import ChildGroup
from krafla.scratch import scratch_folder

if TYPE_CHECKING:
    from pathlib import Path

_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
_WIDTH = 1280
_LIMIT_SECONDS = 60
_OVERLAP = "krafla check NoSelfFence --trace overlap.ndjson"


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture: the commands that write its page, where that is, and the height that is shown."""

    name: str
    commands: tuple[str, ...]
    page: str
    height: int = 820


TABLE = (
    Picture(
        "counterexample", (_OVERLAP, "krafla explain overlap.ndjson --html page.html"), "page.html"
    ),
    Picture(
        "explore",
        ("krafla init lock && cd lock", "krafla explore Lock --quiet --html page.html"),
        "lock/page.html",
        700,
    ),
    Picture(
        "graphs",
        ("krafla explore MCReplicatedLogAxiom MCRaftLog MCReplicatedLog --report page.html",),
        "page.html",
        600,
    ),
)


def remake() -> None:
    """Write every picture anew. Raises ``BlockError`` if a command fails or no browser is there."""
    browser = next((found for name in _BROWSERS if (found := shutil.which(name))), None)
    if browser is None:
        raise BlockError(f"no browser: install one of {', '.join(_BROWSERS)}")
    for picture in TABLE:
        with scratch_folder("pictures") as folder, ChildGroup() as group:
            place = Place(folder, group)
            for command in picture.commands:
                ended = place.shell(command, is_coloured=False)
                # A violated property is what the picture shows.
                if ended.returncode not in (0, 1):
                    raise BlockError(f"{command}: exit status {ended.returncode}: {ended.stderr}")
            _photograph(browser, place.top / picture.page, picture, folder)


def _photograph(browser: str, page: Path, picture: Picture, folder: Path) -> None:
    made = folder / "picture.png"
    subprocess.run(
        [browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
         "--disable-background-networking", f"--user-data-dir={folder / 'profile'}",
         f"--window-size={_WIDTH},{picture.height}", "--virtual-time-budget=5000",
         f"--screenshot={made}", page.as_uri()],
        check=True, timeout=_LIMIT_SECONDS, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    shutil.copyfile(made, PICTURES / f"{picture.name}.png")
