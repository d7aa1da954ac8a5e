"""Which DevTools key event does a key of a person's keyboard become?

Pure: a table of Windows virtual key codes (what Chromium's own shortcuts go by), and the rules on
when a key writes text. Source: `Input.dispatchKeyEvent`, UI Events `KeyboardEvent.code` values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

ALT: Final = 1
CONTROL: Final = 2
META: Final = 4
SHIFT: Final = 8

NUMPAD: Final = 3
# A key that an input method has taken: pages see 229 and wait for the composition.
PROCESSED: Final = 229

_NAMED: Final[dict[str, int]] = {
    "Backspace": 8, "Tab": 9, "Enter": 13, "Shift": 16, "Control": 17, "Alt": 18, "AltGraph": 18,
    "Pause": 19, "CapsLock": 20, "Escape": 27, " ": 32, "PageUp": 33, "PageDown": 34, "End": 35, "Home": 36,
    "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "PrintScreen": 44, "Insert": 45,
    "Delete": 46, "Meta": 91, "ContextMenu": 93, "NumLock": 144, "ScrollLock": 145, "Clear": 12,
    "AudioVolumeMute": 173, "AudioVolumeDown": 174, "AudioVolumeUp": 175, "MediaTrackNext": 176,
    "MediaTrackPrevious": 177, "MediaStop": 178, "MediaPlayPause": 179, "BrowserBack": 166,
    "BrowserForward": 167, "BrowserRefresh": 168,
}  # fmt: skip

_BY_CODE: Final[dict[str, int]] = {
    "Semicolon": 186, "Equal": 187, "Comma": 188, "Minus": 189, "Period": 190, "Slash": 191,
    "Backquote": 192, "BracketLeft": 219, "Backslash": 220, "BracketRight": 221, "Quote": 222,
    "IntlBackslash": 226, "IntlRo": 193, "IntlYen": 255, "NumpadMultiply": 106, "NumpadAdd": 107,
    "NumpadSubtract": 109, "NumpadDecimal": 110, "NumpadDivide": 111, "NumpadEnter": 13,
    "Space": 32, "ShiftLeft": 16, "ShiftRight": 16, "ControlLeft": 17, "ControlRight": 17, "AltLeft": 18,
    "AltRight": 18, "MetaLeft": 91, "MetaRight": 92,
}  # fmt: skip


@dataclass(frozen=True)
class Key:
    """One key going down or up, in the DOM's words.

    Attributes:
        key, code: as `KeyboardEvent` has them.
        location: 0 standard, 1 left, 2 right, 3 number pad.
        modifiers: DevTools mask (Alt 1, Control 2, Meta 4, Shift 8).
        text: what the key writes, "" when nothing.
    """

    key: str
    code: str = ""
    location: int = 0
    modifiers: int = 0
    text: str = ""
    repeat: bool = False


def virtual_key_code(key: str, code: str) -> int:
    """The Windows virtual key code, 0 when there is none.

    A Latin letter goes by what is written on the key (AZERTY's A is A), a letter of another
    script by its place, so that Control+C works on a Cyrillic layout too.
    """
    if key in ("Dead", "Process"):
        return PROCESSED
    if key in _NAMED:
        return _NAMED[key]
    if code.startswith("Numpad") and len(code) == 7 and code[6].isdigit():
        return 96 + int(code[6])
    if len(key) == 1 and key.isascii() and key.isalnum():
        # Shifted digits write signs, so a digit's code stands for the sign below.
        return ord(key.upper())
    if len(key) > 1 and key[0] == "F" and key[1:].isdigit() and 1 <= int(key[1:]) <= 24:
        return 111 + int(key[1:])
    if code.startswith("Key") and len(code) == 4:
        return ord(code[3])
    if code.startswith("Digit") and len(code) == 6:
        return ord(code[5])
    return _BY_CODE.get(code, 0)


def written(key: Key) -> tuple[str, int]:
    """What the key writes, and the modifiers the page should see with it.

    A key with Control or Meta is a shortcut and writes nothing. Control and Alt together with a
    text is AltGr as some systems report it, and so is Alt with a sign outside ASCII (a Mac's
    Option): those write, and the page sees no shortcut.
    """
    modifiers, text = key.modifiers, key.text
    if key.key == "Enter" and not modifiers & (CONTROL | ALT | META):
        return "\r", modifiers
    if not text or text in ("\r", "\n"):
        return "", modifiers
    if modifiers & META:
        return "", modifiers
    if modifiers & ALT and (modifiers & CONTROL or not text.isascii()):
        return text, modifiers & ~(ALT | CONTROL)
    if modifiers & (CONTROL | ALT):
        return "", modifiers
    return text, modifiers


def down_params(key: Key) -> dict[str, Any]:
    """Parameters of `Input.dispatchKeyEvent` for the key going down."""
    text, modifiers = written(key)
    params = _common(key, modifiers)
    params["type"] = "keyDown" if text else "rawKeyDown"
    if text:
        params["text"] = text
        params["unmodifiedText"] = text
    if key.repeat:
        params["autoRepeat"] = True
    return params


def up_params(key: Key) -> dict[str, Any]:
    """Parameters of `Input.dispatchKeyEvent` for the key coming up."""
    _text, modifiers = written(key)
    return {"type": "keyUp", **_common(key, modifiers)}


def _common(key: Key, modifiers: int) -> dict[str, Any]:
    number = virtual_key_code(key.key, key.code)
    params: dict[str, Any] = {
        "key": key.key,
        "code": key.code,
        "modifiers": modifiers,
        "windowsVirtualKeyCode": number,
        "nativeVirtualKeyCode": number,
    }
    if key.location == NUMPAD:
        params["isKeypad"] = True
    elif key.location:
        params["location"] = key.location
    return params
