"""A reader waits for no writer: the one that it waited for was cancelled."""

import asyncio

from aiorwlock import RWLock


async def main() -> None:
    """One task reads; a second one waits to write, a third one to read; the second gives up."""
    lock = RWLock()
    await lock.reader.acquire()
    writer = asyncio.create_task(lock.writer.acquire())
    await asyncio.sleep(0)
    reader = asyncio.create_task(lock.reader.acquire())
    await asyncio.sleep(0)
    writer.cancel()
    await asyncio.wait([reader], timeout=1)
    print("a second later, no task writes or waits to write; does the reader have the lock?")
    print("yes" if reader.done() else "no")
    reader.cancel()


asyncio.run(main())
