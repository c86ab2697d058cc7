"""Shows that each house rule flags what it forbids, and leaves a sound tree alone."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest
from tests.tidy import (
    code_rules,
    dead_names,
    document_rules,
    family_rules,
    generic_rules,
    house_rules,
    spec_rules,
    text_rules,
)
from tests.tidy.commit_rules import THIS_FILE, subject_objection, subjects_since_the_rule

if TYPE_CHECKING:
    from pathlib import Path

DEAD = (
    ("model/krafla/dead.py", "def play(): ...\nassert f.play\n", "krafla.dead.play"),
    ("bench/dead.py", "__all__ = ['GOAL']\nGOAL = 1\n", "dead.GOAL"),
    ("model/krafla/dead.py", "GOAL, AIM = 1, 2\nassert GOAL\n", "krafla.dead.AIM"),
)
SOUND = {
    "impl/kraft/__init__.py": '"""The judged."""\n',
    "impl/kraft/controller/__init__.py": '"""Handlers."""\nfrom .lease import fence\n',
    "impl/kraft/controller/lease.py": (
        '"""Leases.\n\nKafka: `ClusterControlManager.registerBroker`.\n"""\n\n'
        "class Lease:\n"
        '    """A lease."""\n\n'
        "    def renew(self):\n"
        '        """Return it.\n\n        Spec: `Lease!Renew`.\n        """\n\n'
        "def fence(broker):  # noqa: ARG001 the interface names its argument\n"
        '    """Return nothing."""\n'
        "    try:\n        int('1')\n    except ValueError:\n        return\n"
    ),
    "impl/kraft/sim/lease/__init__.py": '"""The lease."""\n',
    "model/krafla/refinement/lease/__init__.py": '"""The lease."""\n',
    "model/krafla/fuzz/lease/__init__.py": '"""The lease."""\n',
    "impl/kraft/sim/stack/__init__.py": '"""The stack."""\n',
    "model/krafla/refinement/stack/__init__.py": '"""The stack."""\n',
    "model/krafla/fuzz/stack/__init__.py": '"""The stack."""\n',
    house_rules.COMMAND: '"""Systems."""\nNAMES = ("lease", "stack")\nassert NAMES\n',
    "model/krafla/user.py": (
        '"""Uses."""\nfrom kraft.controller import lease\nassert lease.fence, lease.Lease.renew\n'
    ),
    "model/krafla/match/words.py": (
        '"""May name a broker."""\n\nassert "abroker epochal".partition(" ")\n'
    ),
    "tests/test_lease.py": "def test_a_lease_ends():\n    assert 1 + 1 == 2\n",
    "tests/mutants/guards.py": 'MUTANTS = ["forgets-the-guard"]\n',
    "specs/lease/Lease.tla": (
        "---- MODULE Lease ----\nVARIABLES\n  (* On disk. *)\n  lease_age,  \\* How\n  \\* old.\n"
        "  status\n\n"
        "Renew(i) == TRUE\nStop ==\n  /\\ TRUE\nInv == TRUE\n"
        "Next ==\n  \\/ \\E i \\in Broker : Renew(i)\n  \\/ Stop\n\nSpec == Next\n====\n"
    ),
    "specs/lease/Small.cfg": "SPECIFICATION Spec\nINVARIANT BothInv\n",
    "specs/lease/MCLease.tla": (
        "---- MODULE MCLease ----\nEXTENDS Naturals,\n  Lease\n"
        "VARIABLE past\n\nBothInv == Inv\n===="
    ),
    "specs/lease/models.toml": (
        '[[model]]\nname = "lease-small"\nmodule = "lease/MCLease.tla"\ncfg = "lease/Small.cfg"\n'
    ),
    "specs/manifest.toml": 'rooms = ["lease"]\n',
    "specs/broken/lease/mutants.toml": (
        '[[mutant]]\nid = "forgets-the-guard"\nmodel = "lease-small"\nproperty = "Inv"\n'
    ),
    "specs/README.md": (
        "## Variables of Lease\n\n| variable | value |\n|---|---|\n"
        "| `lease_age` | a |\n| `status` | s |\n"
    ),
    "docs/naming.md": (
        "# Names\n\n## Lease\n\n| spec action | python |\n|---|---|\n"
        "| `Renew(i)` | `kraft.controller.lease.Lease.renew` |\n"
        "| `Stop` | `kraft.controller.fence` |\n"
    ),
    "docs/claims.md": (
        "| claim | invariant | test | model | mutant |\n|---|---|---|---|---|\n"
        "| it ends | `Lease!Inv` | `tests/test_lease.py::test_a_lease_ends` | `lease-small` "
        "| `forgets-the-guard` |\n"
    ),
    "tests/kips/test_kip.py": '@sentence("631-001")\ndef test_it_is_so():\n    assert 1 + 1 == 2\n',
    "docs/kip-differences.md": (
        "| topic | shown by |\n|---|---|\n| a | 631-001 |\n| b | `test_a_lease_ends` |\n"
        "| c | `Lease!Inv` |\n| d | awaits more |\n| e | not shown: so |\n\n"
        "| of the text | in the profile |\n|---|---|\n| f | yes: `kraft.controller.fence` |\n"
    ),
    "README.md": "See [the names](docs/naming.md#lease) and [below](#two-words).\n\n# Two words\n",
}
SWALLOWS = "def run(step):\n    try:\n        step()\n    except Exception:\n        return None\n"
NAMES = "## Lease\n\n| spec action | python |\n|---|---|\n"
OTHER = (
    "---- MODULE Other ----\nEXTENDS Lease,\n  FiniteSets\n\nVARIABLE began  \\* Since when.\n\n"
    "Start == TRUE\nNewInv == TRUE\n\n"
    "Begin ==\n  \\/ \\E i \\in Broker : Start\n\n"
    "Next == Begin \\/ (\\E i \\in Broker : Renew(i))\n\n====\n"
)
DIFFERENCES = "| topic | shown by |\n|---|---|\n"
CLAIMS = "| claim | invariant | test | model | mutant |\n|---|---|---|---|---|\n"

PLANTED = [
    (code_rules.files_are_short, "tests/long.py", "x = 1\n" * 401, "401 lines"),
    (
        code_rules.functions_are_short,
        "tests/long.py",
        "def long():\n" + "    x = 1\n" * 60,
        "long has 61 lines",
    ),
    (code_rules.public_names_have_docstrings, "impl/kraft/bare.py", "", "module has no docstring"),
    (
        code_rules.public_names_have_docstrings,
        "model/krafla/bare.py",
        '"""Module."""\nclass Bare:\n    """Class."""\n    def method(self): ...\n',
        "method has no docstring",
    ),
    (code_rules.packages_do_not_print, "impl/kraft/loud.py", "print('x')\n", "print()"),
    (code_rules.errors_are_not_swallowed, "tests/calm.py", SWALLOWS, "catches everything"),
    (
        code_rules.errors_are_not_swallowed,
        "tests/calm.py",
        SWALLOWS.replace("except Exception", "except"),
        "catches everything",
    ),
    (
        code_rules.errors_are_not_swallowed,
        "tests/calm.py",
        SWALLOWS.replace("except Exception", "except (ValueError, BaseException)"),
        "catches everything",
    ),
    (code_rules.silenced_checks_give_a_reason, "tests/q.py", "x = 1  # noqa: E501\n", "reason"),
    (code_rules.silenced_checks_give_a_reason, "tests/q.py", "x = 1  # noqa\n", "reason"),
    (
        code_rules.silenced_checks_give_a_reason,
        "tests/q.py",
        "x = 1  # type: ignore  # since it is so\n",
        "name of the check",
    ),
    (code_rules.tests_can_fail, "tests/test_v.py", "def test_it():\n    x = 1\n", "nothing"),
    (code_rules.tests_can_fail, "tests/test_v.py", "def test_it():\n    assert True\n", "nothing"),
    (
        house_rules.rooms_have_one_word,
        "model/krafla/fuzz/whole/__init__.py",
        "",
        "'whole': the command has no such word",
    ),
    (
        house_rules.rooms_have_one_word,
        house_rules.COMMAND,
        'NAMES = ("lease", "stack", "raft")\n',
        "the command's 'raft' has no room",
    ),
    (house_rules.rooms_have_one_word, "specs/manifest.toml", 'rooms = ["raft"]\n', "'lease'"),
    (
        house_rules.public_methods_have_callers,
        "impl/kraft/dead.py",
        "class Dead:\n    def forgotten(self): ...\n",
        "nothing in the packages uses forgotten",
    ),
    *(
        (dead_names.names_of_modules_are_used, place, text, f"nothing uses {name}")
        for place, text, name in DEAD
    ),
    (text_rules.no_forbidden_words, "docs/a.md", "see /wo" + "rk/main\n", "path of one machine"),
    (text_rules.no_forbidden_words, "Makefile", "# pypi" + ".org\n", "registry host"),
    (text_rules.no_forbidden_words, "specs/a.tla", "\\* TO" + "DO\n", "unfinished"),
    (text_rules.no_forbidden_words, "impl/a.py", "raise Not" + "ImplementedError\n", "unfinished"),
    (spec_rules.spec_references_resolve, "impl/kraft/s.py", '"""Spec: `Lease!Gone`."""\n', "Gone"),
    (spec_rules.spec_references_resolve, "impl/kraft/s.py", "# Spec: Renew.\n", "names no"),
    (spec_rules.kafka_references_name_a_class, "impl/kraft/k.py", "# Kafka: so.\n", "names no"),
    (spec_rules.every_model_is_in_the_manifest, "specs/lease/Stray.cfg", "", "no model"),
    (document_rules.links_resolve, "docs/a.md", "[gone](gone.md)\n", "dead link"),
    (document_rules.links_resolve, "docs/a.md", "[gone](../README.md#gone)\n", "dead link"),
    (document_rules.links_resolve, "docs/a.md", "[gone](#gone)\n", "dead link"),
    (document_rules.names_agree, "docs/naming.md", NAMES + "| `Gone(i)` | - |\n", "Gone"),
    (
        document_rules.names_agree,
        "docs/naming.md",
        NAMES + "| `Stop` | `kraft.controller.lease.Lease.gone` |\n",
        "no Python name",
    ),
    (document_rules.unnamed_actions, "docs/naming.md", NAMES + "| `Stop` | - |\n", "Renew"),
    (document_rules.claims_are_shown, "docs/claims.md", CLAIMS + "| so | - | - | - | - |", "shows"),
    (family_rules.every_action_has_a_name, "specs/lease/Other.tla", OTHER, "action Other!Start"),
    (family_rules.every_property_is_claimed, "specs/lease/Other.tla", OTHER, "Other!NewInv stands"),
    (
        family_rules.every_property_is_claimed,
        "docs/claims.md",
        CLAIMS + "| so | `Lease!Inv` | `tests/test_lease.py` | - | - |\n",
        "Lease!Inv stands in no claim",
    ),
    (family_rules.claims_rest_on_what_they_name, "specs/lease/Small.cfg", "", "checks Lease!"),
    (family_rules.claims_rest_on_what_they_name, "specs/lease/Small.cfg", "", "checks nothing"),
    (
        family_rules.claims_rest_on_what_they_name,
        "specs/lease/MCLease.tla",
        "---- MODULE MCLease ----\nEXTENDS Other\n\nInv == TRUE\n====\n",
        "no model of this claim checks Lease!Inv",
    ),
    (
        family_rules.claims_rest_on_what_they_name,
        "specs/broken/lease/mutants.toml",
        '[[mutant]]\nid = "forgets-the-guard"\nproperty = "OtherInv"\n',
        "mutant forgets-the-guard breaks nothing",
    ),
    (family_rules.variables_are_in_the_dictionary, "specs/lease/Other.tla", OTHER, "Other!began"),
    (
        family_rules.variables_are_in_the_dictionary,
        "specs/README.md",
        SOUND["specs/README.md"] + "| `gone` | - |\n",
        "Lease has no variable gone",
    ),
] + [
    (document_rules.claims_are_shown, "docs/claims.md", f"{CLAIMS}| so | {cells} |\n", "no such")
    for cells in (
        "`Lease!Gone` | - | - | -",
        "- | `tests/test_lease.py::test_gone` | - | -",
        "- | `tests/test_gone.py::test_a_lease_ends` | - | -",
        "- | - | `gone` | -",
        "`Lease!Inv` | - | - | `gone`",
    )
]
PLANTED += [
    (generic_rules.generic_rooms_know_no_protocol, f"model/krafla/{room}/p.py", text, message)
    for room, text, message in (
        ("match", "SPEC = 'BrokerLeaseProperties'\n", "broker is a word"),
        ("tlc", "def run(by_broker): ...\n", "broker is a word"),
        ("oracle", "class ISRShrinker: ...\n", "isr is a word"),
        ("traces", "RUN = rb'krafla fuzz (raft|cluster)'\n", "raft is a word"),
        ("report", "def show(log):\n    return log.metadata_log\n", "metadata is a word"),
        ("shrink", "def far(one):\n    return one.partitions\n", "partition is a word"),
        ("graph", "draw(quorums=2)\n", "quorum is a word"),
        ("proofs", "import krafla.kraft as other\n", "kraft is a word"),
    )
] + [
    (
        generic_rules.generic_rooms_know_no_protocol,
        "model/krafla/mutate/guards.py",
        "WORDS = 'epoch'\n",
        "quorum is an exception without need",
    )
]
PLANTED += [
    (house_rules.spark_works_on_data_frames, "model/p.py", text, "is not of DataFrames")
    for text in ("from pyspark import SparkContext\n", "s.parallelize(1)\n", "f.rdd.map(1)\n")
]
PLANTED += [
    (document_rules.differences_are_shown, "docs/kip-differences.md", text, "no such thing")
    for text in (
        f"{DIFFERENCES}| a | 631-002 |\n",
        f"{DIFFERENCES}| a | `test_gone` |\n",
        f"{DIFFERENCES}| a | `Lease!Gone` |\n",
        f"{DIFFERENCES}| a | - |\n",
        "| topic | the KIP |\n|---|---|\n| a | so |\n",
        "| of the text | in the profile |\n|---|---|\n| a | yes: `kraft.controller.gone` |\n",
    )
]


def plant(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.mark.parametrize(
    ("rule", "name", "text", "message"),
    PLANTED,
    ids=[f"{row[0].__name__}-{number}" for number, row in enumerate(PLANTED)],
)
def test_a_rule_flags_the_planted_file(tmp_path, rule, name, text, message):
    plant(tmp_path, SOUND | {name: text})

    findings = rule(tmp_path).findings

    assert any(message in str(finding) for finding in findings), findings


@pytest.mark.parametrize(
    "rule", dict.fromkeys(row[0] for row in PLANTED), ids=lambda rule: rule.__name__
)
def test_a_rule_looks_at_a_sound_tree_and_finds_nothing(tmp_path, rule):
    plant(tmp_path, SOUND)

    inspection = rule(tmp_path)

    assert inspection.looked_at
    assert not inspection.findings


def test_no_rule_reads_hidden_folders_or_installed_packages(tmp_path):
    plant(tmp_path, {".venv/lib/a.py": "print()\n", "impl/site-packages/a.py": "print()\n"})

    assert code_rules.files_are_short(tmp_path).looked_at == 0


def test_only_the_script_of_ci_may_say_where_the_corpus_is(tmp_path):
    line = "KRAFLA_CORPUS=../shared" + "/corpus\n"
    plant(tmp_path, {".ci/run": line, ".ci/other": line})

    findings = text_rules.no_forbidden_words(tmp_path).findings

    assert [finding.path for finding in findings] == [".ci/other"]


def test_every_rule_has_something_planted_for_it():
    modules = (
        code_rules,
        document_rules,
        family_rules,
        generic_rules,
        dead_names,
        house_rules,
        spec_rules,
        text_rules,
    )
    rules = {
        name
        for module in modules
        for name, value in vars(module).items()
        if getattr(value, "__annotations__", {}).get("return") == "Inspection"
    }

    # How often a class name stands takes more than one file to show.
    assert rules - {"class_names_are_not_crowded"} == {row[0].__name__ for row in PLANTED}


def test_an_action_named_where_a_module_is_extended_needs_no_second_row(tmp_path):
    plant(tmp_path, SOUND | {"specs/lease/Other.tla": OTHER})

    findings = family_rules.every_action_has_a_name(tmp_path).findings

    assert [finding.message for finding in findings] == [
        "action Other!Start has no row in docs/naming.md"
    ]


def test_a_class_name_of_four_modules_is_flagged_and_one_of_three_or_of_protocols_is_not(tmp_path):
    crowd = {f"impl/kraft/many{number}.py": "class Report: ...\n" for number in range(3)}
    rooms = {f"impl/kraft/sim/lease/r{number}.py": "class Report: ...\n" for number in range(3)}
    plant(tmp_path, SOUND | crowd | rooms)
    assert not house_rules.class_names_are_not_crowded(tmp_path).findings

    plant(tmp_path, {"model/krafla/another.py": "class Report: ...\n"})
    findings = house_rules.class_names_are_not_crowded(tmp_path).findings

    assert {finding.message for finding in findings} == {"class Report stands in 4 modules"}


@pytest.mark.parametrize(
    ("subject", "why"),
    [
        ("Add a rule about commits", None),
        ("Seed another bug", None),
        ("Merge branch 'main'", None),
        ("A" + "d" * 72, "73 characters"),
        ("add a rule", "capital"),
        ("docs: add a rule", "capital"),
        ("Add a rule.", "full stop"),
        ("Added a rule", "imperative"),
        ("Adding a rule", "imperative"),
        ("Fixes a rule", "imperative"),
        ("Deletes a rule", "imperative"),
        ("Wrote a rule", "imperative"),
        ("The rule", "imperative"),
        ("Fix: a rule", "imperative"),
        ("Merge branch wip: rewrote everything", None),
        ("Merge branch wip: rewrote everything" + "!" * 40, "76 characters"),
        ("Pass a rule", None),
        ("Focus a rule", None),
    ],
)
def test_a_subject_that_is_no_short_imperative_is_refused(subject, why):
    objection = subject_objection(subject)

    assert (objection is None) if why is None else (why in objection)


def test_only_commits_after_the_rule_are_asked(tmp_path):
    def git(*arguments):
        identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
        subprocess.run(["git", "-C", str(tmp_path), *identity, *arguments], check=True)

    git("init", "-q")
    git("commit", "-q", "--allow-empty", "-m", "an old subject, from before the rule")
    plant(tmp_path, {THIS_FILE: "rule"})
    git("add", ".")
    git("commit", "-q", "-m", "Add the rule")
    git("commit", "-q", "--allow-empty", "-m", "a new subject")

    assert subjects_since_the_rule(tmp_path) == ["a new subject"]
    assert subjects_since_the_rule(tmp_path / "tests" / "nowhere") is None
