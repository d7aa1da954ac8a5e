"""Files that people send to a tab's page: kept on disk for the tab, under ids of ours.

Each file has a folder of its own, so that it keeps the name the person gave it and no two meet.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from windowseat.errors import BrowserError

SIZE_AT_MOST: Final = 4 * 1024**3
FILES_AT_MOST: Final = 200
NAME_BYTES: Final = 200


@dataclass(frozen=True)
class Upload:
    """One file that has come: `path` is absolute, `size` in bytes."""

    id: str
    path: Path
    size: int


class Incoming:
    """One file that is coming; `finish` or `drop` ends it."""

    def __init__(self, uploads: Uploads, tab: str, id: str, path: Path, file: IO[bytes]) -> None:
        self._uploads = uploads
        self._tab = tab
        self._path = path
        self._file = file
        self.id = id
        self.size = 0

    def write(self, data: bytes) -> None:
        """Add bytes.

        Raises:
            BrowserError: "invalid-args", the file passes 4 GiB.
            OSError: the disk is full.
        """
        self.size += len(data)
        if self.size > SIZE_AT_MOST:
            raise BrowserError("invalid-args", "A file may have at most 4 GiB.")
        self._file.write(data)

    def finish(self) -> Upload:
        """The whole file is there. Raises OSError when the disk is full."""
        self._file.close()
        return self._uploads._keep(self._tab, Upload(self.id, self._path, self.size))

    def drop(self) -> None:
        """Forget it."""
        with contextlib.suppress(OSError):
            self._file.close()
        shutil.rmtree(self._path.parent, ignore_errors=True)


class Uploads:
    """All uploads, by tab. `folder` is ours alone; what a former hub left in it is removed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._kept: dict[str, dict[str, Upload]] = {}
        shutil.rmtree(folder, ignore_errors=True)

    def begin(self, tab: str, name: str) -> Incoming:
        """Start to take a file for a tab.

        Raises:
            BrowserError: "not-allowed", the tab has too many already.
            OSError: the disk cannot be written to.
        """
        if len(self._kept.get(tab, {})) >= FILES_AT_MOST:
            raise BrowserError("not-allowed", f"A tab keeps at most {FILES_AT_MOST} uploaded files.")
        id = secrets.token_hex(8)
        folder = self._folder / tab / id
        folder.mkdir(mode=0o700, parents=True)
        for above in (self._folder, self._folder / tab):
            above.chmod(0o700)
        path = folder / safe_name(name)
        file = os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")
        return Incoming(self, tab, id, path, file)

    def paths(self, tab: str, ids: tuple[str, ...]) -> list[str]:
        """The paths of these uploads of the tab.

        Raises:
            BrowserError: "not-found", one of them is not there.
        """
        kept = self._kept.get(tab, {})
        missing = [id for id in ids if id not in kept]
        if missing:
            raise BrowserError("not-found", "A file did not arrive; choose it again.")
        return [str(kept[id].path) for id in ids]

    def forget(self, tab: str) -> None:
        """The tab ended: remove its files."""
        self._kept.pop(tab, None)
        shutil.rmtree(self._folder / tab, ignore_errors=True)

    def _keep(self, tab: str, upload: Upload) -> Upload:
        self._kept.setdefault(tab, {})[upload.id] = upload
        return upload


def safe_name(name: str) -> str:
    """A file name without folders or control characters, at most 200 bytes, its ending kept."""
    bare = re.sub(r"[\x00-\x1f\x7f/\\]", "_", name.encode("utf-8", "replace").decode()).strip()
    if bare.strip(".") == "":
        return "file"
    if len(bare.encode()) <= NAME_BYTES:
        return bare
    stem, dot, ending = bare.rpartition(".")
    if not dot or len(ending) > 20:
        stem, ending = bare, ""
    room = NAME_BYTES - len((dot + ending).encode()) if ending else NAME_BYTES
    cut = stem.encode()[:room].decode("utf-8", "ignore")
    return f"{cut}.{ending}" if ending else cut
