"""A reader waits for no writer: the one that it waited for goes on as a reader."""

import asyncio

from aiorwlock import RWLock


async def main() -> None:
    """One task writes, then also reads, then writes no more; a second one waits to read."""
    lock = RWLock()
    await lock.writer.acquire()
    reader = asyncio.create_task(lock.reader.acquire())
    await asyncio.sleep(0)
    await lock.reader.acquire()
    lock.writer.release()
    await asyncio.wait([reader], timeout=1)
    print("a second later, no task writes or waits to write; does the reader have the lock?")
    print("yes" if reader.done() else "no")
    reader.cancel()


asyncio.run(main())
