"""The skeleton of a project, and its machine: fuzzed by name, driven through traces."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from contextlib import chdir
from types import ModuleType

import pytest
from tests.forked import PYTEST, forked

from krafla.match.corpus import read_index
from krafla.oracle import Spec
from krafla.testing.project_lookup import surroundings_of
from krafla.traces import Trace, read_trace
from krafla.verdict import KraflaError

GUARD = "if self.holder is not None or not self.queue:"


def spoil(folder):
    (server,) = folder.glob("server_*.py")
    server.write_text(server.read_text().replace(GUARD, "if not self.queue:"))


def test_a_machine_is_fuzzed_by_its_name_and_tells_what_it_covered(lock, krafla, printed):
    fuzzed = krafla("fuzz lock --examples 20 --seed 3")

    assert fuzzed.exit_code == 0, fuzzed.output
    assert "3 of 3 actions taken: Ask " in fuzzed.stdout
    assert re.search(r"\d+ distinct states of the spec", fuzzed.stdout)
    (again,) = printed(fuzzed.stdout)
    assert again == "krafla fuzz lock --seed 3 --examples 20"
    repeated = krafla(f"{again.removeprefix('krafla ')} --json")
    told = json.loads(repeated.stdout)
    judged = f"{told['steps']:,} steps and {told['refusals']:,} refusals judged by Lock"
    assert f"{told['runs']} runs, {judged}" in fuzzed.stdout
    other = json.loads(krafla("fuzz lock --examples 20 --seed 4 --json").stdout)
    assert other["actions"] != told["actions"], "the seed decides nothing"
    (file,) = lock.glob("machine_*.py")
    by_file = krafla(f"fuzz {file.name}::TestLock --examples 20 --seed 3 --json")
    assert json.loads(by_file.stdout)["actions"] == told["actions"]


def test_what_a_machine_finds_is_told_saved_and_driven_again(lock, krafla, printed):
    spoil(lock)
    found = krafla("fuzz lock --examples 30 --save found")

    assert found.exit_code == 1, found.output
    assert re.match(r"VIOLATED  LockMachine: found in run \d+, shrunk in \d+ more, ", found.stdout)
    assert "holder = Nobody\n      is false" in found.stdout
    assert "    state.grant()\n" in found.stdout
    explain, replay, _ = printed(found.stdout)
    assert explain.startswith("krafla explain found/LockMachine.trace.ndjson")
    trace = "found/LockMachine.trace.ndjson"
    assert read_trace(lock / trace).machine == "lock"
    assert krafla(replay.removeprefix("krafla ")).exit_code == 1
    driven = krafla(f"replay {trace} --impl")
    assert driven.exit_code == 1
    assert "LockMachine does what Lock does not allow" in driven.stdout
    asked = next(line for line in found.stdout.splitlines() if "# the code again" in line)
    ended = forked(PYTEST).run(lock, *asked.partition("#")[0].split()[1:])
    assert (asked.split()[0], ended.returncode) == ("pytest", 1)
    assert "1 failed" in ended.stdout
    shrunk = krafla(f"shrink {trace}")
    assert (shrunk.exit_code, "Hypothesis has shrunk it" in shrunk.stderr) == (2, True)


def test_a_kept_trace_is_driven_on_the_machine_that_failed(lock, krafla):
    (server,) = lock.glob("server_*.py")
    right = server.read_text()
    spoil(lock)
    assert krafla("fuzz lock --examples 30 --save found").exit_code == 1
    (lock / "kept").mkdir()
    trace = "found/LockMachine.trace.ndjson"
    kept = krafla(f"keep {trace} --as rejected --into kept --reason again")
    assert kept.exit_code == 0, kept.output
    assert "the implementation does it still" in " ".join(kept.stdout.split())

    spoilt = krafla("replay kept")
    (row,) = read_index(lock / "kept")
    server.write_text(right)
    for module in [one for one in sys.modules if one.startswith(("server_", "machine_"))]:
        del sys.modules[module]
    mended = krafla("replay kept")

    assert spoilt.exit_code == 1, spoilt.output
    assert "LockMachine does what Lock does not allow" in spoilt.stdout
    assert "holder = Nobody\n" in spoilt.stdout
    assert (mended.exit_code, row.kind) == (0, "rejected"), mended.output
    assert "1 denied step refused by a machine" in " ".join(mended.stdout.split())


def test_the_name_of_a_machine_is_one_class_in_every_folder(lock, krafla, monkeypatch):
    (machine,) = lock.glob("machine_*.py")
    spoil(lock)
    assert krafla("fuzz lock --examples 30 --save found").exit_code == 1
    other = lock / "other"
    other.mkdir()
    (other / machine.name).write_text("raise RuntimeError('the wrong module')\n")
    monkeypatch.chdir(other)
    for folder in (str(lock), str(other)):
        for module in [one for one in sys.modules if one.startswith(("server_", "machine_"))]:
            monkeypatch.delitem(sys.modules, module)
        # Before the project's folder there is another one, or only the other one.
        monkeypatch.setattr(sys, "path", [str(other), folder, *sys.path])
        fuzzed = krafla("fuzz lock --examples 30")
        driven = krafla("replay ../found/LockMachine.trace.ndjson --impl")
        assert (fuzzed.exit_code, driven.exit_code) == (1, 1), fuzzed.output + driven.output
        assert "LockMachine does what Lock does not allow" in driven.stdout
        assert sys.modules[machine.stem].__file__ == str(machine)
    monkeypatch.setitem(sys.modules, machine.stem, ModuleType(machine.stem))
    sys.modules[machine.stem].__file__ = str(other / machine.name)
    refused = krafla("fuzz lock")
    assert refused.exit_code == 2
    said = f"{machine.stem} was imported from {other / machine.name}, not from {machine}: give"
    assert said in refused.stderr


def test_a_machine_that_cannot_be_imported_is_told_only_if_none_fits(lock, monkeypatch):
    listing = lock / "krafla.toml"
    lost = '\n[[machine]]\nname = "lost"\nclass = "nowhere:Lost"\n'
    listing.write_text(f"{listing.read_text()}{lost}")
    around = surroundings_of(lock / "any.trace.ndjson")
    monkeypatch.setattr(Spec, "load", None)

    assert around.machine_for(Trace("Lock", ())).__name__ == "LockMachine"
    with pytest.raises(KraflaError, match="nowhere cannot be imported: ModuleNotFoundError"):
        around.machine_for(Trace("Mutex", ()))
    listing.write_text(listing.read_text().replace(lost, ""))
    assert surroundings_of(lock / "any.trace.ndjson").machine_for(Trace("Mutex", ())) is None


def test_coverage_that_is_asked_for_is_a_doubt_where_it_lacks(lock, krafla):
    (machine,) = lock.glob("machine_*.py")
    text = machine.read_text()
    machine.write_text(text.replace("if not self.server.release(client):", "if True:").replace(
        '@action("Release", client=member_of("Client"))',
        '@action("Release", client=member_of("Client"), may_refuse=True)'))  # fmt: skip

    loose = krafla("fuzz lock --examples 5")
    strict = krafla("fuzz lock --examples 5 --require-coverage")

    assert (loose.exit_code, strict.exit_code) == (0, 3), loose.output
    assert "never taken: Release" in strict.stdout


def test_code_that_raises_is_found_with_its_place(lock, krafla):
    (server,) = lock.glob("server_*.py")
    server.write_text(server.read_text().replace("self.queue.append(client)", "1 / 0"))

    found = krafla("fuzz lock --examples 5 --no-shrink")

    assert found.exit_code == 1
    assert re.match(r"VIOLATED  LockMachine: found in run \d+, [\d,]+ steps", found.stdout)
    assert "the code raised ZeroDivisionError: division by zero, " in found.stdout
    assert f"{server.name}:" in found.stdout


def test_an_interrupt_tells_what_was_covered_until_then(lock, krafla):
    (server,) = lock.glob("server_*.py")
    text = server.read_text().replace(
        "self.holder = self.queue.pop(0)",
        "self.holder = self.queue.pop(0)\n        LockServer.granted += 1\n"
        "        if LockServer.granted == 9:\n            raise KeyboardInterrupt",
    )
    server.write_text(text.replace("class LockServer:", "class LockServer:\n    granted = 0\n"))

    ended = krafla("fuzz lock --examples 50")

    assert ended.exit_code == 130, ended.output
    assert ended.stderr.endswith("krafla: interrupted\n")
    assert "INCONCLUSIVE  LockMachine: " in ended.stdout
    assert "it was interrupted" in ended.stdout
    assert "Grant 8" in ended.stdout


@pytest.mark.usefixtures("lock")
@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("locks", "nothing is called 'locks' here; did you mean lock"),
        ("nowhere.py", "nowhere.py: there is no such file"),
        ("Queue", "registration, stack; give the file of a machine of a test and its class, as"),
        ("../lock", "../lock: is no machine: give the file of a machine of a test and its class"),
        ("Lock.tla", "Lock.tla: is no machine: give the file of a machine of a test"),
        ("nowhere:Lock", "nowhere cannot be imported: ModuleNotFoundError"),
        ("json:JSONDecoder", "JSONDecoder is no SpecMachine"),
        ("lock --profile restless", "--profile: not for a machine of krafla.testing"),
    ],
)
def test_a_word_that_is_no_machine_is_refused(word, said, krafla):
    refused = krafla(f"fuzz {word}")

    assert refused.exit_code == 2
    assert said in refused.stderr


def test_a_class_of_one_test_here_is_told_how_it_is_named(lock, krafla, monkeypatch):
    (machine,) = lock.glob("machine_*.py")
    assert "here; there are: cluster, lease, lock, " in krafla("fuzz LockMachine").stderr
    own = f"; {machine.name} has a class of this name: give `{machine.name}::LockMachine`\n"
    assert krafla("fuzz LockMachine").stderr.endswith(own)
    # Also outside of a project, and in the folder of the tests.
    tests = lock.parent / "other" / "tests"
    tests.mkdir(parents=True)
    machine.rename(tests / "test_queue.py")
    monkeypatch.chdir(tests.parent)
    own = "; tests/test_queue.py has a class of this name: give `tests/test_queue.py::LockMachine`"
    assert own in krafla("fuzz LockMachine").stderr
    (tests / "test_again.py").write_text("class LockMachine(Base): ...\n")
    told = krafla("fuzz LockMachine").stderr
    assert "has a class of this name" not in told
    assert "stack; give the file of a machine of a test and its class" in told


def test_the_states_are_told_of_how_many_only_where_the_pin_counts_the_same(lock, krafla):
    (machine,) = lock.glob("machine_*.py")
    listing = lock / "krafla.toml"
    listing.write_text(listing.read_text().replace("bounds =", "distinct = 31\nbounds ="))
    line = f"fuzz {lock.name}/{machine.name}::LockMachine --examples 5"
    with chdir(lock.parent):
        assert re.search(r"\d+ of 31 distinct states of the spec", krafla(line).stdout)
    cfg = lock / "Lock.cfg"
    cfg.write_text(f"{cfg.read_text()}\nCONSTRAINT HolderInv\n")
    told = krafla("fuzz lock --examples 5").stdout
    assert re.search(r"\d+ distinct states of the spec", told)
    assert " of 31 " not in told


def test_an_action_that_is_seldom_a_step_is_told_with_what_helps(lock, krafla):
    (machine,) = lock.glob("machine_*.py")
    text = machine.read_text()
    old = '"Release", client=member_of("Client")'
    assert old in text
    usual = krafla("fuzz lock --examples 20").stdout
    one = '"Release", client=member_of("Client").filter(lambda one: one == "c3")'
    machine.write_text(text.replace(old, one))
    del sys.modules[machine.stem]
    told = krafla("fuzz lock --examples 20").stdout
    assert "seldom taken when called" not in usual
    (line,) = [one for one in told.splitlines() if "seldom taken when called: " in one]
    numbers = re.findall(r"\w+ (\d+) of (\d+) calls", line)
    assert numbers
    assert all(20 * int(taken) < int(calls) for taken, calls in numbers)
    assert line.endswith(
        "; only_if_enabled=True draws what the spec allows, or give a strategy that fits the state"
    )


def test_a_project_without_machines_is_not_told_those_of_kafka(lock, krafla):
    (lock / "krafla.toml").write_text("")
    refused = krafla("fuzz lock")
    assert refused.exit_code == 2
    assert "krafla.toml: nothing is called 'lock': it names no [[machine]]; give" in refused.stderr


def test_a_trace_that_names_none_of_two_machines_is_driven_on_neither(lock, krafla):
    listing = lock / "krafla.toml"
    text = listing.read_text()
    (target,) = re.findall(r'class = ".*"', text)
    listing.write_text(f'{text}\n[[machine]]\nname = "other"\n{target}\n')
    assert krafla("explore Lock --to 'holder # Nobody' --save way.ndjson").exit_code == 0

    driven = krafla("replay way.ndjson --impl")

    assert driven.exit_code == 2
    assert "2 machines of Lock: name one in the header" in driven.stderr
    assert '"machine": "lock" or "machine": "other"' in driven.stderr


def test_a_trace_of_a_spec_without_a_machine_is_not_driven(lock, krafla):
    (lock / "krafla.toml").write_text('[[model]]\ncfg = "Lock.cfg"\n')
    assert krafla("explore Lock --to 'holder # Nobody' --save way.ndjson").exit_code == 0

    driven = krafla("replay way.ndjson --impl")

    assert driven.exit_code == 2
    assert (
        "--impl drives Python code, and no machine of Lock is named by a krafla.toml"
        in driven.stderr
    )


def test_nothing_is_overwritten_but_an_old_gitignore_may_stay(tmp_path, krafla, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "Lock.cfg").write_text("mine")
    refused = krafla("init")
    assert (refused.exit_code, refused.stderr) == (
        2, "krafla: .: has Lock.cfg already: nothing is overwritten\n",
    )  # fmt: skip
    assert [one.name for one in tmp_path.iterdir()] == ["Lock.cfg"]
    (tmp_path / "Lock.cfg").unlink()
    (tmp_path / ".gitignore").write_text("mine")
    assert krafla("init").exit_code == 0
    assert (tmp_path / ".gitignore").read_text() == "mine"
    assert (tmp_path / "krafla.toml").is_file()


def test_pytest_is_installed_first_where_it_is_not_there(tmp_path, krafla, monkeypatch):
    there = krafla("init", tmp_path / "one").stdout
    monkeypatch.setattr("krafla.cli.init.find_spec", lambda _: None)
    lacking = krafla("init", tmp_path / "two").stdout
    assert "    pytest   " in there
    assert "    pip install pytest && pytest   " in lacking


@pytest.mark.nightly
def test_the_skeleton_holds_and_passes_as_it_is_written(tmp_path, krafla, monkeypatch):
    monkeypatch.setenv("KRAFLA_SPECS", "")
    monkeypatch.chdir(tmp_path)
    assert krafla("init").exit_code == 0

    checked = krafla("check")
    (tmp_path / "mutation.toml").touch()
    mutated = krafla("mutate . --all")
    tests = subprocess.run([sys.executable, "-m", "pytest", "-q", "."], check=False)

    assert checked.exit_code == 0, checked.output
    assert "31 distinct states (not pinned)" in checked.stdout
    assert mutated.exit_code == 0, mutated.output
    assert tests.returncode == 0
