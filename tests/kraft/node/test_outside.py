"""The outside of a node: each request that waits is answered once, or given up."""

from kraft.node.clock import Clock
from kraft.node.outside import NodeOutside


def test_a_request_is_answered_once():
    outside, said = NodeOutside(Clock()), []
    token = outside.expect(said.append)
    for response in ("first", "second"):
        outside.reply(token, response)

    assert said == ["first"]


def test_a_request_that_is_given_up_is_not_answered_and_others_are():
    outside, said = NodeOutside(Clock()), []
    tokens = [outside.expect(said.append) for _ in range(2)]
    outside.forget(tokens[0])
    for token in tokens:
        outside.reply(token, token)

    assert said == tokens[1:]
