"""With which flags is the browser started, and why?

`launch_flags` is pure: what it must know of the machine is in `LaunchOptions`, and
`options_for_this_machine` reads it. Headless and headed differ in nothing that a page can see of
the user agent, its client hints and the screen.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

SCREEN: Final = (1920, 1080)
WINDOW: Final = (1280, 800)
SMALL_SHM: Final = 2 * 1024**3

# Features that call home or stand between a person and the page.
_FEATURES_OFF: Final[Mapping[str, str]] = {
    "Translate": "offers itself in a bubble that nobody sees",
    "MediaRouter": "looks for casting devices in the network",
    "OptimizationHints": "calls home",
}


class Flag(NamedTuple):
    """One argument for Chromium, and the reason for it in a few words."""

    text: str
    reason: str


@dataclass(frozen=True)
class LaunchOptions:
    """What the flags depend on.

    Attributes:
        profile: the profile folder.
        major: first number of the browser's version, for the user agent.
        headed: windows on a display (the environment's DISPLAY) instead of none.
        screen: size of the screen that pages see; with a display, the display's own counts.
        sandbox: False only for root, who cannot have it.
        small_shm: /dev/shm is too small for the pictures of many pages.
        extra: further arguments that a person asked for.
    """

    profile: Path
    major: int
    headed: bool = False
    screen: tuple[int, int] = SCREEN
    sandbox: bool = True
    small_shm: bool = False
    extra: tuple[str, ...] = ()


def options_for_this_machine(
    profile: Path, major: int, *, headed: bool = False, extra: tuple[str, ...] = ()
) -> LaunchOptions:
    """The options for the user and machine that this process runs as and on."""
    return LaunchOptions(
        profile=profile,
        major=major,
        headed=headed,
        sandbox=os.geteuid() != 0,
        small_shm=_shm_bytes() < SMALL_SHM,
        extra=extra,
    )


def warnings_for(options: LaunchOptions) -> list[str]:
    """Sentences that a person should read before the browser starts."""
    if options.sandbox:
        return []
    return [
        "Running as root: Chromium's sandbox is off, so a page that breaks out of its renderer "
        "has the whole machine. Run Windowseat as an ordinary user."
    ]


def launch_flags(options: LaunchOptions) -> list[Flag]:
    """All arguments after the program itself; no address is opened at start."""
    asked = [Flag(text, "asked for by the person") for text in options.extra]
    return [
        *_speaking(options),
        *_looks(options),
        *_painting(),
        *_no_call_home(),
        *_no_interruptions(),
        *_machine(options),
        *asked,
    ]


def launch_environment(environ: Mapping[str, str], *, display: str | None = None) -> dict[str, str]:
    """The browser's environment: the caller's, on `display` (such as ":99") or on none at all."""
    found = {name: value for name, value in environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    if display is not None:
        found["DISPLAY"] = display
    # "no" is how Chromium is told that keys are missing on purpose: without it an info bar says so.
    for name in ("GOOGLE_API_KEY", "GOOGLE_DEFAULT_CLIENT_ID", "GOOGLE_DEFAULT_CLIENT_SECRET"):
        found.setdefault(name, "no")
    return found


def user_agent(major: int) -> str:
    """The user agent that this Chromium has with a window: reduced, the same on every Linux."""
    return (
        "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) "
        f"Chrome/{major}.0.0.0 Safari/537.36"
    )


def _speaking(options: LaunchOptions) -> list[Flag]:
    return [
        Flag("--remote-debugging-pipe", "DevTools on fds 3 and 4: no port that others could reach"),
        Flag("--enable-unsafe-extension-debugging", "lets Extensions.loadUnpacked load the bridge"),
        Flag(f"--user-data-dir={options.profile}", "a profile of Windowseat's own"),
        Flag("--no-startup-window", "the hub opens every window; the browser stays when the last one ends"),
    ]


def _looks(options: LaunchOptions) -> list[Flag]:
    # Naming the user agent empties the high-entropy client hints, so it is named either way: a site
    # that saw other hints after a change from headless to headed would ask to sign in again.
    flags = [
        Flag("--disable-blink-features=AutomationControlled", "sign-in pages refuse navigator.webdriver"),
        Flag(f"--user-agent={user_agent(options.major)}", "headless would say HeadlessChrome"),
        Flag("--window-size={},{}".format(*WINDOW), "a new window's size until a viewer says its own"),
    ]
    if options.headed:
        flags.append(Flag("--ozone-platform=x11", "the display of DISPLAY, also on a Wayland desktop"))
    else:
        flags.append(Flag("--headless=new", "no window may steal a person's focus"))
        flags.append(Flag("--screen-info={{{}x{}}}".format(*options.screen), "headless has 800x600"))
    return flags


def _painting() -> list[Flag]:
    return [
        Flag("--disable-backgrounding-occluded-windows", "a covered window is watched by a viewer"),
        Flag("--disable-renderer-backgrounding", "a page out of sight is worked in by an agent"),
        Flag("--disable-background-timer-throttling", "timers of a minimised window would stretch"),
    ]


def _no_call_home() -> list[Flag]:
    return [
        Flag("--disable-background-networking", "calls home at every start"),
        Flag("--disable-component-update", "calls home at every start"),
        Flag("--disable-sync", "calls home; the profile stays on this machine"),
        Flag("--disable-domain-reliability", "reports failed loads to their maker"),
        Flag("--disable-client-side-phishing-detection", "fetches models"),
        Flag("--disable-breakpad", "no crash reporter: its process would outlive the browser"),
        Flag("--metrics-recording-only", "no usage reports"),
        Flag("--no-pings", "no hyperlink auditing"),
        Flag("--disable-features=" + ",".join(_FEATURES_OFF), "; ".join(_FEATURES_OFF.values())),
    ]


def _no_interruptions() -> list[Flag]:
    return [
        Flag("--no-first-run", "no welcome pages"),
        Flag("--no-default-browser-check", "no question that nobody sees"),
        Flag("--disable-default-apps", "no apps installed by themselves"),
        Flag("--disable-search-engine-choice-screen", "no question that nobody sees"),
        Flag("--hide-crash-restore-bubble", "the hub brings tabs back itself"),
        Flag("--disable-prompt-on-repost", "a reload would wait for an answer nobody can give"),
        Flag("--noerrdialogs", "no error windows outside the page"),
        Flag("--password-store=basic", "no desktop keyring that asks for a password"),
    ]


def _machine(options: LaunchOptions) -> list[Flag]:
    flags: list[Flag] = []
    if not options.sandbox:
        flags.append(Flag("--no-sandbox", "root cannot have the sandbox"))
    if options.small_shm:
        flags.append(Flag("--disable-dev-shm-usage", "the shared memory folder is too small for many pages"))
    return flags


def _shm_bytes() -> int:
    """Free bytes in /dev/shm; 0 when there is none."""
    try:
        state = os.statvfs("/dev/shm")
    except OSError:
        return 0
    return state.f_bavail * state.f_frsize
