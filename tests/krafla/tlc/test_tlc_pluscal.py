"""PlusCal is told of where its translation is missing, or older than the algorithm."""

from __future__ import annotations

import pytest

from krafla.oracle import Spec
from krafla.oracle import SpecError as RefusedSpec
from krafla.tlc.judge import judge
from krafla.tlc.outcome import Finished, SpecError
from krafla.tlc.pluscal import stale, untranslated
from krafla.tlc.run import run
from krafla.verdict import Verdict

ALGORITHM = """---- MODULE Two ----
EXTENDS Naturals
(* --algorithm Two
variables x = 0;
begin
  A: x := x + 1;
  B: x := x + 2;
end algorithm; *)
"""
TRANSLATION = """\\* BEGIN TRANSLATION (chksum(pcal) = "a5d40ee3" /\\ chksum(tla) = "d8baf63f")
VARIABLES x, pc
vars == << x, pc >>
Init == x = 0 /\\ pc = "A"
A == pc = "A" /\\ x' = x + 1 /\\ pc' = "B"
B == pc = "B" /\\ x' = x + 2 /\\ pc' = "Done"
Terminating == pc = "Done" /\\ UNCHANGED vars
Next == A \\/ B \\/ Terminating
Spec == Init /\\ [][Next]_vars
\\* END TRANSLATION
"""
TRANSLATED = f"{ALGORITHM}{TRANSLATION}====\n"
CONFIG = "SPECIFICATION Spec\n"


def test_an_algorithm_without_translation_is_told_with_its_line_and_a_command(make_model):
    model = make_model(CONFIG, "Two", text=f"{ALGORITHM}====\n")
    outcome = run(model, coverage=False).outcome

    assert isinstance(outcome, SpecError)
    assert (outcome.file, outcome.line) == (str(model.module), 3)
    assert "not translated" in outcome.message
    assert f"pcal.trans -nocfg {model.module} translates it" in outcome.message
    with pytest.raises(RefusedSpec, match=r"Two\.tla:3: the PlusCal algorithm is not translated"):
        Spec.load("Two", path=model.module, cfg=model.config)


def test_a_translation_older_than_its_algorithm_is_not_green(make_model):
    model = make_model(CONFIG, "Two", text=TRANSLATED.replace("x + 2;", "x + 3;"))
    result = run(model, coverage=False)
    (doubt,) = result.doubts

    assert isinstance(result.outcome, Finished)
    assert doubt.startswith(f"{model.module}: the PlusCal algorithm was changed after its transl")
    assert doubt in judge(model, result).reasons
    assert judge(model, result).verdict is Verdict.INCONCLUSIVE


def test_a_translation_of_the_algorithm_as_it_is_raises_no_doubt(tmp_path):
    path = tmp_path / "Two.tla"
    path.write_text(TRANSLATED)

    assert stale([path]) == ()
    assert untranslated([path]) is None


@pytest.mark.parametrize(
    "text",
    [
        TRANSLATED.replace("begin", "begn"),
        TRANSLATED.replace(' (chksum(pcal) = "a5d40ee3" /\\ chksum(tla) = "d8baf63f")', ""),
        "---- MODULE Two ----\n====\n",
    ],
    ids=["faulty algorithm", "no checksum", "no algorithm"],
)
def test_what_cannot_be_known_of_a_translation_is_no_doubt(tmp_path, text):
    path = tmp_path / "Two.tla"
    path.write_text(text)

    assert stale([path]) == ()
    assert path.read_text() == text
