"""Messages on a socket: a length of four bytes, then JSON. Both sides use it."""

import json
import socket
import struct
import time
from typing import Any

_LENGTH = struct.Struct(">I")


class GarbledError(Exception):
    """What came is no message, or a longer one than is read."""


class ClosedError(Exception):
    """The other side has closed the socket."""


def send(channel: socket.socket, message: dict[str, Any], seconds: float | None = None) -> None:
    """Send one message. TimeoutError if the other side does not read it, ClosedError if it is gone."""
    data = json.dumps(message).encode()
    channel.settimeout(seconds)
    try:
        channel.sendall(_LENGTH.pack(len(data)) + data)
    except TimeoutError:
        raise
    except OSError as error:
        raise ClosedError from error


def receive(channel: socket.socket, most: int, seconds: float | None = None) -> dict[str, Any]:
    """The next message, of at most `most` bytes.

    Raises TimeoutError if it is not there in time, ClosedError at the end, GarbledError for anything else.
    """
    deadline = None if seconds is None else time.monotonic() + seconds
    (length,) = _LENGTH.unpack(_exactly(channel, _LENGTH.size, deadline))
    if length > most:
        raise GarbledError(f"a message of {length} bytes; at most {most} are read")
    try:
        message = json.loads(_exactly(channel, length, deadline))
    except (ValueError, RecursionError, MemoryError) as error:
        raise GarbledError("a message that is no JSON") from error
    if not isinstance(message, dict):
        raise GarbledError("a message that is no JSON object")
    return message


def _exactly(channel: socket.socket, count: int, deadline: float | None) -> bytes:
    data = bytearray()
    while len(data) < count:
        left = None if deadline is None else deadline - time.monotonic()
        if left is not None and left <= 0:
            raise TimeoutError
        channel.settimeout(left)
        try:
            part = channel.recv(min(count - len(data), 1 << 16))
        except TimeoutError:
            raise
        except OSError as error:
            raise ClosedError from error
        if not part:
            raise ClosedError
        data += part
    return bytes(data)
