"""A conversation with a session of ``krafla judge`` in this process."""

from __future__ import annotations

import json

from tests.krafla.traces.schema_validator import Validator

from krafla.testing.judge_session import JudgeSession
from krafla.testing.schemas import SCHEMAS

ANSWERS = Validator(json.loads(SCHEMAS["answer"]()))
START = {"start": {}}
FIRST = tuple(
    f'{{"{field}":'.encode()
    for field in ("krafla_judge", "verdict", "enabled", "states", "saved", "error")
)


def step(line, **more):
    return {"step": line["action"], "parameters": line["parameters"], "seen": line["seen"], **more}


class Talk:
    """A session, and what it answered last."""

    def __init__(self, judge):
        self.session = JudgeSession(judge)
        self.answers = []

    def ask(self, request):
        text = request if isinstance(request, str | bytes) else json.dumps(request)
        line = text if isinstance(text, bytes) else text.encode()
        answer = self.session.answer(line + b"\n")
        assert answer is not None
        return self._read(answer)

    def _read(self, answer):
        assert answer.endswith(b"\n")
        assert answer.count(b"\n") == 1, "one line"
        assert answer.startswith(FIRST), "a client need not parse it to see that a step held"
        found = json.loads(answer)
        assert ANSWERS.accepts(found), found
        if "candidates" in found and "verdict" in found:
            assert ("reason" in found) == (found["verdict"] != "held"), found
            assert ("story" in found) == (found["verdict"] == "violated"), found
        self.answers.append(found)
        return found

    def hello(self):
        return self._read(self.session.hello())

    def summary(self):
        found = self._read(self.session.summary())
        assert found["exit_status"] == self.session.status
        return found
