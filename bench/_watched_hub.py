"""`windowseat` with a watch on its pipe: `python bench/_watched_hub.py LOG ARGUMENTS...`.

Each screencast frame that is read from the pipe becomes one line of LOG: the steady clock's
seconds at which it was read, its checksum and its length in base64, by which a client that got the
picture can name it. Everything else is the product as it is.
"""

from __future__ import annotations

import sys
import time
import zlib
from pathlib import Path

from windowseat.chromium.connection import Connection
from windowseat.cli.main import main

SIGN = b'"method":"Page.screencastFrame"'


def watch(log: Path) -> None:
    """Note every frame before the hub does anything with it."""
    out = log.open("w", buffering=1)
    receive = Connection._receive

    def noted(self: Connection, raw: bytes) -> None:
        if SIGN in raw[:200]:
            start = raw.index(b'"data":"') + 8
            end = raw.index(b'"', start)
            out.write(f"{time.monotonic():.6f} {zlib.crc32(raw[start:end])} {end - start}\n")
        receive(self, raw)

    Connection._receive = noted  # type: ignore[method-assign]


if __name__ == "__main__":
    watch(Path(sys.argv[1]))
    sys.argv = ["windowseat", *sys.argv[2:]]
    sys.exit(main(sys.argv[1:]))
