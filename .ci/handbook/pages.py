"""The pages of the site, made from the Markdown of the repository.

Each page of `docs` has its place in the site by its path. What else those pages link to (README,
specs, sources) comes below `repository/`, Markdown as pages, other text as a block of code, so
that no link leaves the site and it can be read without a network.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from handbook.blocks import blocks_of
from handbook.runs import ROOT, shown
from handbook.terminal import svg_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from handbook.blocks import Block
    from handbook.runs import Output

DOCS = ROOT / "docs"
PICTURES = DOCS / "pictures"
# Pygments has no lexer for TLA+.
_LANGUAGES = {".py": "python", ".toml": "toml", ".json": "json"}
_ASSETS = (".png", ".svg", ".ipynb", ".html", ".css", ".js")
_LINK = re.compile(r"(\[(?:[^\[\]]|\[[^\]]*\])*\]\()([^)\s]+)(\))")
_ITEM = re.compile(r"( *)(?:[*-]|\d+\.) +\S")
_MADE = re.compile(r"<!-- made: ([a-z-]+) -->")
_ORDERS = re.compile(r" *<!-- (?:run: |not run: |blocks are run by ).* -->")
# A page may be this long; of a longer source only its length is told.
_SOURCE_MAX = 400_000
_MERMAID = "javascripts/mermaid.js"


class PageError(Exception):
    """Says in one sentence, with its place, what is wrong with a page."""


def sources() -> list[Path]:
    """Return the pages of `docs`, sorted."""
    return sorted(DOCS.rglob("*.md"))


def place_of(path: Path) -> Path:
    """Return where in the site a file of the repository is, relative to its top."""
    if path.is_relative_to(DOCS):
        return path.relative_to(DOCS)
    name = Path("repository") / path.relative_to(ROOT)
    if path.is_dir():
        return name / "index.md"
    return name if path.suffix in (".md", *_ASSETS) else name.with_name(f"{name.name}.md")


class Site:
    """The folder of pages that the generator reads, filled page by page.

    ``made`` has, by name, what makes the parts of pages that come from code.
    """

    def __init__(self, folder: Path, made: Mapping[str, Callable[[], str]]) -> None:
        self._folder = folder
        self._made = made
        self._linked: set[Path] = set()
        self._added: set[Path] = set()

    def add(self, path: Path, outputs: Sequence[Output] = ()) -> None:
        """Add the page of a Markdown file, with what its commands printed.

        Raises ``PageError`` for a dead link, or a part that nothing makes.
        """
        self._added.add(path)
        text, name = path.read_text("utf-8"), str(path.relative_to(ROOT))
        blocks = blocks_of(text, name) if outputs else ()
        for block in blocks:
            self._draw(block, [one for one in outputs if one.line == block.line])
        lines = _with_outputs(text.split("\n"), blocks, outputs, path)
        parts = [part if is_code else self._prose(part, path) for is_code, part in _parts(lines)]
        whole = "\n".join(parts)
        if "```mermaid" in whole:
            above = "../" * (len(place_of(path).parts) - 1)
            whole += f'\n\n<script src="{above}{_MERMAID}"></script>\n'
        self.write(place_of(path), whole)

    def _draw(self, block: Block, outputs: Sequence[Output]) -> None:
        """Write the picture of a block that wants one."""
        if block.orders.picture is not None:
            picture = PICTURES / f"{block.orders.picture}.svg"
            text = "\n".join(one.text for one in outputs)
            self.write(place_of(picture), svg_of(text, outputs[-1].words))
            self._added.add(picture)

    def write(self, place: Path, content: str | bytes) -> None:
        """Write a file of the site."""
        target = self._folder / place
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)

    def add_linked(self) -> None:
        """Add what the pages link to and is not there yet, and what that links to in turn."""
        while self._linked - self._added:
            path = min(self._linked - self._added)
            self._added.add(path)
            if path.is_dir():
                self._add_folder(path)
            elif path.suffix == ".md":
                self.add(path)
            elif path.suffix in _ASSETS:
                self.write(place_of(path), path.read_bytes())
            else:
                self._add_source(path)

    def _add_folder(self, path: Path) -> None:
        names = sorted(f"{one.name}{'/' * one.is_dir()}" for one in path.iterdir())
        names = [f"* `{name}`" for name in names if not name.startswith((".", "__"))]
        self.write(place_of(path), "\n".join([f"# {path.relative_to(ROOT)}", "", *names, ""]))

    def _add_source(self, path: Path) -> None:
        text = path.read_text("utf-8")
        if len(text) > _SOURCE_MAX:
            text = f"({len(text):,} characters: read it in the repository.)"
        fence = "`" * (4 if "```" in text else 3)
        language = _LANGUAGES.get(path.suffix, "text")
        head = f"---\nsearch:\n  exclude: true\n---\n# {path.relative_to(ROOT)}\n"
        self.write(place_of(path), f"{head}\n{fence}{language}\n{text}\n{fence}\n")

    def _prose(self, text: str, path: Path) -> str:
        text = _MADE.sub(lambda match: self._part(match[1], path), text)
        return _LINK.sub(lambda match: self._link(match, path), text)

    def _part(self, name: str, path: Path) -> str:
        if name not in self._made:
            known = ", ".join(sorted(self._made))
            raise PageError(f"{path.relative_to(ROOT)}: nothing makes {name!r}; there are: {known}")
        return self._made[name]()

    def _link(self, match: re.Match[str], path: Path) -> str:
        name, _, anchor = match[2].partition("#")
        if not name or re.match(r"[a-z]+:", name):
            return match[0]
        goal = Path(os.path.normpath(path.parent / name))
        if goal.is_dir() and (goal / "README.md").exists():
            goal /= "README.md"
        if not goal.exists() and goal not in self._added:
            raise PageError(f"{path.relative_to(ROOT)}: dead link: {match[2]}")
        self._linked.add(goal)
        place = os.path.relpath(place_of(goal), place_of(path).parent)
        return f"{match[1]}{place}{'#' * bool(anchor)}{anchor}{match[3]}"


def _parts(lines: Sequence[str]) -> Iterator[tuple[bool, str]]:
    """Yield a page in parts: whether each is a block of code, and its text.

    Lists are written as Python-Markdown reads them: below an empty line, and four columns deep.
    """
    prose: list[str] = []
    code: list[str] = []
    for line in lines:
        mark = re.match(r" *(`{3,})", line)
        if code:
            code.append(line)
            if mark and line.strip() == re.match(r" *(`{3,})", code[0])[1]:
                yield True, "\n".join(code)
                code = []
        elif mark:
            yield False, "\n".join(prose)
            prose, code = [], [line]
        elif not _ORDERS.fullmatch(line):
            item = _ITEM.match(line)
            above = prose[-1] if prose else ""
            if item and above.strip() and not _ITEM.match(above) and not above.startswith(" "):
                prose.append("")
            deep = item and len(item[1]) in (2, 3)
            prose.append(f"    {line.lstrip()}" if deep else line)
    yield False, "\n".join(prose)


def _with_outputs(
    lines: list[str], blocks: Sequence[Block], outputs: Sequence[Output], path: Path
) -> list[str]:
    """Return the lines of a page with what the commands of its blocks printed."""
    result, start = [], 0
    for block in blocks:
        result += lines[start : block.line - 1]
        start = block.end
        mine = [one for one in outputs if one.line == block.line]
        body = _shown_block(block, mine, path) if mine else None
        if body is None:
            result += lines[block.line - 1 : block.end]
        else:
            result += [f"{block.indent}{line}" if line else "" for line in body]
    return result + lines[start:]


def _shown_block(block: Block, outputs: Sequence[Output], path: Path) -> list[str] | None:
    """Return a block with what it printed, without its indent; None if it stays as it is."""
    orders = block.orders
    if orders.is_unseen:
        return None
    if orders.picture is not None:
        place = os.path.relpath(PICTURES / f"{orders.picture}.svg", path.parent)
        words = outputs[0].words.replace("\n", " ")
        picture = ["", f"![What `{words}` prints]({place})"]
        return ["```console", *block.text.split("\n"), "```", *picture]
    if block.language == "console":
        body = []
        for one in outputs:
            body += [f"$ {one.words}", *(line for line in [shown(one, block)] if line)]
        return ["```console", *"\n".join(body).split("\n"), "```"]
    printed = "\n".join(text for one in outputs if (text := shown(one, block)))
    code = [f"```{block.language}", *block.text.split("\n"), "```"]
    return [*code, "", "```text", *printed.split("\n"), "```"] if printed else code
