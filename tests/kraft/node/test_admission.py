"""Which requests are read at once, by the memory that their values take."""

import asyncio

import pytest
from tests.kraft.node.client import request_frame
from tests.kraft.node.one_node import CLUSTER, properties, serving

from kraft.node.admission import Admission, cost_of
from kraft.wire.apis import CONTROLLER_APIS
from kraft.wire.requests import read_response

MIB = 1024 * 1024


def test_requests_enter_in_their_order_as_far_as_they_fit():
    admission, entered = Admission(50 * MIB), []
    for name, cost in (("a", 20), ("b", 15), ("c", 5)):
        admission.enter(cost * MIB, lambda name=name: entered.append(name))
    assert (entered, admission.taken) == (["a"], 20 * MIB)

    admission.leave(20 * MIB)

    assert (entered, admission.taken) == (["a", "b", "c"], 20 * MIB)


def test_small_requests_go_before_large_ones_and_have_room_of_their_own():
    admission, entered = Admission(50 * MIB), []
    for name, cost in (("a", 30), ("b", 30), ("small", 3), ("smaller", 1)):
        admission.enter(cost * MIB, lambda name=name: entered.append(name))

    assert entered == ["a", "small", "smaller"]


def test_requests_that_are_answered_at_once_enter_one_after_the_other():
    admission, entered = Admission(100 * MIB), []

    def answer():
        entered.append(admission.taken)
        admission.leave(80 * MIB)

    admission.enter(80 * MIB, list)
    for _ in range(2000):
        admission.enter(80 * MIB, answer)
    admission.leave(80 * MIB)

    assert entered == [80 * MIB] * 2000
    assert admission.taken == 0


def test_the_largest_request_fits():
    assert cost_of(bytes([0, 3]) + bytes(2 * MIB)) <= 100 * MIB


@pytest.mark.parametrize(("size", "is_answered"), [(500, True), (2100, False)])
def test_a_long_fetch_ends_its_connection(tmp_path, size, is_answered):
    data = request_frame(1, 17, 1, {"clusterId": CLUSTER, "topics": (), "rackId": "a" * size})

    async def main():
        async with serving(properties(tmp_path)) as (_node, client):
            await client.send(data)
            if is_answered:
                return read_response(CONTROLLER_APIS[1], 17, await client.frame()).fields
            return await client.is_ended()

    assert asyncio.run(main())
