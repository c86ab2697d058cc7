"""The server: ``python -m lock_server PORT``. A client sends the lines ``acquire`` and ``release``.

It is told ``granted``, ``wait`` or ``refused``, and ``granted`` later if it had to wait.
"""

from __future__ import annotations

import asyncio
import sys
from itertools import count

from lock_server import Lock, LockError


class Server:
    """The clients that are connected, and the lock that they share."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.clients: dict[str, asyncio.StreamWriter] = {}
        self.numbers = count(1)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one client until its connection ends."""
        client = f"c{next(self.numbers)}"
        self.clients[client] = writer
        try:
            while line := (await reader.readline()).decode().strip():
                self.answer(client, line)
                await writer.drain()
        finally:
            del self.clients[client]
            before, after = self.lock.holder, self.lock.leave(client)
            if after not in (before, None):
                self.tell(after, "granted")
            writer.close()

    def answer(self, client: str, line: str) -> None:
        """Do what one line of a client asks."""
        try:
            if line == "acquire":
                self.tell(client, "granted" if self.lock.acquire(client) else "wait")
            elif line == "release":
                following = self.lock.release(client)
                self.tell(client, "released")
                if following is not None:
                    self.tell(following, "granted")
            else:
                self.tell(client, "refused: say acquire or release")
        except LockError as error:
            self.tell(client, f"refused: {error}")

    def tell(self, client: str, line: str) -> None:
        """Send a client one line."""
        self.clients[client].write(f"{line}\n".encode())


async def main(port: int) -> None:
    """Serve on a port of this machine until the process ends."""
    server = await asyncio.start_server(Server().serve, "127.0.0.1", port)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
