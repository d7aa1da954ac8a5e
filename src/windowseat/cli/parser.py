"""The commands and their arguments; `docs/cli.md` is made from this.

Each command names its handler as "module:function", so that a call loads only its own code.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from windowseat import __version__
from windowseat.errors import REFUSALS, Refusal

_ABOUT = """\
One Chromium on this machine, shared by you and your coding agents. You watch its tabs
in your own browser, on the Launchpad; agents work in tabs of their own.
"""

_FIRST_STEPS = """\
first steps:
  windowseat up                     start here, and print the link to the Launchpad
  windowseat open example.com       a tab; open it on the Launchpad and work in it
  windowseat tabs                   what is open, and whose it is
  windowseat down                   end it; the next `up` brings the tabs back

agents:
  claude mcp add windowseat -- windowseat mcp
  windowseat exec -e 'tab.navigate("https://example.com"); print(tab.snapshot())'

Whatever prints facts takes --json: one document on stdout. Exit codes: 0 it worked, 1 it did
not, {codes}.
"""


class _Parser(argparse.ArgumentParser):
    """argparse, but a mistake is answered with one sentence and a next step."""

    def error(self, message: str) -> NoReturn:
        text = message.removeprefix("argument ")
        if missing := text.partition("the following arguments are required: ")[2]:
            text = f"{missing} {'are' if ', ' in missing else 'is'} missing"
        raise Refusal("bad-usage", f"{text[:1].upper()}{text[1:]}.", f"See: {self.prog} --help")


class _Help(argparse.RawDescriptionHelpFormatter):
    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=30, width=96)


_Add = Callable[..., argparse.ArgumentParser]


def parse(words: Sequence[str]) -> argparse.Namespace:
    """What a command line asks for; `command` is None where it names none.

    Raises:
        Refusal: "bad-usage", with what is wrong and where to read on.
    """
    parser = make_parser()
    commands = commands_of(parser)
    words = _help_as_option(words)
    if words and not words[0].startswith("-") and words[0] not in commands:
        raise Refusal("bad-usage", _no_command(words[0], list(commands)), "See: windowseat --help")
    args, unknown = parser.parse_known_args(words)
    if unknown:
        where = commands.get(args.command, parser)
        where.error(f"{unknown[0]!r} is nothing that {where.prog} takes")
    return args


def commands_of(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """Each command's own parser, by its name."""
    found: dict[str, Any] = {}
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            found.update(action.choices)
    return found


def _help_as_option(words: Sequence[str]) -> Sequence[str]:
    # `windowseat help`, `windowseat help up`: what many try first.
    return [*words[1:2], "--help"] if words[:1] == ["help"] else words


def _no_command(word: str, known: Sequence[str]) -> str:
    import difflib

    near = difflib.get_close_matches(word, known, 1)
    return f"There is no command {word[:80]!r}" + (f"; did you mean {near[0]}?" if near else ".")


def make_parser() -> argparse.ArgumentParser:
    """The whole command line."""
    codes = ", ".join(f"{number} {code}" for code, number in REFUSALS.items())
    parser = _Parser(
        prog="windowseat",
        description=_ABOUT,
        epilog=_wrapped(_FIRST_STEPS.format(codes=codes)),
        formatter_class=_Help,
    )
    parser.add_argument("--version", action="version", version=f"windowseat {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands", required=False)

    def add(name: str, handler: str, summary: str, more: str = "", *, json: bool = True) -> _Parser:
        command: _Parser = commands.add_parser(
            name,
            help=summary,
            description=f"{summary[:1].upper()}{summary[1:]}.",
            epilog=more,
            formatter_class=_Help,
        )
        command.set_defaults(handler=handler)
        if json:
            command.add_argument("--json", action="store_true", help="print one JSON document")
        return command

    _running(add)
    _tabs(add)
    _agents(add)
    return parser


def _running(add: Callable[..., _Parser]) -> None:
    up = add("up", "windowseat.cli.up:up", "start Windowseat and print the link to the Launchpad", _UP)
    up.add_argument("--detach", action="store_true", help="go on in the background, and return when it runs")
    up.add_argument(
        "--headed", action="store_true", help="show Chromium's windows on the display, or an Xvfb"
    )
    up.add_argument("--port", type=_port, metavar="P", help="the Launchpad's port (7717; 0: a free one)")
    up.add_argument("--view-port", type=_port, metavar="P", help="the view's port (the Launchpad's and 1)")
    up.add_argument("--code-mode", action="store_true", help="let agents' sessions run Python code")
    up.add_argument("--chromium", metavar="PATH", help="the Chromium to use, instead of the one found")
    up.add_argument("--announce", metavar="SOCKET", help=argparse.SUPPRESS)
    down = add("down", "windowseat.cli.down:down", "end the hub and the browser", _DOWN)
    down.add_argument("--keep-browser", action="store_true", help="leave the browser and its pages running")
    add("status", "windowseat.cli.status:status", "what runs, and where")
    url = add(
        "url", "windowseat.cli.status:url", "print a link that lets one browser in to the Launchpad", _URL
    )
    url.add_argument("--name", help="whom the link is for, shown to the others")
    add("doctor", "windowseat.cli.doctor:doctor", "look for what is missing or wrong, and say what to do")
    demo = add(
        "demo",
        "windowseat.cli.run_demo:demo",
        "watch a scripted agent work in its tab, and join in",
        json=False,
    )
    demo.add_argument("--no-open", action="store_true", help="only print the link, open no browser")


def _tabs(add: Callable[..., _Parser]) -> None:
    tabs = add("tabs", "windowseat.cli.tabs:tabs", "list the tabs")
    tabs.add_argument("--session", metavar="S", help="only this session's")
    opening = add("open", "windowseat.cli.tabs:open_tab", "open a tab", _OPEN)
    opening.add_argument("url", metavar="URL")
    opening.add_argument("--session", metavar="S", help="whose tab it is (see `windowseat exec --help`)")
    close = add("close", "windowseat.cli.tabs:close", "close tabs for everyone; `restore` undoes it")
    close.add_argument("tabs", metavar="TAB", nargs="+", help="an id, as `windowseat tabs` lists them")
    restore = add("restore", "windowseat.cli.tabs:restore", "bring a closed tab back under its id")
    restore.add_argument("tab", metavar="TAB", nargs="?", help="its id (the tab that was closed last)")
    sleep = add(
        "sleep", "windowseat.cli.tabs:sleep", "put a tab to sleep; it keeps its place, not its memory"
    )
    sleep.add_argument("tab", metavar="TAB")
    wake = add("wake", "windowseat.cli.tabs:wake", "wake a tab")
    wake.add_argument("tab", metavar="TAB")
    add("sessions", "windowseat.cli.tabs:sessions", "list the sessions and how many tabs each has")


def _agents(add: Callable[..., _Parser]) -> None:
    execute = add("exec", "windowseat.cli.execute:execute", "run Python code in a session's kernel", _EXEC)
    execute.add_argument(
        "file", metavar="FILE", nargs="?", help="a file with the code; - reads it from stdin"
    )
    execute.add_argument("-e", dest="code", metavar="CODE", help="the code itself")
    execute.add_argument("--session", metavar="S", help="the session")
    execute.add_argument("--timeout", type=_seconds, default=50.0, metavar="SECONDS", help="at most 600 (50)")
    add(
        "mcp",
        "windowseat.cli.execute:mcp",
        "serve one agent over MCP on stdin and stdout",
        _MCP,
        json=False,
    )


def _port(text: str) -> int:
    if not text.isdigit() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is no port: 0 to 65535")
    return int(text)


def _seconds(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = -1.0
    if not 0 < found <= 600:
        raise argparse.ArgumentTypeError(f"{text!r} is no time-out: above 0, at most 600 seconds")
    return found


def _wrapped(text: str) -> str:
    import textwrap

    *paragraphs, last = text.rstrip("\n").split("\n\n")
    return "\n\n".join([*paragraphs, textwrap.fill(" ".join(last.split()), 96, break_on_hyphens=False)])


_UP = """\
The link works once, for 5 minutes; `windowseat url` prints another. On a remote machine, forward
both ports: ssh -L 7717:localhost:7717 -L 7718:localhost:7718 HOST

  windowseat up                      here, until Ctrl-C
  windowseat up --detach             in the background, with a log
  windowseat up --port 0             beside another one, on free ports (with WINDOWSEAT_HOME)
  windowseat up --code-mode          also let agents run Python
"""

_DOWN = """\
Tabs are not lost: the next `windowseat up` has them under the same ids. With --keep-browser the
pages go on by themselves and the next hub takes them over as they are.
"""

_URL = """\
The link works once, for 5 minutes. Each browser that comes in by one is a person of its own.
"""

_OPEN = """\
  windowseat open example.com
  windowseat open http://localhost:5173 --session claude-42
"""

_EXEC = """\
The session, by the first of these: --session, WINDOWSEAT_SESSION, AGENT_BROWSER_SESSION, the
thread's id of Codex, Claude Code or Goose in the environment, else one of this folder's own.
Its names live on from call to call. Needs `windowseat up --code-mode`.

  windowseat exec -e 'tab.navigate("https://example.com"); tab.snapshot()'
  windowseat exec steps.py --session shop --timeout 120
  echo 'browser.tabs()' | windowseat exec -
"""

_MCP = """\
Register it with an agent, for example:

  claude mcp add windowseat -- windowseat mcp

It starts Windowseat in the background at the agent's first call, if it does not run.
"""
