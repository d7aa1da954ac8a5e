"""What a viewer can say, one dataclass per message (docs/protocols/view.md has the fields' meaning)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Hello:
    """The first message."""

    w: int
    h: int
    dpr: float = 1.0
    touch: bool = False
    visible: bool = True
    token: str | None = None
    credential: str | None = None


@dataclass(frozen=True)
class Ack:
    """Picture `n` has been drawn."""

    n: int


@dataclass(frozen=True)
class Size:
    """The size this viewer would like, in CSS pixels."""

    w: int
    h: int
    dpr: float = 1.0


@dataclass(frozen=True)
class Visible:
    """The viewer's page is shown or hidden."""

    on: bool


@dataclass(frozen=True)
class MouseMessage:
    """The pointer moved, or a button changed."""

    k: str
    x: float
    y: float
    b: int = 0
    bs: int = 0
    c: int = 1
    m: int = 0


@dataclass(frozen=True)
class WheelMessage:
    """The wheel turned, in pixels."""

    x: float
    y: float
    dx: float
    dy: float
    m: int = 0


@dataclass(frozen=True)
class Leave:
    """The pointer left the page."""


@dataclass(frozen=True)
class KeyMessage:
    """A key went down or up."""

    k: str
    key: str
    code: str = ""
    loc: int = 0
    m: int = 0
    rep: bool = False
    text: str = ""


@dataclass(frozen=True)
class TextMessage:
    """Text without a key."""

    text: str


@dataclass(frozen=True)
class ImeMessage:
    """A composition's text now, and the selection in it."""

    text: str
    start: int
    end: int


@dataclass(frozen=True)
class ImeCommit:
    """A composition ended with this text; empty: without any."""

    commit: str


@dataclass(frozen=True)
class DeleteMessage:
    """Delete so many UTF-16 units around the caret."""

    before: int
    after: int


@dataclass(frozen=True)
class TouchFinger:
    """One finger that is down."""

    id: int
    x: float
    y: float
    rx: float = 1.0
    ry: float = 1.0
    f: float = 1.0


@dataclass(frozen=True)
class TouchMessage:
    """Fingers changed; `p` are all that are down now."""

    k: str
    p: tuple[TouchFinger, ...]
    m: int = 0


@dataclass(frozen=True)
class PasteMessage:
    """Insert as if pasted."""

    text: str


@dataclass(frozen=True)
class Copy:
    """What is selected?"""


@dataclass(frozen=True)
class Cut:
    """Take what is selected."""


@dataclass(frozen=True)
class Nav:
    """A button or the address bar."""

    k: str
    text: str = ""


@dataclass(frozen=True)
class DialogAnswer:
    """The answer to a dialog."""

    id: str
    accept: bool
    text: str | None = None


@dataclass(frozen=True)
class ChooserAnswer:
    """The answer to a file chooser: ids of uploads, or `cancel`."""

    id: str
    uploads: tuple[str, ...] = ()
    cancel: bool = False


@dataclass(frozen=True)
class Wake:
    """Wake the sleeping tab."""


@dataclass(frozen=True)
class Restore:
    """Bring the closed tab back."""


@dataclass(frozen=True)
class Pong:
    """Answer to a ping."""

    id: int


Message = (
    Hello | Ack | Size | Visible | MouseMessage | WheelMessage | Leave | KeyMessage | TextMessage
    | ImeMessage | ImeCommit | DeleteMessage | TouchMessage | PasteMessage | Copy | Cut | Nav
    | DialogAnswer | ChooserAnswer | Wake | Restore | Pong
)  # fmt: skip

# The messages by which a viewer acts: the page then takes that viewer's size.
ACTS: Final = (
    WheelMessage, KeyMessage, TextMessage, ImeMessage, ImeCommit, DeleteMessage, PasteMessage, Cut, Nav
)  # fmt: skip


def acts(message: Message) -> bool:
    """Whether a viewer acts with this message (protocol, "From the viewer")."""
    if isinstance(message, MouseMessage):
        return message.k == "down"
    if isinstance(message, TouchMessage):
        return message.k == "start"
    return isinstance(message, ACTS)
