"""The loop of a node: effects in their order, and nothing missed while it sleeps."""

import asyncio

from tests.kraft.hosting.hosted import process_of
from tests.kraft.node.virtual_time import run_virtually

from kraft.hosting.process import ReplicaFunctions
from kraft.node.loop import Arrived, NodeLoop
from kraft.raft import effects as does
from kraft.raft.events import Source
from kraft.raft.roles import NEVER

FLUSH = does.FlushLog()
END = does.ShutdownCompleted(True)


def answer(token):
    return does.SendResponse(Source(1, token), "answer")


class SlowDisk:
    """A disk that takes a second, and writes down what else was said meanwhile."""

    def __init__(self, said):
        self.said = said
        self.done = []

    async def perform(self, effects):
        before = list(self.said)
        await asyncio.sleep(1)
        assert self.said == before
        self.done.append((len(before), list(effects)))


class Listener:
    def __init__(self):
        self.got = []

    def receive(self, message):
        self.got.append(message.payload)
        if message.payload == "end":
            self.process.ended = END


def loop_of(listener=None):
    process = process_of(listener, ReplicaFunctions(None, lambda _: NEVER, lambda _: False))
    if listener is not None:
        listener.process = process
    process.become(None)
    disk = SlowDisk(process.outside.said)
    return NodeLoop(process, disk), disk


def test_what_follows_a_durable_effect_waits_for_the_disk():
    loop, disk = loop_of()
    effects = (answer(1), FLUSH, FLUSH, answer(2), FLUSH, answer(3), END)

    ended = run_virtually(loop.run(effects))

    assert ended is END
    assert disk.done == [(1, [FLUSH, FLUSH]), (2, [FLUSH])]
    assert [token for _, token, _ in loop.process.outside.said] == [1, 2, 3]


def test_a_message_wakes_a_loop_that_has_nothing_due():
    listener = Listener()
    loop, _ = loop_of(listener)

    async def main():
        running = asyncio.create_task(loop.run(()))
        for payload in ("one", "two", "end"):
            await asyncio.sleep(600)
            loop.deliver(Arrived(True, 1, 1, 1, payload))
        async with asyncio.timeout(1):
            return await running

    assert run_virtually(main()) is END
    assert listener.got == ["one", "two", "end"]


def test_a_message_that_comes_before_the_loop_sleeps_is_not_missed():
    listener = Listener()
    loop, _ = loop_of(listener)

    async def main():
        for payload in ("one", "end"):
            loop.deliver(Arrived(True, 1, 1, 1, payload))
        async with asyncio.timeout(1):
            return await loop.run(())

    assert run_virtually(main()) is END
    assert listener.got == ["one", "end"]
