"""What one cell wrote: kept head and tail, the whole in a file once it is long (contract C10).

Lives in the kernel. Output belongs to its cell: a thread that an earlier cell left running writes
into nothing.
"""

from __future__ import annotations

import _thread
import io
import os
from typing import Any, Final

SHOWN_LIMIT: Final = 10_000
HALF: Final = SHOWN_LIMIT // 2
FILE_LIMIT: Final = 50_000_000
FILES_KEPT: Final = 20
FOLDER: Final = "output"


class CellOutput(io.TextIOBase):
    """A text stream for `sys.stdout` and `sys.stderr` while one cell runs.

    `text()` gives what is shown: all of it up to 10,000 characters, else its head and tail with the
    name of the file that holds the whole (at most 50 million characters). A disk that takes no file
    fails no cell: the answer then says so.
    """

    encoding = "utf-8"

    def __init__(self, cell: int, copy_to: int | None = None) -> None:
        """Begin the output of a cell; `copy_to` is a file descriptor that also gets its first part."""
        self._cell = cell
        self._copy_to = copy_to
        self._start = ""
        self._tail = ""
        self._total = 0
        self._filed = 0
        self._file: Any = None
        self._not_filed = ""  # why there is no file, or not all of it
        self._is_long = False
        self._path = f"{FOLDER}/cell-{cell}.txt"
        self._strangers = set(_threads()) - {_thread.get_native_id()}

    def writable(self) -> bool:
        """Yes."""
        return True

    def write(self, text: str) -> int:
        """Take some text; answers its length, as every text stream does."""
        if not isinstance(text, str):
            raise TypeError(f"only text can be written, not {type(text).__name__}")
        if self._strangers and _thread.get_native_id() in self._strangers:
            return len(text)
        clean = text.encode("utf-8", "backslashreplace").decode()  # a lone surrogate must not end the answer
        self._total += len(clean)
        room = SHOWN_LIMIT - len(self._start)
        self._start += clean[:room]
        if room > 0 and self._copy_to is not None:
            os.write(self._copy_to, clean[:room].encode())
        if self._total > SHOWN_LIMIT:
            if not self._is_long:
                self._is_long = True
                self._spill()
                clean = clean[room:]
            self._to_file(clean)
            self._tail = (self._tail + clean[-HALF:])[-HALF:]
        return len(text)

    def text(self) -> str:
        """What is shown of everything that was written."""
        if not self._is_long:
            return self._start
        left_out = self._total - 2 * HALF
        if self._not_filed:
            where = f"they could not be kept in a file: {self._not_filed}"
        elif self._filed == self._total:
            where = f"the whole is in {self._path}"
        else:
            where = f"most of it is in {self._path}"
        return f"{self._start[:HALF]}\n… {left_out:,} characters left out; {where} …\n{self._tail}"

    def end(self) -> None:
        """Close the file, if there is one."""
        if self._file is not None and not self._file.closed:
            try:
                self._file.close()
            except OSError as failure:  # what was still on its way to a full disk
                self._not_filed = _reason(failure)

    def _spill(self) -> None:
        """Begin the file with all that was held so far."""
        self._tail = self._start[-HALF:]
        try:
            os.makedirs(FOLDER, mode=0o700, exist_ok=True)  # noqa: PTH103 - pathlib costs a kernel 10 ms
            _forget_older(self._cell)
            self._file = open(self._path, "w", encoding="utf-8")  # noqa: SIM115, PTH123 - closed by end()
        except OSError as failure:
            self._not_filed = _reason(failure)
        self._to_file(self._start)

    def _to_file(self, text: str) -> None:
        room = FILE_LIMIT - self._filed
        if room <= 0 or self._not_filed or self._file.closed:
            return
        try:
            self._file.write(text[:room])
        except OSError as failure:
            self._not_filed = _reason(failure)
        else:
            self._filed += min(room, len(text))


def _reason(failure: OSError) -> str:
    return failure.strerror or type(failure).__name__


def _threads() -> list[int]:
    return [int(name) for name in os.listdir("/proc/self/task")]  # noqa: PTH208


def _forget_older(cell: int) -> None:
    """Remove output files of cells long past, so that a session's folder stays small."""
    for name in os.listdir(FOLDER):  # noqa: PTH208
        number = name.removeprefix("cell-").removesuffix(".txt")
        if number.isdigit() and int(number) <= cell - FILES_KEPT:
            os.unlink(f"{FOLDER}/{name}")  # noqa: PTH108
