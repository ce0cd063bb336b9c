"""A server of the test on the loopback address: what a function says to each request."""

import asyncio
import json
from contextlib import asynccontextmanager

__all__ = ["Asked", "answer", "serving"]


class Asked:
    """One request: its headers, in small letters, and its body."""

    def __init__(self, head, body):
        lines = head.decode().split("\r\n")
        self.line = lines[0]
        self.headers = dict(line.split(": ", 1) for line in (it for it in lines[1:] if it))
        self.headers = {name.lower(): value for name, value in self.headers.items()}
        self.body = json.loads(body) if body else None


def answer(body, *, status=200, type="application/json", headers=""):
    """A whole answer, as bytes."""
    data = body if isinstance(body, bytes) else (body if isinstance(body, str) else json.dumps(body)).encode()
    head = f"HTTP/1.1 {status} X\r\ncontent-type: {type}\r\ncontent-length: {len(data)}\r\n{headers}\r\n"
    return head.encode() + data


@asynccontextmanager
async def serving(tell):
    """The address of a server. *tell*: given what was `Asked`, gives bytes, or pieces of them; it may be async."""

    async def serve(reader, writer):
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = [
                    int(it.split(b":")[1]) for it in head.lower().split(b"\r\n") if it.startswith(b"content-length")
                ]
                told = tell(Asked(head, await reader.readexactly(length[0]) if length else b""))
                told = await told if hasattr(told, "__await__") else told
                for piece in [told] if isinstance(told, bytes) else told:
                    writer.write(piece)
                    await writer.drain()
                    await asyncio.sleep(0)
                if not isinstance(told, bytes):
                    break
        except (
            asyncio.IncompleteReadError,
            ConnectionError,
            asyncio.CancelledError,
        ):  # the client, or the test, is done
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
