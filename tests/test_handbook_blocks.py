"""A page that says what is not so is an error with its line; each page is run in a folder."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from handbook.__main__ import made
from handbook.blocks import BlockError, blocks_of, commands_of
from handbook.pages import PageError, Site, place_of
from handbook.runs import ROOT, Output, Shelf, run_page, shown


def page(*lines):
    return "\n".join(lines)


def console(*commands, orders="run: status 0"):
    return page(f"<!-- {orders} -->", "```console", *commands, "```")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (page("```console", "$ true"), "p.md:1: the block does not end"),
        (page("", "```", "x", "```"), "p.md:2: no language ''"),
        (page("```cobol", "x", "```"), "p.md:1: no language 'cobol'"),
        (console("$ true", orders="run: quietly"), "p.md:1: no option 'quietly'"),
        (page("<!-- run: unseen -->", "prose"), "p.md:2: there is no block below the comment"),
        (console("true"), "p.md:3: a console block begins with `$ `"),
        (console("$ exit 3"), "p.md:2: exit 3: exit status 3, not 0"),
        (console("$ true", orders="run: status 1"), "exit status 0, not 1"),
        (console("$ echo one", "two"), "the page says that it prints\n    two"),
        (console("$ seq 3", "1", "2"), "the page says that it prints\n    nothing more"),
        (console("$ seq 3", "1", "3"), "the page says that it prints\n    3"),
        (console("$ seq 3", "...", "3", "2"), "the page says that it prints\n    2"),
        (console("$ echo one two", "one"), "the page says that it prints\n    one"),
        (page("```toml", "a = ", "```"), "p.md:1: it is no toml"),
        (page("```json", '{"a": 1}', '{"b":', "```"), "p.md:1: it is no json"),
        (page("```yaml", "a: [", "```"), "p.md:1: it is no yaml"),
        (page('```python title="a.py"', "def", "```"), "p.md:1: it is no python"),
        (page("```python", "import nothing_such", "```"), "No module named 'nothing_such'"),
        (page("```tla", "Next == FALSE /\\ TRUE", "```"), "p.md:1: no spec has these lines"),
        (page("```sh", "false", "true", "```"), "p.md:1: false\ntrue: exit status 1"),
    ],
)
def test_a_block_that_is_not_as_the_page_says_is_told_with_its_line(text, told):
    with pytest.raises(BlockError) as raised:
        run_page(text, "p.md")
    assert told in str(raised.value)


def test_blocks_of_a_page_share_its_folder_and_go_on_where_they_were():
    text = page(
        '```toml title="made/a.toml"', "a = 1", "```",
        console("$ cd made", "$ cat a.toml", "a = 1"),
        "```python", "seven = 7", "```",
        "```python", "print(open('a.toml').read(), seven, sep='')", "```",
        console("$ ls ../traces/kafka-4.1 | head -1"),
    )  # fmt: skip
    outputs = run_page(text, "p.md")

    assert [one.text for one in outputs] == ["", "a = 1\n", "a = 1\n7\n", "README.md\n"]
    assert [one.line for one in outputs] == [5, 5, 13, 17]


@pytest.mark.parametrize("written", [("1", "2", "3"), ("...", "2", "..."), ("1", "...", "3")])
def test_a_page_may_leave_out_lines_of_an_output_if_it_says_so(written):
    assert run_page(console("$ seq 3", *written), "p.md")[0].text == "1\n2\n3\n"


def test_what_a_page_leaves_running_ends_with_it_and_keeps_nothing_waiting(monkeypatch):
    monkeypatch.setattr("handbook.runs.LIMIT_SECONDS", 60)
    started = int(run_page(console("$ sleep 1000 & echo $!"), "p.md")[0].text)

    # What was killed may stay in the table of processes, without its words.
    words = Path(f"/proc/{started}/cmdline")
    for _ in range(1000):
        if not words.exists() or not words.read_bytes():
            break
        time.sleep(0.01)
    else:
        pytest.fail("it still runs")


def test_a_command_that_does_not_end_is_an_error(monkeypatch):
    monkeypatch.setattr("handbook.runs.LIMIT_SECONDS", 0.2)
    with pytest.raises(BlockError, match=r"p\.md:2: sleep 1000: it did not end in 0\.2 s"):
        run_page(console("$ sleep 1000"), "p.md")


def test_blocks_that_are_not_to_be_run_are_not():
    text = page(
        console("$ exit 1", orders="not run: it would fail"),
        console("$ exit 1", orders="run: at night"),
    )

    assert run_page(text, "p.md") == []
    with pytest.raises(BlockError, match=r"p\.md:6: exit 1"):
        run_page(text, "p.md", is_night=True)


def test_the_places_of_this_machine_are_not_shown():
    outputs = run_page(console("$ pwd; echo $PWD/a", "$ ls -d " + str(ROOT / "specs")), "p.md")

    assert [one.text.split()[-1] for one in outputs] == ["a", "specs"]
    outputs = run_page(console("$ echo /a/venv/bin/python -m pytest"), "p.md")
    assert outputs[0].text == "python -m pytest\n"


def test_a_kept_output_is_used_until_the_page_changes(tmp_path):
    asked = []

    def run():
        asked.append(1)
        return [Output(1, "true", f"{len(asked)}")]

    shelf = Shelf(tmp_path)
    texts = [shelf.outputs("a/p.md", text, run)[0].text for text in ("x", "x", "y", "y", "x")]

    assert texts == ["1", "1", "2", "2", "3"]


@pytest.mark.parametrize(
    ("orders", "wanted"),
    [("first 2 lines", "1\n2\n..."), ("last 1 lines", "...\n3"), ("first 3 lines", "1\n2\n3")],
)
def test_a_long_output_is_cut(orders, wanted):
    block = blocks_of(console("$ seq 3", orders=f"run: {orders}"), "p.md")[0]

    assert shown(Output(2, "seq 3", "\n1\n2\n3\n"), block) == wanted


def test_a_command_may_have_several_lines():
    block = blocks_of(console("$ echo \\", "  a", "a", "$ true"), "p.md")[0]

    commands = [(one.words, one.written) for one in commands_of(block)]
    assert commands == [("echo \\\n  a", ("a",)), ("true", ())]


@pytest.fixture
def docs(tmp_path, monkeypatch):
    """A folder of pages in the place of the repository's."""
    monkeypatch.setattr("handbook.pages.ROOT", tmp_path)
    monkeypatch.setattr("handbook.pages.DOCS", tmp_path / "docs")
    (tmp_path / "docs").mkdir()
    return tmp_path / "docs"


def written(docs, text, outputs=()):
    path = docs / "p.md"
    path.write_text(text)
    site = Site(docs.parent / "pages", {"part": lambda: "MADE"})
    site.add(path, outputs)
    site.add_linked()
    return (docs.parent / "pages" / "p.md").read_text()


def test_what_a_command_printed_stands_below_it(docs):
    text = page("* item", "", "  ```console", "  $ one", "  $ two", "  ```", "after")
    outputs = [Output(3, "one", "1\n"), Output(3, "two", "")]

    wanted = page("* item", "", "  ```console", "  $ one", "  1", "  $ two", "  ```", "after")
    assert written(docs, text, outputs) == wanted


def test_links_out_of_docs_lead_to_pages_of_the_site(docs):
    (docs.parent / "a.tla").write_text("---- MODULE a ----")
    (docs.parent / "README.md").write_text("[back](docs/p.md#x)")
    shown_page = written(docs, "[a](../a.tla), [`r`](../README.md), [w](https://example.org)")

    assert shown_page == (
        "[a](repository/a.tla.md), [`r`](repository/README.md), [w](https://example.org)"
    )
    repository = docs.parent / "pages" / "repository"
    assert "MODULE a" in (repository / "a.tla.md").read_text()
    assert (repository / "README.md").read_text() == "[back](../p.md#x)"


def test_lists_are_written_as_the_generator_reads_them(docs):
    text = page("above", "* a", "  * b", "  goes on", "* c")

    assert written(docs, text) == page("above", "", "* a", "    * b", "  goes on", "* c")


def test_parts_are_made_and_an_unknown_one_or_a_dead_link_is_an_error(docs):
    assert written(docs, "<!-- made: part -->") == "MADE"
    with pytest.raises(PageError, match=r"docs/p\.md: nothing makes 'other'; there are: part"):
        written(docs, "<!-- made: other -->")
    with pytest.raises(PageError, match=r"docs/p\.md: dead link: q\.md"):
        written(docs, "[q](q.md)")


def test_the_generator_stops_at_a_dead_anchor(tmp_path):
    pages = tmp_path / "pages"
    pages.mkdir()
    (pages / "index.md").write_text("# A\n\n[b](#nothing)\n")

    with pytest.raises(PageError, match="no such anchor"):
        made(tmp_path)


def test_a_page_of_docs_keeps_its_path_and_other_files_have_a_folder_of_their_own():
    places = [place_of(ROOT / name) for name in ("docs/ci.md", "specs", "specs/lib/Network.tla")]

    assert [str(place) for place in places] == [
        "ci.md", "repository/specs/index.md", "repository/specs/lib/Network.tla.md"
    ]  # fmt: skip
    assert isinstance(places[0], Path)
