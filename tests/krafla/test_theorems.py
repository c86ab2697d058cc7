"""Every THEOREM of the specs names what a model checks, or a proof shows.

What stands before the last `=>` of a theorem is what its models assume: their bounds say more.
"""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING, Final, NamedTuple

import pytest

from krafla.manifest import find_specs, load
from krafla.tlc.comments import without_comments
from krafla.tlc.config import read_config
from krafla.tlc.inputs import modules_of

if TYPE_CHECKING:
    from collections.abc import Iterable

STATEMENT: Final = re.compile(r"^THEOREM\s(.*?)(?=\n\s*\n|\n\S|\Z)", re.MULTILINE | re.DOTALL)
DEFINITION: Final = re.compile(r"^(\w+) == (\S+)$", re.MULTILINE)

# Theorems whose formula is no property by that name: the properties that are checked for it.
IN_OTHER_WORDS: Final = {
    # One direction of the equivalence each; TypeOK of both models says what is in the log.
    "ReplicatedLog: Spec <=> (AxiomSpec /\\ [](committed \\in Seq(Record)))": (
        ("MCReplicatedLog", "FollowsAxiomsProp"),
        ("MCReplicatedLogAxiom", "FollowsSpecProp"),
    ),
    # Metadata!Spec is Metadata!Init and [][Metadata!Next]_(Metadata!vars), as this property.
    "MetadataLogOverKRaft: (OverSpec /\\ OneEpochPasses) => Metadata!Spec": (
        ("MetadataLogOverKRaft", "RefinesMetadataLogFromStartProp"),
    ),
}


class Theorem(NamedTuple):
    """A THEOREM, its module, and what the module calls the formulas in it."""

    module: str
    statement: str
    names: dict[str, str]

    @property
    def conclusions(self) -> list[str]:
        """The names of what the theorem says: a formula by its name, if it has one."""
        said = re.sub(r"[()\s]", "", self.statement.rpartition("=>")[2])
        return [self.names.get(one, one) for one in said.split("/\\") if one]


def theorems_in(module: str, text: str) -> list[Theorem]:
    plain = without_comments(text)
    names = {formula: name for name, formula in DEFINITION.findall(plain)}
    return [Theorem(module, " ".join(found.split()), names) for found in STATEMENT.findall(plain)]


def unchecked(theorems: Iterable[Theorem], checked: set[tuple[str, str]]) -> list[str]:
    """Return each conclusion of a theorem that is not checked in a model with its module."""
    missing = []
    for theorem in theorems:
        label = f"{theorem.module}: {theorem.statement}"
        wanted = IN_OTHER_WORDS.get(label) or [(theorem.module, one) for one in theorem.conclusions]
        missing += [f"{label}: {name}" for module, name in wanted if (module, name) not in checked]
    return missing


@pytest.fixture(scope="module")
def theorems():
    paths = [path for path in sorted(find_specs().glob("*/*.tla")) if path.parent.name != "broken"]
    return [one for path in paths for one in theorems_in(path.stem, path.read_text("utf-8"))]


@pytest.fixture(scope="module")
def checked():
    """Each property that a model checks, beside each module that the model has."""
    found = set()
    for model in load().models:
        if model.expect == "holds":
            config = read_config(model.config)
            stems = {path.stem for path in modules_of(model)}
            found |= {(s, name) for s in stems for name in config.invariants + config.properties}
    proofs = tomllib.loads((find_specs() / "proofs.toml").read_text("utf-8"))["proof"]
    for proof in proofs:
        module = proof["module"].rpartition("/")[2].removesuffix(".tla")
        found |= {(module, name) for key in ("implies", "steps") for name in proof.get(key, ())}
    return found


def test_every_theorem_names_what_is_checked(theorems, checked):
    assert len(theorems) > 10
    assert unchecked(theorems, checked) == []


def test_every_theorem_in_other_words_is_one(theorems):
    assert {f"{one.module}: {one.statement}" for one in theorems} >= IN_OTHER_WORDS.keys()


def test_a_theorem_that_no_model_checks_is_found():
    text = "RefinesProp == Log!AxiomSpec\n\nTHEOREM Spec => Log!Spec\nTHEOREM Spec => RefinesProp\n"

    (wrong, right) = theorems_in("Lamp", text)

    assert unchecked([wrong, right], {("Lamp", "RefinesProp")}) == [
        "Lamp: Spec => Log!Spec: Log!Spec"
    ]
    assert unchecked([right], {("Other", "RefinesProp")}) == [
        "Lamp: Spec => RefinesProp: RefinesProp"
    ]


def test_a_formula_counts_under_the_name_of_its_property():
    text = "RefinesProp == Log!Spec\n\nTHEOREM A =>\n  /\\ Log!Spec\n  /\\ OtherInv\n"

    (theorem,) = theorems_in("Lamp", text)

    assert theorem.conclusions == ["RefinesProp", "OtherInv"]
    assert unchecked([theorem], {("Lamp", "RefinesProp"), ("Lamp", "OtherInv")}) == []
