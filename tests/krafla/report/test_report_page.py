from __future__ import annotations

import json
import re

import pytest
from jinja2 import UndefinedError
from tests.browser import dom

from krafla.report.page import embed, render

HOSTILE = "</script><b>&\u2028'\""


def test_all_text_is_escaped():
    page = render("base.html", title=HOSTILE)

    assert HOSTILE not in page
    assert "&lt;/script&gt;&lt;b&gt;" in page


def test_embedded_data_reads_back_and_cannot_end_its_element():
    element = embed("data", {HOSTILE: [1, HOSTILE]})

    text = re.fullmatch(r'<script type="application/json" id="data">(.*)</script>', element)[1]
    assert "<" not in text
    assert json.loads(text) == {HOSTILE: [1, HOSTILE]}


def test_a_missing_name_of_a_template_is_an_error():
    from krafla.report.page import _environment

    with pytest.raises(UndefinedError):
        _environment().from_string("{{ absent }}").render()


def test_a_page_asks_the_network_for_nothing():
    page = render("base.html", title="A page")

    assert "default-src 'none'" in page
    assert not re.search(r"https?://|//cdn|@import|src=", page)


def test_a_script_that_fails_is_noticed(tmp_path):
    page = tmp_path / "page.html"
    page.write_text("<p>before</p><script>throw new Error('broken')</script>")

    with pytest.raises(AssertionError, match="broken"):
        dom(page)


def test_a_browser_shows_what_a_script_makes_of_the_data(tmp_path):
    page = tmp_path / "page.html"
    script = "document.body.append(JSON.parse(document.getElementById('data').textContent).join())"
    page.write_text(f"<body>{embed('data', ['a', 'b'])}<script>{script}</script>")

    assert "a,b" in dom(page).split("</script>")[-1]
