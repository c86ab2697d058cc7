"""Constants take the place of a cfg, with its properties: that is told."""

from __future__ import annotations

import json
import shutil
import warnings
from typing import TYPE_CHECKING, Any

import pytest
from tests.krafla.cli.lock_spec import krafla
from tests.krafla.testing.conftest import SPECS

from krafla.testing import Judge, ModelValue, Spec, SpecMachine, UnjudgedWarning, action, member_of
from krafla.testing.judge_session import JudgeSession
from krafla.testing.machine_judge import judge_of

if TYPE_CHECKING:
    from pathlib import Path

CONSTANTS = {"Client": {"c1", "c2"}, "Nobody": ModelValue("Nobody")}
MODELS = [{"#model": one} for one in ("c1", "c2", "Nobody")]
TOLD = "HolderInv of Lock.cfg: the constants that were given take its place"


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    module = shutil.copyfile(SPECS / "Lock.tla", tmp_path / "Lock.tla")
    lines = (SPECS / "Lock.cfg").read_text().splitlines()
    kept = [one for one in lines if "INVARIANT" not in one and "PROPERT" not in one]
    (tmp_path / "Lock.cfg").write_text("\n".join([*kept, "INVARIANT HolderInv"]))
    return module


def machine_of(module: Path, **said: Any) -> type[SpecMachine]:
    class Clients(SpecMachine):
        spec = module
        observes = False

        @action("Acquire", client=member_of("Client"))
        def acquire(self, client: str) -> None:
            """Do nothing."""

    return type("Machine", (Clients,), said)


def warned_of(machine: type[SpecMachine]) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        judge_of(machine)
        judge_of(machine)
    return [str(one.message) for one in caught if one.category is UnjudgedWarning]


def test_a_machine_whose_constants_take_the_place_of_properties_is_warned_of_once(
    lock: Path,
) -> None:
    machine = machine_of(lock, constants=CONSTANTS)
    assert warned_of(machine) == [
        f"Machine does not judge {TOLD}. Name them in spec_invariants and properties, or set both "
        "to ()"
    ]
    assert judge_of(machine).left_out == ("HolderInv",)


@pytest.mark.parametrize(
    "said",
    [
        {},
        {"constants": CONSTANTS, "spec_invariants": ("HolderInv",)},
        {"constants": CONSTANTS, "spec_invariants": ()},
    ],
)
def test_a_machine_with_the_cfg_or_that_names_them_is_not_warned_of(
    lock: Path, said: dict[str, Any]
) -> None:
    assert warned_of(machine_of(lock, **said)) == []


def test_a_session_of_the_judge_names_them_at_its_beginning(lock: Path) -> None:
    def left_out(judge: Judge) -> Any:
        return json.loads(JudgeSession(judge).hello()).get("left_out")

    spec = Spec.load(lock, CONSTANTS)
    assert left_out(Judge(spec)) == ["HolderInv"]
    assert left_out(Judge(spec, invariants=["HolderInv"])) is None
    assert left_out(Judge(Spec.load(lock))) is None


def test_validate_tells_them(lock):
    log = lock.with_name("lock.log")
    log.write_text('{"action": "Acquire", "parameters": ["c1"]}\n')
    given = lock.with_name("constants.json")
    given.write_text(json.dumps({"Client": {"#set": MODELS[:2]}, "Nobody": MODELS[2]}))
    words = ["validate", log, "--spec", lock]
    assert "left out" not in krafla(*words).output
    told = krafla(*words, "--constants", given)
    assert told.exit_code == 0, told.output
    assert f"left out {TOLD}" in " ".join(told.output.split())


MACHINE = """
from krafla.testing import ModelValue, SpecMachine, action, member_of


class Clients(SpecMachine):
    spec = "Lock.tla"
    constants = {"Client": {"c1", "c2"}, "Nobody": ModelValue("Nobody")}
    observes = False

    @action("Acquire", only_if_enabled=True)
    def acquire(self, client):
        pass

    @action("Release", only_if_enabled=True)
    def release(self, client):
        pass
"""


@pytest.mark.filterwarnings("ignore::krafla.testing.UnjudgedWarning")
def test_fuzz_tells_them(lock):
    file = lock.with_name("clients_of_two.py")
    file.write_text(MACHINE)
    words = ["fuzz", file, "--examples", "2"]
    told = krafla(*words)
    assert told.exit_code == 0, told.output
    said = f"left out: {TOLD}. Name them in spec_invariants and properties"
    assert said in " ".join(told.output.split())
    assert json.loads(krafla(*words, "--json").stdout)["left_out"] == ["HolderInv"]
