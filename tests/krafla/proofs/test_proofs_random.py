"""z3 holds nothing that TLC refutes: random modules, and translators that are wrong in one rule."""

from __future__ import annotations

import os
import random
from collections import Counter

import pytest
import z3
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.krafla.proofs.random_modules import evaluating, stepping
from tests.krafla.proofs.wrong_rules import MORE_WRONG_RULES, WRONG_RULES

from krafla.oracle import EvaluationError, Spec, explore
from krafla.proofs import sorts, translate
from krafla.proofs.errors import Untranslatable
from krafla.proofs.obligations import cases
from krafla.proofs.plans import trial_plan
from krafla.proofs.theory import RULES, Theory
from krafla.values import ModelValue

NODES = {ModelValue("n1"), ModelValue("n2")}
EFFORT = 500_000
STATES = 60
# A module takes a second, so there are fewer of them than of other examples: 2,000 at night.
SHARE = 5 if os.environ.get("KRAFLA_NIGHTLY") else 15
MODULES = settings(max_examples=settings().max_examples // SHARE)


@st.composite
def modules(draw, make, **options):
    """Draw a random module: every choice is one of Hypothesis."""
    return make(lambda choices: draw(st.sampled_from(choices)), "Random", **options)


def proved(theory, path, claims):
    """Return whether z3 shows every obligation of claims: with types, and all that has a meaning.

    Whether the actions are possible is not asked: a vacuous proof must not be wrong either.
    """
    for case in cases(theory, trial_plan(path, claims)):
        solver = z3.Solver()
        solver.set("rlimit", EFFORT)
        solver.add(*case.premises, *(one.formula for one in case.hypotheses))
        for goal in case.goals:
            solver.push()
            solver.add(z3.Not(goal.formula))
            if solver.check() != z3.unsat:
                return False
            solver.pop()
    return True


def refuted(path, claims, none):
    """Return the claims that TLC finds false, or without a meaning, in a state that it reaches."""
    spec = Spec.load(path.stem, {"Node": NODES, "None": none}, path=path)
    try:
        states = explore(spec, limit=STATES).states
    except EvaluationError:
        return set(claims)
    return {claim for claim in claims if not all(holds(spec, claim, state) for state in states)}


def holds(spec, claim, state):
    try:
        return spec.check_invariant("TypeOK", state) and spec.check_invariant(claim, state)
    except EvaluationError:
        return False


def judged(module, folder, *, rules=RULES, known=(), refused=None):
    """Return the claims that z3 proves, those that TLC refutes, and how many z3 was asked about.

    ``refused`` gets the claims that have no translation.
    """
    path = folder / f"{module.name}.tla"
    path.write_text(module.text)
    theory = Theory.load(module.name, path=path, rules=rules)
    held, asked = set(), 0
    for claim in module.claims:
        try:
            if proved(theory, path, (*known, claim)):
                held.add(claim)
        except Untranslatable:
            if refused is not None:
                refused.add(claim)
            continue
        asked += 1
    return held, refuted(path, module.claims, module.none) if asked else set(), asked


@MODULES
@given(module=st.one_of(modules(evaluating), modules(stepping)))
def test_z3_proves_no_claim_that_tlc_refutes(module, tmp_path_factory):
    held, false, _ = judged(module, tmp_path_factory.mktemp("random"), known=known(module))

    assert not held & false, module.text


def known(module):
    return ("KnownInv",) if "KnownInv" in module.text else ()


def drawn(make, seed, **options):
    chance = random.Random(seed)
    return make(lambda choices: chance.choice(list(choices)), f"Random{seed}", **options)


def test_some_random_claims_are_proved_and_some_refuted(tmp_path):
    total = Counter()
    for make in (evaluating, stepping):
        for seed in range(4):
            module = drawn(make, seed)
            held, false, asked = judged(module, tmp_path, known=known(module))
            total.update(held=len(held), false=len(false), asked=bool(asked))

    assert total["held"] >= 3
    assert total["false"] >= 15
    assert total["asked"] >= 5


# What an expression must have in it for a rule to be used; the others are in every module.
WORDS = {
    "TRUE": "TRUE", "FALSE": "FALSE", "BOOLEAN": "BOOLEAN", "STRING": "STRING", "Int": "Int",
    "\\land": " /\\ ", "\\lor": " \\/ ", "\\lnot": "(~", "=>": " => ",
    "\\equiv": " <=> ", "$IfThenElse": "IF", "$Case": "CASE", "/=": " # ", "<": " < ",
    ">": " > ", "\\leq": " <= ", "\\geq": " >= ", "+": " + ", "-": " - ", "*": " * ", "-.": "(-",
    "$BoundedForall": "\\A", "$BoundedExists": "\\E", "Nat": "Nat", "..": " .. ",
    "\\in": " \\in ", "\\notin": "\\notin", "$SetEnumerate": "{{{}, z}}", "$SubsetOf": "{{x \\in",
    "$SetOfAll": "{{{} :", "\\union": "\\cup",
    "\\intersect": "\\cap", "\\": " \\ ", "\\subseteq": "subseteq", "SUBSET": "SUBSET",
    "$BoundedChoose": "CHOOSE", "DOMAIN": "DOMAIN", "$FcnConstructor": "{{z}} |->",
    "$FcnApply": "}[", "$SetOfFcns": "-> {}]", "$SetOfRcds": "[kind :",
    "$RcdConstructor": "[kind |->", "$RcdSelect": "}.", "$Tuple": "<<", "$Except": "EXCEPT",
    ":>": ":>", "@@": "@@",
}  # fmt: skip


# Most rules are noticed within ten modules, the order of the arms of CASE in the 11th.
SEEDS = 200


def evaluated_only(operator, wrong, module):
    """Return a rule that is wrong in the expressions of Evaluate and right in all around them.

    A wrong rule in ASSUME or TypeOK would prove or lose every claim, whatever is evaluated.
    """
    lines = {
        number
        for number, line in enumerate(module.text.splitlines(), start=1)
        if line.startswith(("  /\\ \\/ ", "  /\\ UNCHANGED"))
    }

    def rule(translator, node, scope):
        chosen = wrong if node.place.line in lines else RULES[operator]
        return chosen(translator, node, scope)

    return rule


def noticed(operator, wrong, module, folder):
    """Return how a module shows that a rule is wrong, or None.

    That the wrong rule has no translation where the right one has shows nothing.
    """
    rules = {**RULES, operator: evaluated_only(operator, wrong, module)}
    held, false, _ = judged(module, folder, known=known(module))
    refused = set()
    try:
        wrongly, _, _ = judged(module, folder, rules=rules, known=known(module), refused=refused)
    except (Untranslatable, AttributeError, TypeError, AssertionError):
        return None
    if wrongly & false:
        return "holds what is false"
    return "loses what is true" if held - wrongly - refused else None


def test_each_rule_has_a_wrong_one():
    assert {*WRONG_RULES, "$SquareAct"} == set(RULES)


@pytest.mark.by_day(1)
@pytest.mark.parametrize(("operator", "wrong"), [*WRONG_RULES.items(), *MORE_WRONG_RULES])
def test_a_wrong_rule_is_noticed(operator, wrong, tmp_path):
    word = WORDS.get(operator)
    assert any(
        noticed(operator, wrong, drawn(evaluating, seed, only=word), tmp_path)
        for seed in range(SEEDS)
    )


def innermost(node, scope):
    """Take any @ for that of the innermost EXCEPT around the use."""
    del node
    return list(scope.at.values())[-1].value


def the_same_name(name, type_):
    """Give the domains of all levels one name."""
    del type_
    return name


WRONG_PARTS = {
    "innermost": (translate, "_replaced", innermost, evaluating, {"only": "LET z == @"}),
    "levels": (sorts, "_name_of_result", the_same_name, evaluating, {"only": "None \\in DOMAIN"}),
}


# LetAt and NestedFunction of test_proofs_sound.py ask for these by day.
@pytest.mark.nightly
@pytest.mark.parametrize("part", WRONG_PARTS)
def test_a_wrong_part_of_the_translator_is_noticed(part, tmp_path, monkeypatch):
    owner, name, wrong, make, options = WRONG_PARTS[part]
    modules = [drawn(make, seed, **options) for seed in range(60)]

    def is_noticed(module):
        with monkeypatch.context() as patched:
            patched.setattr(owner, name, wrong)
            refused = set()
            wrongly, false, _ = judged(module, tmp_path, known=known(module), refused=refused)
        if wrongly & false:
            return True
        held, _, _ = judged(module, tmp_path, known=known(module)) if false else (set(), 0, 0)
        return bool(held - wrongly - refused)

    assert any(map(is_noticed, modules))
