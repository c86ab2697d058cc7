"""Shows that the browser of the tests runs scripts, and that a page that complains is an error."""

from __future__ import annotations

import pytest
from tests.browser import dom


def page(folder, script):
    path = folder / "page.html"
    path.write_text(f"<!doctype html><p id=a>before</p><script>{script}</script>")
    return path


def test_scripts_and_their_timers_have_run(tmp_path):
    later = "setTimeout(() => { a.textContent = `after ${location.hash}`; }, 4000)"
    shown = dom(page(tmp_path, later), "#here")

    assert shown.startswith("<!doctype html><html>")
    assert '<p id="a">after #here</p>' in shown


@pytest.mark.parametrize("script", ["throw new Error('no')", "console.log('no')", "fetch('no')"])
def test_a_page_that_complains_is_an_error_and_the_next_is_not(tmp_path, script):
    with pytest.raises(AssertionError, match="no"):
        dom(page(tmp_path, script))
    assert "before" in dom(page(tmp_path, ""))


def test_a_page_finds_nothing_of_another(tmp_path):
    dom(page(tmp_path, "localStorage.kept = 'of another'"))
    shown = dom(page(tmp_path, "a.textContent = `kept: ${localStorage.kept}`"))
    assert "kept: undefined" in shown
