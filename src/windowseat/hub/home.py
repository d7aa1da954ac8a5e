"""The home on disk (contract C4): finds it, makes its folders, writes files whole.

The order of places is decided in `rules.home`. The command line imports this module at every
call, so it loads nothing but small parts of the standard library.
"""

from __future__ import annotations

import errno
import os
import pwd
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from windowseat.errors import Refusal
from windowseat.rules.home import Places, choose_places, state_folder

# Below this Chromium starts to lose what it writes; the hub refuses to start.
LEAST_FREE_BYTES = 32 * 1024 * 1024
# The runtime folder is often a small memory disk, and only small files lie there.
LEAST_FREE_RUNTIME_BYTES = 2 * 1024 * 1024

_POINTER = "runtime-folder"


class Home:
    """The folders of one home, and the names of everything in them.

    `id` is empty until `prepare` made it or found it. Paths are absolute.
    """

    # A plain class: the command line loads this at every call, and `dataclasses` costs 10 ms.
    def __init__(
        self,
        *,
        runtime: Path,
        state: Path,
        profile: Path,
        config: Path,
        sockets: Path,
        id: str = "",
        own_folder: bool = False,
    ) -> None:
        """Name the folders; `own_folder` says that `WINDOWSEAT_HOME` chose them, so no pointer is needed."""
        self.runtime = runtime
        self.state = state
        self.profile = profile
        self.config = config
        self.sockets = sockets
        self.id = id
        self._own_folder = own_folder

    def __repr__(self) -> str:
        return f"Home(runtime={str(self.runtime)!r}, state={str(self.state)!r}, id={self.id!r})"

    @property
    def hub_socket(self) -> Path:
        """The hub's main socket: the admin's (contract C6)."""
        return self.sockets / "hub.sock"

    @property
    def keeper_socket(self) -> Path:
        """Where the keeper hands the browser's pipe to a hub."""
        return self.sockets / "keeper.sock"

    @property
    def hub_lock(self) -> Path:
        """Held (flock) by the one hub of this home."""
        return self.runtime / "hub.lock"

    @property
    def keeper_lock(self) -> Path:
        """Held (flock) by the one keeper of this home."""
        return self.runtime / "keeper.lock"

    @property
    def start_lock(self) -> Path:
        """Held (flock) by a command while it starts a hub, so that two starts give one."""
        return self.runtime / "start.lock"

    @property
    def tab_list(self) -> Path:
        """The hub's list of live tabs (C4, Tab list)."""
        return self.runtime / "tabs.json"

    @property
    def token_file(self) -> Path:
        """The bearer token of the hub API on the loopback port (C6)."""
        return self.runtime / "token"

    @property
    def store(self) -> Path:
        """The hub's SQLite store."""
        return self.state / "windowseat.db"

    @property
    def admissions(self) -> Path:
        """Who was admitted to the web pages, hashed (C7)."""
        return self.state / "admissions.db"

    @property
    def id_file(self) -> Path:
        """The random id of this home. In the state folder, so that holder files outlive a reboot."""
        return self.state / "home"

    @property
    def holders(self) -> Path:
        """The folder of the holder files (C4)."""
        return self.state / "holders"

    @property
    def log_folder(self) -> Path:
        """The logs of hub, keeper and Chromium."""
        return self.state / "log"

    @property
    def workspaces(self) -> Path:
        """One folder per session, for its code's files (C10)."""
        return self.state / "workspaces"

    def folders(self) -> list[Path]:
        """Every folder of the home, parents first."""
        found = [self.runtime, self.state, self.profile, self.config, self.sockets]
        return [*dict.fromkeys(found), self.holders, self.log_folder, self.workspaces]

    def prepare(self) -> Home:
        """Make the folders (0700) and the id, and leave the pointer that clients follow.

        Raises:
            Refusal: "home-unusable" for a folder that is read-only, another user's or no folder;
                "disk-full" where there is no room to work in.
        """
        if self._own_folder:
            _make_missing(self.runtime.parent)
        if self.sockets != self.runtime:
            _make_private(self.sockets.parent)
        for folder in self.folders():
            _make_private(folder)
        _check_room(self.runtime, LEAST_FREE_RUNTIME_BYTES)
        for folder in (self.state, self.profile):
            _check_room(folder, LEAST_FREE_BYTES)
        try:
            self.id = _read_id(self.id_file) or _make_id(self.id_file)
            if not self._own_folder:
                write_whole(self.state / _POINTER, os.fsencode(self.runtime) + b"\n")
        except OSError as error:
            raise _refusal(error, self.state) from error
        return self


def find_home(environ: Mapping[str, str]) -> Home:
    """The home that this environment leads to. Makes and changes nothing.

    Raises:
        Refusal: "home-unusable" when the user has no home folder and nothing else names a place.
    """
    uid = os.getuid()
    facts = dict(environ)
    if own := facts.get("WINDOWSEAT_HOME"):
        facts["WINDOWSEAT_HOME"] = str(Path(own).expanduser().absolute())
    home_folder = _home_folder(facts, uid)
    places = choose_places(
        facts,
        home_folder=home_folder,
        uid=uid,
        pointer=_read_pointer(Path(state_folder(facts, home_folder)) / _POINTER),
        run_user_exists=_is_ours(Path(f"/run/user/{uid}")),
    )
    return _home_at(places, own_folder=bool(own))


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that a reader sees the old or the new content, never a part (0600).

    Raises:
        OSError: the disk is full or the folder cannot be written; the old file stands.
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}.{os.urandom(4).hex()}")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except BaseException:
        with suppress(OSError):
            beside.unlink()
        raise


def _home_at(places: Places, *, own_folder: bool) -> Home:
    home = Home(
        runtime=Path(places.runtime),
        state=Path(places.state),
        profile=Path(places.profile),
        config=Path(places.config),
        sockets=Path(places.sockets),
        own_folder=own_folder,
    )
    with suppress(OSError):
        home.id = _read_id(home.id_file)
    return home


def _home_folder(environ: Mapping[str, str], uid: int) -> str:
    # Clients that clear the environment lose HOME too, so the user database is asked.
    if (given := environ.get("HOME", "")).startswith("/"):
        return given
    try:
        return pwd.getpwuid(uid).pw_dir
    except KeyError:
        if environ.get("WINDOWSEAT_HOME"):
            return "/"
        raise Refusal(
            "home-unusable",
            f"User {uid} has no home folder, so there is no place for Windowseat's files.",
            "Set HOME, or WINDOWSEAT_HOME to a folder of yours.",
        ) from None


def _read_pointer(path: Path) -> str | None:
    # After a reboot the folder that it names may be gone: then it says nothing.
    try:
        named = Path(os.fsdecode(path.read_bytes().rstrip(b"\n")))
    except (OSError, ValueError):
        return None
    return str(named) if named.is_absolute() and _is_ours(named) else None


def _is_ours(folder: Path) -> bool:
    try:
        found = folder.stat()
    except (OSError, ValueError):
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()


def _read_id(path: Path) -> str:
    try:
        text = path.read_text(encoding="ascii").strip()
    except (FileNotFoundError, NotADirectoryError, UnicodeDecodeError):
        return ""
    return text if len(text) == 32 and set(text) <= set("0123456789abcdef") else ""


def _make_id(path: Path) -> str:
    # Two first starts at once must agree: a link that is there already wins.
    made = os.urandom(16).hex()
    beside = path.with_name(f".home.{os.getpid()}.{made[:8]}")
    write_whole(beside, f"{made}\n".encode())
    try:
        os.link(beside, path)
    except FileExistsError:
        if not (found := _read_id(path)):  # a damaged file: nothing can be bound to it any more
            beside.replace(path)
            return made
        return found
    finally:
        with suppress(FileNotFoundError):
            beside.unlink()
    return made


def _make_missing(folder: Path) -> None:
    # A WINDOWSEAT_HOME that is there keeps its mode: it may be a folder that others use too.
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise _refusal(error, folder) from error


def _make_private(folder: Path) -> None:
    _make_missing(folder)
    try:
        found = folder.stat()
    except OSError as error:
        raise _refusal(error, folder) from error
    if found.st_uid != os.getuid():
        raise Refusal(
            "home-unusable",
            f"The folder {folder} belongs to another user (uid {found.st_uid}).",
            "Set WINDOWSEAT_HOME to a folder of your own.",
        )
    # A folder that its owner may not write is meant so; one that others may read is tightened.
    if not found.st_mode & stat.S_IWUSR or not os.access(folder, os.W_OK | os.X_OK):
        raise _read_only(folder)
    if stat.S_IMODE(found.st_mode) & 0o077:
        try:
            folder.chmod(0o700)
        except OSError as error:
            raise _refusal(error, folder) from error


def _check_room(folder: Path, least: int) -> None:
    free = os.statvfs(folder)
    if free.f_bavail * free.f_frsize < least:
        raise _full(folder)


def _refusal(error: OSError, folder: Path) -> Refusal:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return _full(folder)
    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        return _read_only(folder)
    reason = (error.strerror or str(error)).lower()
    return Refusal(
        "home-unusable",
        f"The folder {folder} cannot be used: {reason}.",
        "Set WINDOWSEAT_HOME to a folder that you can write.",
    )


def _read_only(folder: Path) -> Refusal:
    return Refusal(
        "home-unusable",
        f"The folder {folder} cannot be written.",
        f"Make it writable (chmod u+rwx {folder}), or set WINDOWSEAT_HOME to another folder.",
    )


def _full(folder: Path) -> Refusal:
    return Refusal(
        "disk-full",
        f"The disk that holds {folder} is full.",
        "Free some space there, or set WINDOWSEAT_HOME to a folder on another disk.",
    )
