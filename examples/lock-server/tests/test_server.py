"""The server speaks with its clients over TCP."""

import asyncio

from lock_server.__main__ import Server


async def talk():
    """Let one client hold the lock, a second one wait, and the first one go away."""
    async with await asyncio.start_server(Server().serve, "127.0.0.1", 0) as server:
        address = server.sockets[0].getsockname()
        first, to_first = await asyncio.open_connection(*address)
        second, to_second = await asyncio.open_connection(*address)
        to_first.write(b"acquire\n")
        heard = [await first.readline()]
        to_second.write(b"release\nacquire\n")
        heard += [await second.readline(), await second.readline()]
        to_first.close()
        heard.append(await second.readline())
        to_second.close()
        await to_second.wait_closed()
    return [line.decode().split(":")[0].strip() for line in heard]


def test_the_lock_passes_on_when_its_holder_goes_away():
    assert asyncio.run(talk()) == ["granted", "refused", "wait", "granted"]
