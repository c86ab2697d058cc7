"""The documentation as a site: `make site`, or `python -m handbook` where `.ci` is on the path.

Runs the code blocks of `docs`, writes the pages with what they print to FOLDER/pages, and has
mkdocs make FOLDER/site of them, in strict mode. What was run is kept in FOLDER/outputs and run
again only when something that it depends on has changed. Nothing is fetched; the site needs no
network.

Exit status: 0, or 1 if a block does not do what its page says, a link is dead or mkdocs warns.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib.resources import files
from pathlib import Path

from handbook import pictures, reference
from handbook.blocks import BlockError, blocks_of
from handbook.pages import DOCS, PageError, Site, place_of, sources
from handbook.runs import ROOT, Output, Shelf, run_page

from krafla.cli import VERBS

MADE = {
    **{f"command-{verb}": partial(reference.command, verb) for verb in VERBS},
    "public-names": reference.public_names,
    "trace-schema": reference.trace_schema,
}


def main(arguments: list[str]) -> int:
    """Return the exit status."""
    parser = argparse.ArgumentParser(
        prog="make site", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--folder", type=Path, default=ROOT / "build", help="default: build")
    parser.add_argument("--night", action="store_true", help="run the blocks of the night, too")
    parser.add_argument(
        "--page", type=Path, action="append", help="only run this page; the site is not made"
    )
    parser.add_argument("--pictures", action="store_true", help="first remake docs/pictures")
    options = parser.parse_args(arguments)
    began = time.monotonic()
    try:
        if options.pictures:
            pictures.remake()
        chosen = [page.resolve() for page in options.page or sources()]
        outputs = run_pages(chosen, Shelf(options.folder / "outputs"), is_night=options.night)
        if not options.page:
            write_pages(options.folder / "pages", outputs)
            made(options.folder)
    except (BlockError, PageError) as error:
        print(f"site: {error}", file=sys.stderr)
        return 1
    where = "" if options.page else f": {options.folder / 'site' / 'index.html'}"
    print(f"site{where}; {time.monotonic() - began:.0f} s")
    return 0


def run_pages(
    pages: list[Path], shelf: Shelf, *, is_night: bool = False
) -> dict[Path, list[Output]]:
    """Run the blocks of pages, one page for each processor; return what they printed.

    Raises ``BlockError`` with all that is wrong, each page's first.
    """

    def one(path: Path) -> list[Output]:
        text, name = path.read_text("utf-8"), str(path.relative_to(ROOT))
        if not any(block.is_run_here for block in blocks_of(text, name)):
            return []
        began = time.monotonic()
        outputs = shelf.outputs(
            name, f"{is_night}\n{text}", lambda: run_page(text, name, is_night=is_night)
        )
        print(f"  {name}: {time.monotonic() - began:.1f} s", flush=True)
        return outputs

    found, wrong = {}, []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for path, running in [(path, pool.submit(one, path)) for path in pages]:
            try:
                found[path] = running.result()
            except BlockError as error:
                wrong.append(str(error))
    if wrong:
        raise BlockError("\n".join(wrong))
    return found


def write_pages(folder: Path, outputs: dict[Path, list[Output]]) -> None:
    """Write the pages that mkdocs reads, and what they need beside them."""
    shutil.rmtree(folder, ignore_errors=True)
    site = Site(folder, MADE)
    for path, printed in outputs.items():
        site.add(path, printed)
    for path in (DOCS / "pictures", DOCS / "theme"):
        for one in sorted(path.iterdir()):
            site.write(place_of(one), one.read_bytes())
    site.write(
        Path("javascripts") / "mermaid.js", (files("mermaidx") / "assets/mermaid.js").read_bytes()
    )
    site.add_linked()


def made(folder: Path) -> None:
    """Have mkdocs make the site. Raises ``PageError`` with all that it warns of."""
    pages = str((folder / "pages").resolve())
    # Without colours, and without its advertisement of a successor.
    environment = os.environ | {"KRAFLA_PAGES": pages, "NO_MKDOCS_2_WARNING": "1", "NO_COLOR": "1"}
    ended = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--config-file",
         str(ROOT / "mkdocs.yml"), "--site-dir", str((folder / "site").resolve())],
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    if ended.returncode:
        raise PageError(ended.stdout)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
