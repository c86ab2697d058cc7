"""House rules about the whole family of specs: nothing in them that the documents leave out."""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING

from tests.tidy.document_rules import names_in, table_rows, under_headings
from tests.tidy.inspection import Finding, Inspection, files, place
from tests.tidy.spec_rules import COMMENT, DECLARATION, OPERATOR, extended, spec_modules

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NEXT = re.compile(r"^\w*Next ==(.*?)\n(?=\n|\S)", re.MULTILINE | re.DOTALL)
DISJUNCT = re.compile(r"(?:\\/|:|\A)\s*\(?([A-Z]\w+)")
# A line that only leads to an action: `\/ \E n \in Node : Learn(n)`.
CHOICE = re.compile(r"\s*(?:\\/\s*)?(?:\\E[^:]*:\s*)*[A-Z]\w*[a-z]\w*(?:\(.*\))?\s*")
PROPERTY = re.compile(r"(?:Inv|Prop|Live)$")


def every_action_has_a_name(root: Path) -> Inspection:
    """Each action of each spec has a row in docs/naming.md below its module's heading.

    Below the heading of a module that it extends will do.
    """
    page = root / "docs" / "naming.md"
    rows = list(under_headings(page)) if page.exists() else []
    above = extended(root)
    looked_at, findings = 0, []
    for path, text in spec_modules(root):
        known = {
            name.partition("(")[0]
            for heading, row in rows
            if above[path.stem].intersection(re.findall(r"\w+", heading))
            for name in names_in(row.get("spec action", ""))
        }
        for name in actions_of(text):
            looked_at += 1
            if name not in known:
                message = f"action {path.stem}!{name} has no row in docs/naming.md"
                findings.append(Finding(place(root, path), 1, message))
    return Inspection(looked_at, tuple(dict.fromkeys(findings)))


def actions_of(text: str) -> list[str]:
    """Return the actions among which Next of a module chooses, at once or by way of others."""
    bodies = NEXT.findall(text)
    found: dict[str, None] = {}
    for body in bodies:
        for name in DISJUNCT.findall(body):
            inner = re.search(rf"^{name} ==\s*(.*?)\n(?=\n|\S)", text, re.MULTILINE | re.DOTALL)
            if inner is not None and all(map(CHOICE.fullmatch, inner[1].splitlines())):
                bodies.append(inner[1])
            elif not name.endswith("Next"):
                found[name] = None
    return list(found)


def every_property_is_claimed(root: Path) -> Inspection:
    """Each Inv, Prop and Live of a spec stands in docs/claims.md, with a model.

    The clauses of an inductive invariant are steps of a proof, each with its reason there.
    """
    page = root / "docs" / "claims.md"
    claimed = {
        name
        for _, row in (table_rows(page) if page.exists() else ())
        if names_in(row.get("model", ""))
        for name in names_in(row.get("invariant", ""))
    }
    looked_at, findings = 0, []
    for path, text in spec_modules(root):
        for name in () if path.stem.endswith("Inductive") else properties_of(text):
            looked_at += 1
            if f"{path.stem}!{name}" not in claimed:
                message = f"{path.stem}!{name} stands in no claim with a model"
                findings.append(Finding(place(root, path), 1, message))
    return Inspection(looked_at, tuple(findings))


def properties_of(text: str) -> list[str]:
    """Return the properties that a module defines, without types and those with parameters."""
    return [
        name
        for name in OPERATOR.findall(text)
        if PROPERTY.search(name)
        and not name.startswith("TypeOK")
        and re.search(rf"^{name}\s*==", text, re.MULTILINE)
    ]


def claims_rest_on_what_they_name(root: Path) -> Inspection:
    """Each property of a claim is checked by one of its models; each mutant kills one of them."""
    page = root / "docs" / "claims.md"
    models = listed_models(root)
    killers = mutants(root, models)
    looked_at, findings = 0, []
    for number, row in table_rows(page) if page.exists() else ():
        if "claim" not in row:
            continue
        wanted = set(names_in(row.get("invariant", "")))
        named = [name for name in names_in(row.get("model", "")) if name in models]
        checked = {name for model in named for name in models[model]}
        looked_at += len(wanted)
        wrong = [f"no model of this claim checks {name}" for name in sorted(wanted - checked)]
        wrong += [
            f"model {model} checks nothing of this claim"
            for model in named
            if not wanted & models[model]
        ]
        wrong += [
            f"mutant {mutant} breaks nothing that this claim names"
            for mutant in names_in(row.get("mutant", ""))
            if mutant in killers and not wanted & killers[mutant]
        ]
        if not named:
            # claims_are_shown asks that there be something else.
            wrong = []
        findings += [Finding(place(root, page), number, message) for message in wrong]
    return Inspection(looked_at, tuple(findings))


def listed_models(root: Path) -> dict[str, set[str]]:
    """Return for each model of the rooms what its cfg names, and the property it must break.

    As `Module!Name`, for each module that the model's own extends: several rooms have properties
    of one name. Also what these are made of: a cfg may name a conjunction of several.
    """
    made_of, below = parts(root), extended(root)
    found = {}
    for entry in entries(root, "*/models.toml", "model"):
        config = root / "specs" / str(entry.get("cfg", ""))
        text = re.sub(r"\\\*.*", "", config.read_text()) if config.is_file() else ""
        names = {*re.findall(r"\w+", text), str(entry.get("property", ""))}
        open_names = [name for name in names if PROPERTY.search(name)]
        for name in open_names:
            inner = made_of.get(name, set()) - names
            names |= inner
            open_names += [one for one in sorted(inner) if PROPERTY.search(one)]
        module = str(entry.get("module", "")).rpartition("/")[2].removesuffix(".tla")
        found[str(entry.get("name"))] = {
            f"{one}!{name}" for one in below.get(module, ()) for name in names
        }
    return found


def parts(root: Path) -> dict[str, set[str]]:
    """Return for each operator of the specs the words in its definition."""
    found: dict[str, set[str]] = {}
    for path in files(root / "specs", ".tla"):
        text = COMMENT.sub("", path.read_text())
        for match in OPERATOR.finditer(text):
            body = text[match.end() :].partition("\n\n")[0]
            found.setdefault(match[1], set()).update(re.findall(r"\w+", body))
    return found


def mutants(root: Path, models: dict[str, set[str]]) -> dict[str, set[str]]:
    """Return the properties that each mutant of the specs, or of a proof, must break."""
    everywhere = {name for known in models.values() for name in known}
    rooms = {path.stem: path.parent.name for path in files(root / "specs", ".tla")}
    found: dict[str, set[str]] = {}
    for pattern, key in (
        ("broken/*/mutants.toml", "property"),
        ("broken/proof_mutants.toml", "refutes"),
    ):
        for entry in entries(root, pattern, "mutant"):
            name = str(entry.get(key, "")).rpartition("/")[2]
            known = models.get(str(entry.get("model")), everywhere)
            broken = {one for one in known if one.endswith(f"!{name}")}
            if "model" not in entry:
                # A proof is of one spec, which it names by its file.
                room = str(entry.get("file", "")).partition("/")[0]
                broken = {one for one in broken if rooms.get(one.partition("!")[0]) == room}
            found.setdefault(str(entry["id"]), set()).update(broken)
    return found


def entries(root: Path, pattern: str, key: str) -> Iterator[dict[str, object]]:
    """Yield the tables of some TOML files of the specs."""
    for path in sorted((root / "specs").glob(pattern)):
        yield from tomllib.loads(path.read_text()).get(key, [])


def variables_are_in_the_dictionary(root: Path) -> Inspection:
    """Each variable of each spec has a row in specs/README.md, and each row is one.

    A table stands below a heading that names the module that declares them.
    """
    page = root / "specs" / "README.md"
    told: dict[str, set[str]] = {}
    for heading, row in under_headings(page) if page.exists() else ():
        if "variable" in row:
            for module in re.findall(r"\w+", heading):
                told.setdefault(module, set()).update(names_in(row["variable"]))
    looked_at, findings = 0, []
    for path, _ in spec_modules(root):
        declared = set(variables_of(path.read_text()))
        looked_at += len(declared)
        missing = declared - told.get(path.stem, set())
        strange = told.get(path.stem, set()) - declared
        wrong = [f"{path.stem}!{name} is not in the dictionary" for name in sorted(missing)]
        wrong += [f"{path.stem} has no variable {name}" for name in sorted(strange)]
        findings += [Finding(place(root, page), 1, message) for message in wrong]
    return Inspection(looked_at, tuple(findings))


def variables_of(text: str) -> list[str]:
    """Return the variables that a module declares."""
    # Before the comments go: without them a declaration has blank lines, at which it would end.
    found = [block for block in DECLARATION.finditer(text) if block[0].startswith("VARIABLE")]
    return [name for block in found for name in re.findall(r"\w+", COMMENT.sub("", block[1]))]
