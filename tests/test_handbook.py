"""The site of docs: each of its code blocks does what its page says, and no link is dead.

One fixture makes the site, as `make site` does. What commands printed is kept in `build`, by a
digest of all that it depends on; under CI nothing kept is used.
"""

from __future__ import annotations

import os
import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import pytest
import yaml
from handbook.__main__ import made, run_pages, write_pages
from handbook.blocks import blocks_of
from handbook.pages import DOCS, PICTURES, place_of, sources
from handbook.pictures import TABLE
from handbook.runs import ROOT, Shelf
from tests.browser import dom

from krafla.cli import VERBS

if TYPE_CHECKING:
    from pathlib import Path

    from handbook.blocks import Block

# Blocks that are never run, and those of the night. Raise these only with a reason on the page.
NOT_RUN = 30
AT_NIGHT = 2


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the site, made strictly."""
    folder = tmp_path_factory.mktemp("site")
    kept = folder if os.environ.get("CI") else ROOT / "build"
    outputs = run_pages(sources(), Shelf(kept / "outputs"))
    write_pages(folder / "pages", outputs)
    made(folder)
    return folder / "site"


def test_the_site_has_each_page_of_docs(site):
    assert not [path for path in sources() if not page_of(path, site).is_file()]


def test_no_page_takes_anything_from_the_network(site):
    pages = sorted(site.rglob("*.html"))
    taken = {
        page: [one for one in resources(page) if re.match(r"(https?:)?//", one)] for page in pages
    }

    assert len(pages) > 100
    assert not {page: ones for page, ones in taken.items() if ones}


def test_each_page_of_docs_is_in_the_navigation():
    text = (ROOT / "mkdocs.yml").read_text("utf-8").partition("\nnav:\n")[2]
    listed = set(re.findall(r"[\w./-]+\.md", text))
    wanted = {str(place_of(path)) for path in sources()}

    assert listed == wanted
    assert yaml.safe_load(text)


def test_the_blocks_that_are_not_run_are_counted():
    orders = [block.orders for path in sources() for block in blocks_in(path)]

    assert sum(one.reason_not_run is not None for one in orders) == NOT_RUN
    assert sum(one.is_nightly for one in orders) == AT_NIGHT


def test_a_page_that_leaves_its_blocks_to_another_test_is_named_there():
    others = {(path, one.orders.run_by) for path in sources() for one in blocks_in(path)}
    named = [(path, test) for path, test in others if test is not None]

    assert named
    for path, test in named:
        assert path.name in (ROOT / test).read_text("utf-8")


def test_each_command_has_its_section():
    text = (DOCS / "reference" / "command-line.md").read_text("utf-8")

    assert re.findall(r"<!-- made: command-([a-z-]+) -->", text) == list(VERBS)


def test_diagrams_are_drawn(site):
    counts = {path: path.read_text("utf-8").count("```mermaid") for path in sources()}
    shown = {
        path: dom(page_of(path, site)).count('<div class="mermaid"')
        for path, count in counts.items()
        if count
    }

    assert shown == {path: count for path, count in counts.items() if count}
    assert shown


def test_each_picture_of_a_page_can_be_remade():
    assert {path.stem for path in PICTURES.glob("*.png")} == {one.name for one in TABLE}


@pytest.mark.nightly
def test_the_blocks_of_the_night_do_what_their_pages_say(tmp_path):
    pages = [
        path for path in sources()
        if any(block.orders.is_nightly for block in blocks_in(path))
    ]  # fmt: skip

    assert run_pages(pages, Shelf(tmp_path), is_night=True)


def blocks_in(path: Path) -> tuple[Block, ...]:
    """Return the blocks of a page of docs."""
    return blocks_of(path.read_text("utf-8"), path.name)


def page_of(path: Path, site: Path) -> Path:
    """Return the page that a file of docs has in the site."""
    place = place_of(path)
    name = "index" if place.stem == "README" else place.stem
    return site / place.with_name(f"{name}.html")


class Resources(HTMLParser):
    """What a page loads: scripts, styles, pictures, frames; not what it links to."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag, attributes):
        named = dict(attributes)
        if tag == "link" and named.get("rel") in ("stylesheet", "icon", "preload"):
            self.found.append(named["href"])
        elif tag in ("script", "img", "iframe", "source", "object") and named.get("src"):
            self.found.append(named["src"])


def resources(page: Path) -> list[str]:
    """Return the addresses of what a page loads."""
    parser = Resources()
    parser.feed(page.read_text("utf-8"))
    return parser.found
