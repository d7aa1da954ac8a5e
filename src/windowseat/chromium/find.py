"""Which Chromium is on this machine?

Looks at `WINDOWSEAT_CHROMIUM`, then at the places where Debian, Google, Playwright and agent-browser
put theirs, and names the real binary: launcher scripts of distributions add flags of their own
(Debian's ends with `--disable-extensions-except`), and the keeper must own the browser's pid. A snap
is left out: it may not write the profile folder. Installs nothing; starts no window.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from windowseat.errors import Refusal

INSTALL: Final = "apt-get install chromium"
VERSION_TIMEOUT: Final = 20.0

# Launcher scripts and the binaries that they end in.
_BEHIND: Final[Mapping[str, str]] = {
    "/usr/bin/chromium": "/usr/lib/chromium/chromium",
    "/usr/bin/google-chrome": "/opt/google/chrome/chrome",
    "/usr/bin/google-chrome-stable": "/opt/google/chrome/chrome",
    "/opt/google/chrome/google-chrome": "/opt/google/chrome/chrome",
    "/usr/bin/google-chrome-beta": "/opt/google/chrome-beta/chrome",
    "/usr/bin/google-chrome-unstable": "/opt/google/chrome-unstable/chrome",
}

_SYSTEM: Final[tuple[tuple[str, str], ...]] = (
    ("debian", "/usr/lib/chromium/chromium"),
    ("chromium", "/usr/lib64/chromium-browser/chromium-browser"),
    ("chrome", "/opt/google/chrome/chrome"),
    ("chrome", "/opt/google/chrome-beta/chrome"),
)

# Below the home folder (or where the variable says): kind, variable, folder, pattern.
_CACHES: Final[tuple[tuple[str, str, str, str], ...]] = (
    ("playwright", "PLAYWRIGHT_BROWSERS_PATH", ".cache/ms-playwright", "chromium-*/chrome-linux*/chrome"),
    ("agent-browser", "", ".agent-browser/browsers", "chrome-*/**/chrome"),
    ("chrome-for-testing", "PUPPETEER_CACHE_DIR", ".cache/puppeteer", "chrome/*/chrome-linux*/chrome"),
)


@dataclass(frozen=True)
class Found:
    """A Chromium that can be started.

    Attributes:
        path: the real binary, not a launcher script.
        kind: "named" (by `WINDOWSEAT_CHROMIUM`), "debian", "chromium", "chrome", "playwright",
            "agent-browser" or "chrome-for-testing".
        version: such as "156.0.8078.114".
    """

    path: str
    kind: str
    version: str

    @property
    def major(self) -> int:
        """The first number of the version."""
        return int(self.version.partition(".")[0])


def find_chromium(environ: Mapping[str, str], *, system: str = "/") -> Found:
    """Return the first Chromium that is there and answers with a version.

    Args:
        environ: the environment; `WINDOWSEAT_CHROMIUM`, `HOME`, `PATH` and the caches' variables count.
        system: the folder that stands for `/`, for tests.

    Raises:
        Refusal: "no-chromium", with the command that installs one.
    """
    named = environ.get("WINDOWSEAT_CHROMIUM")
    if named:
        return _named(named, environ)
    broken: list[str] = []
    for kind, path in _candidates(environ, system):
        version = read_version(path)
        if version is not None:
            return Found(path, kind, version)
        broken.append(path)
    if broken:
        raise Refusal(
            "no-chromium",
            f"{broken[0]} is there but does not start.",
            f"Run `{broken[0]} --version` to see why, or install one: {_install_command()}",
        )
    raise Refusal(
        "no-chromium",
        "No Chromium was found on this machine.",
        f"Install one: {_install_command()} (or set WINDOWSEAT_CHROMIUM to one that you have).",
    )


def read_version(path: str) -> str | None:
    """The version that the binary prints (`--version` opens no window), or None if it does not run."""
    try:
        done = subprocess.run(
            [path, "--version"],
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=VERSION_TIMEOUT,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = re.search(rb"\b(\d+\.\d+\.\d+\.\d+)\b", done.stdout)
    return match.group(1).decode() if match else None


def _named(named: str, environ: Mapping[str, str]) -> Found:
    path = shutil.which(named, path=environ.get("PATH", os.defpath))
    version = read_version(_real_binary(path)) if path else None
    if path is None or version is None:
        what = "is not there or may not be run" if path is None else "does not answer as a Chromium"
        raise Refusal(
            "no-chromium",
            f"WINDOWSEAT_CHROMIUM names {named}, which {what}.",
            f"Correct or unset it, or install one: {_install_command()}",
        )
    return Found(_real_binary(path), "named", version)


def _real_binary(path: str) -> str:
    """The binary behind a known launcher script, or the path itself."""
    behind = _BEHIND.get(path) or _BEHIND.get(os.path.realpath(path))
    return behind if behind and _runs(behind) else path


def _candidates(environ: Mapping[str, str], system: str) -> Iterator[tuple[str, str]]:
    for kind, path in _SYSTEM:
        whole = str(Path(system) / path.lstrip("/"))
        if _runs(whole):
            yield kind, whole
    home = Path(environ["HOME"]) if environ.get("HOME") else None
    for kind, variable, folder, pattern in _CACHES:
        where = environ.get(variable) if variable else None
        base = Path(where) if where else home / folder if home else None
        if base is None or not base.is_dir():
            continue
        found = [path for path in base.glob(pattern) if _runs(str(path))]
        for newest in sorted(found, key=_newest_first):
            yield kind, str(newest)
    # A distribution that we do not know: its launcher works too, as it ends in `exec`.
    for name in ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"):
        launcher = shutil.which(name, path=environ.get("PATH", os.defpath)) if system == "/" else None
        if launcher and not _is_snap(launcher):
            yield "chromium" if "chromium" in name else "chrome", _real_binary(launcher)


def _newest_first(path: Path) -> list[int]:
    return [-int(number) for number in re.findall(r"\d+", str(path))]


def _runs(path: str) -> bool:
    return Path(path).is_file() and os.access(path, os.X_OK)


def _is_snap(path: str) -> bool:
    if "/snap/" in os.path.realpath(path):
        return True
    # Ubuntu's chromium-browser package is a script that only starts the snap.
    try:
        with Path(path).open("rb") as file:
            return b"/snap/" in file.read(4096)
    except OSError:
        return False


def _install_command() -> str:
    return INSTALL if os.geteuid() == 0 else f"sudo {INSTALL}"
