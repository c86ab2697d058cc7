"""`make test-fast`: which tests are chosen for a change, why, and what is left out for time."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tests.affected.budget import slowest_above
from tests.affected.changes import ChangesError, branch_point, changed_files
from tests.affected.choice import TRACES, Chooser
from tests.affected.durations import Recorder, name_of
from tests.affected.import_graph import ImportGraph, Source, read_source
from tests.forked import PYTEST, forked

ROOT = Path(__file__).parents[1]


def git(folder, *words):
    given = ("-c", "user.name=a", "-c", "user.email=a@b")
    subprocess.run(["git", "-C", str(folder), *given, *words], check=True, capture_output=True)


def test_what_has_changed_is_committed_edited_new_or_gone(tmp_path):
    git(tmp_path, "init", "-b", "main")
    for name in ("kept", "edited", "gone", "moved", ".gitignore"):
        (tmp_path / name).write_text(f"{name}\n")
    (tmp_path / ".gitignore").write_text("ignored\n")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-m", "One")
    git(tmp_path, "checkout", "-b", "branch")
    (tmp_path / "committed").write_text("")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-m", "Two")
    (tmp_path / "edited").write_text("otherwise")
    (tmp_path / "gone").unlink()
    (tmp_path / "moved").rename(tmp_path / "here")
    (tmp_path / "ignored").write_text("")
    (tmp_path / "n\u00e9w file").write_text("")

    changed = changed_files(tmp_path, branch_point(tmp_path))
    assert changed == ["committed", "edited", "gone", "here", "moved", "n\u00e9w file"]
    assert "committed" not in changed_files(tmp_path, "HEAD")


def test_outside_a_checkout_and_for_an_unknown_commit_it_is_not_known(tmp_path):
    assert branch_point(tmp_path) == "HEAD"
    with pytest.raises(ChangesError, match="since 'HEAD'; see --base"):
        changed_files(tmp_path, "HEAD")
    with pytest.raises(ChangesError, match="'nowhere'"):
        changed_files(ROOT, "nowhere")


@pytest.fixture
def graph(tmp_path):
    """A graph of a few modules: a command and a system that are loaded by their names."""
    modules = {
        "kraft": set(),
        "kraft.log": {"kraft"},
        "krafla": set(),
        "krafla.values": {"krafla"},
        "krafla.cli": {"krafla"},
        "krafla.cli.audit": {"krafla.cli", "kraft.log"},
        "krafla.cli.fuzz": {"krafla.cli", "krafla.fuzz.engine.system"},
        "krafla.fuzz.engine.system": {"krafla"},
        "krafla.fuzz.lease.system": {"krafla.values", "krafla.fuzz.engine.system"},
        "krafla.fuzz.raft.system": {"kraft.log", "krafla.fuzz.engine.system"},
        "krafla.pytest_plugin": {"krafla"},
    }
    sources = {
        "tests/conftest.py": Source(("krafla.values",), ()),
        "tests/helper.py": Source(("krafla.cli.application",), ("no verb",)),
        "tests/test_values.py": Source(("krafla.values.thing",), ()),
        "tests/test_audit.py": Source(("tests.helper.run",), ("audit", "a.log")),
        "tests/test_fuzz.py": Source(("tests.helper.run",), ("fuzz lease --seed 1",)),
        "tests/test_fuzzes.py": Source(("krafla.cli",), ("fuzz",)),
        "tests/test_child.py": Source(("krafla.cli.audit",), ("lease",)),
        "tests/test_process.py": Source((), ("from krafla.cli import main", "audit")),
        "tests/data/test_data.py": Source(("kraft",), ()),
        "tests/late/test_late.py": Source((), ("tests.late.", "f'{name}'")),
        "tests/late/by_name.py": Source(("kraft.log",), ()),
        "tests/late/test_more.py": Source(("krafla.cli.audit",), ()),
    }
    return ImportGraph(tmp_path, modules, sources)


@pytest.mark.parametrize(
    ("test", "reached", "not_reached"),
    [
        ("values", {"krafla.values"}, {"krafla.cli", "kraft.log"}),
        ("audit", {"krafla.cli.audit", "kraft.log"}, {"krafla.cli.fuzz"}),
        ("fuzz", {"krafla.cli.fuzz", "krafla.fuzz.lease.system"}, {"krafla.fuzz.raft.system"}),
        # Without the name of a system it may load each of them.
        ("fuzzes", {"krafla.fuzz.lease.system", "krafla.fuzz.raft.system"}, {"krafla.cli.audit"}),
        # A module of a package runs it, and loads nothing by it.
        ("child", {"krafla.cli", "krafla.cli.audit"}, {"krafla.cli.fuzz"}),
        ("process", {"krafla.cli.audit"}, {"krafla.cli.fuzz"}),
    ],
)
def test_a_test_reaches_what_it_imports_and_what_it_names_to_a_loader(
    graph, test, reached, not_reached
):
    chain = graph.chains(f"tests/test_{test}.py")
    assert reached <= {*chain}
    assert not not_reached & {*chain}
    # Whatever a conftest above it needs, it needs.
    assert "krafla.values" in chain


def chosen(graph, *changed):
    return Chooser(graph).choose([*changed])


def test_a_module_chooses_the_tests_that_reach_it_and_says_the_way(graph):
    choice = chosen(graph, "impl/kraft/log/__init__.py")
    assert choice.tests == {
        "tests/test_audit.py": "tests/helper.py > krafla.cli > krafla.cli.audit > kraft.log",
        "tests/test_child.py": "krafla.cli.audit > kraft.log",
        "tests/test_process.py": "krafla.cli > krafla.cli.audit > kraft.log",
        "tests/late/test_late.py": "tests/late/by_name.py > kraft.log",
        "tests/late/test_more.py": "krafla.cli.audit > kraft.log",
        "tests/test_fuzzes.py": "krafla.cli > krafla.cli.fuzz > krafla.fuzz.engine.system > "
        "krafla.fuzz.raft.system > kraft.log",
    }


def test_a_test_chooses_itself_a_helper_its_users_and_a_conftest_all_below_it(graph):
    assert chosen(graph, "tests/test_values.py").tests == {"tests/test_values.py": "itself"}
    users = {"tests/test_audit.py", "tests/test_fuzz.py"}
    assert {*chosen(graph, "tests/helper.py").tests} == users
    assert {*chosen(graph, "tests/conftest.py").tests} == {*graph.tests}


def test_a_file_of_data_chooses_what_names_it_or_lies_beside_it(graph):
    assert chosen(graph, "anywhere/a.log").tests == {"tests/test_audit.py": "anywhere/a.log"}
    beside = chosen(graph, "tests/data/more/some.bin")
    assert beside.tests == {"tests/data/test_data.py": "tests/data/more/some.bin"}
    choice = chosen(graph, "README.md", "a.logs")
    assert (choice.tests, choice.unreached) == ({}, ["README.md", "a.logs"])


def test_imports_for_types_alone_and_docstrings_count_for_nothing(tmp_path):
    path = tmp_path / "test_it.py"
    path.write_text(
        '"""Of krafla.audit."""\nfrom typing import TYPE_CHECKING\n'
        "if TYPE_CHECKING:\n    from krafla.types import A\nelse:\n    import krafla.other\n"
        "def test_it():\n    from krafla import values, match as m\n    assert 'krafla.late:f'\n"
    )
    source = read_source(path)
    assert {*source.imports} == {
        "typing.TYPE_CHECKING", "krafla.other", "krafla.values", "krafla.match",
    }  # fmt: skip
    assert source.texts == ("krafla.late:f",)


@pytest.fixture(scope="module")
def here():
    """The chooser of this repository."""
    return Chooser(ImportGraph.of(ROOT))


@pytest.mark.parametrize(
    ("changed", "tests", "others"),
    [
        (
            # Loaded because specs/lease/traces.toml names it.
            "model/krafla/refinement/lease/elapsed.py",
            {"tests/krafla/match/test_claim_check.py"},
            {"tests/krafla/tlc/test_tlc_output.py"},
        ),
        (
            "impl/kraft/raft/machine.py",
            {"tests/kraft/raft/test_elections.py", "tests/krafla/fuzz/test_systems.py"},
            {"tests/krafla/proofs/test_proofs_theory.py", "tests/krafla/tlc/test_tlc_judge.py"},
        ),
        (
            "model/krafla/fuzz/cluster/system.py",
            {"tests/krafla/fuzz/test_systems.py", "tests/mutants/test_choice_mutants.py"},
            {"tests/kraft/raft/test_elections.py", "tests/krafla/cli/test_cli_audit.py"},
        ),
        (
            "specs/lease/UntimedLease.tla",
            {"tests/krafla/cli/test_cli_explore.py", "tests/krafla/audit/test_audit_steps.py"},
            {"tests/kraft/raft/test_elections.py", "tests/krafla/test_values.py"},
        ),
        (
            "specs/raft/models.toml",
            {"tests/krafla/test_manifest.py"},
            {"tests/kraft/raft/test_elections.py"},
        ),
        (
            "model/krafla/report/templates/trace_arrows.js",
            {"tests/krafla/report/test_explain_page.py"},
            {"tests/kraft/raft/test_elections.py"},
        ),
        (
            ".ci/night/stages.py",
            {"tests/test_night.py", "tests/krafla/verify/test_verify_depth.py"},
            {"tests/kraft/raft/test_elections.py", "tests/test_bench.py"},
        ),
        (
            "bench/bench_audit.py",
            {"tests/test_bench.py"},
            {"tests/kraft/raft/test_elections.py", "tests/test_night.py"},
        ),
        (
            "traces/accepted/lease/register-and-unfence.ndjson",
            {TRACES, "tests/krafla/test_pytest_plugin.py"},
            {"tests/kraft/raft/test_elections.py"},
        ),
    ],
)
def test_in_this_repository_a_change_chooses_the_tests_of_its_room(here, changed, tests, others):
    found = {*here.choose([changed]).tests}
    assert tests <= found
    assert not others & found
    assert not {one for one in found if not (ROOT / one).exists()}


def test_the_slowest_are_left_out_until_the_others_fit():
    seconds = {"a::1": 5.0, "a::2": 1.0, "b::1": 4.0, "b::2": 9.0, "c::1": 9.0}
    assert slowest_above(seconds, 28) == []
    assert slowest_above(seconds, 27) == ["b::2"]
    assert slowest_above(seconds, 6) == ["b::2", "c::1", "a::1"]
    assert slowest_above(seconds, 10, kept=["b"]) == ["c::1", "a::1", "a::2"]
    assert slowest_above({}, 0) == []


@pytest.mark.by_day(1)
@pytest.mark.parametrize("workers", [(), ("-n", "2", "--dist", "loadgroup")])
def test_what_is_left_out_is_counted_and_told(tmp_path, workers):
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "test_many.py").write_text(
        "import pytest\n@pytest.mark.parametrize('n', range(10))\ndef test_it(n): pass\n"
    )
    path = f"import sys\nsys.path.insert(0, {str(ROOT)!r})\n"
    (tmp_path / "conftest.py").write_text(f"{path}pytest_plugins = ['tests.affected.budget']\n")
    words = ("-p", "no:cacheprovider", "--seconds-of-tests")
    ended = forked(PYTEST).run(tmp_path, *words, "0.1", *workers)

    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "5 passed" in ended.stdout
    assert "5 tests that this change can break were left out" in " ".join(ended.stdout.split())
    assert "test_many.py::test_it[0]" in ended.stdout
    if workers:
        return
    everything = forked(PYTEST).run(tmp_path, *words, "1")
    assert "10 passed" in everything.stdout
    assert "left out" not in everything.stdout
    own = forked(PYTEST).run(tmp_path, *words, "0", "--never-left-out", "test_many.py")
    assert "10 passed" in own.stdout


def test_a_record_replaces_the_files_that_ran_and_keeps_the_others(tmp_path, monkeypatch):
    record = tmp_path / "durations.json"
    record.write_text('{"a.py::old": 3.0, "b.py::kept": 1.5}')
    monkeypatch.setattr("tests.affected.durations.RECORD", record)
    recorder = Recorder()
    for name, seconds in (("a.py::new@spark", 0.4), ("a.py::new@spark", 0.5), ("a.py::short", 0.1)):
        recorder.pytest_runtest_logreport(report := pytest.TestReport(
            name, ("a.py", 1, name), {}, "passed", None, "call", duration=seconds
        ))  # fmt: skip
        assert report.passed
    recorder.pytest_sessionfinish()

    assert record.read_text() == '{\n"a.py::new": 0.9,\n"b.py::kept": 1.5\n}\n'
    assert name_of("a.py::test[x@y z]@tests.a.test_b") == "a.py::test[x@y z]"
