"""Raw input, editing and pointing arrive in a real page exactly."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest

from support.chromium import evaluate, open_page, running_chromium, serve_pages, wait_until
from windowseat.chromium.connection import CdpSession
from windowseat.page import editing
from windowseat.page.input import Future, Mouse, PageInput, TouchPoint
from windowseat.page.keys import ALT, CONTROL, META, NUMPAD, SHIFT, Key, virtual_key_code
from windowseat.page.page import Page
from windowseat.page.pointing import look

LONG = "".join(f"Příliš žluťoučký kůň {n} 👩‍👩‍👧 úpěl ďábelské ódy. " for n in range(50))

PAGE = """<!doctype html><meta charset=utf-8><style>body{margin:0;font:16px sans-serif}
#t,#c,#i,#p,#r{position:absolute;left:10px;width:300px}
#t{top:10px;height:100px} #c{top:120px;height:100px;border:1px solid}
#i{top:240px} #p{top:270px} #r{top:300px}
#d{position:absolute;left:400px;top:10px;width:50px;height:50px;background:red}
#z{position:absolute;left:600px;top:10px;width:100px;height:100px;background:blue}
#tt{position:absolute;left:400px;top:300px;width:200px;height:200px;background:green;touch-action:none}
#l{position:absolute;left:400px;top:100px} #big{height:3000px}</style>
<textarea id=t></textarea><div id=c contenteditable></div><input id=i><input id=p type=password>
<p id=r>plain words here</p><div id=d draggable=true>drag</div><div id=z></div><div id=tt></div>
<a id=l href="/there"><span>a link</span></a><div id=big></div>
<script>
log = [];
const kinds = ['keydown', 'keypress', 'keyup', 'beforeinput', 'compositionstart', 'compositionupdate',
  'compositionend', 'mousedown', 'mouseup', 'click', 'dblclick', 'auxclick', 'contextmenu', 'dragstart',
  'drop', 'dragend', 'touchstart', 'touchmove', 'touchend', 'paste', 'copy', 'cut'];
for (const kind of kinds) addEventListener(kind, (e) => log.push([kind, e.key ?? e.data ?? e.detail ?? '',
  e.button ?? e.code ?? [...(e.touches ?? [])].map((one) => one.identifier).join()]), true);
d.addEventListener('dragstart', (e) => e.dataTransfer.setData('text/plain', 'dragged'));
z.addEventListener('dragover', (e) => e.preventDefault());
z.addEventListener('drop', (e) => { e.preventDefault(); got = e.dataTransfer.getData('text/plain') });
</script>"""
OWN = """<!doctype html><meta charset=utf-8><textarea id=t autofocus></textarea><script>
addEventListener('paste', (e) => { e.preventDefault(); got = e.clipboardData.getData('text/plain') });
addEventListener('copy', (e) => {
  e.preventDefault();
  e.clipboardData.setData('text/plain', 'the page says');
});
t.focus();
</script>"""
INNER = """<!doctype html><meta charset=utf-8><style>body{margin:0}</style>
<textarea id=t style="width:200px;height:80px"></textarea>"""


@pytest.fixture(scope="module")
def base():
    pages = {"/": PAGE, "/own": OWN, "/inner": INNER}
    with serve_pages(pages) as address:
        other = address.replace("127.0.0.1", "localhost")
        for path, source in (("/same", "/inner"), ("/cross", f"{other}/inner")):
            pages[path] = f'<!doctype html><body style="margin:0"><iframe id=f src="{source}"></iframe>'
        yield address


class Hand:
    """A page, its raw input, and a wait for what was sent."""

    def __init__(self, session: CdpSession, page: Page) -> None:
        self.session = session
        self.page = page
        self.raw = PageInput(session)

    async def do(self, *sent: Sequence[Future]) -> None:
        for future in [one for part in sent for one in part]:
            await asyncio.wait_for(future, 10)

    async def js(self, expression: str):
        return await evaluate(self.session, expression)

    async def log(self, *kinds: str):
        entries = await self.js("log.splice(0)")
        return [tuple(entry) for entry in entries if entry[0] in kinds]

    def click(self, x: float, y: float, *, button: int = 0, clicks: int = 1) -> list[Future]:
        bit = (1, 4, 2, 8, 16)[button]
        return self.raw.press(Mouse(x, y, bit), button, clicks) + self.raw.release(
            Mouse(x, y), button, clicks
        )

    def type(self, key: str, code: str, modifiers: int = 0, text: str | None = None) -> list[Future]:
        pressed = Key(key, code, modifiers=modifiers, text=key if text is None else text)
        return self.raw.key_down(pressed) + self.raw.key_up(pressed)


@pytest.fixture
async def connection() -> AsyncIterator:
    async with running_chromium() as found:
        yield found


async def hand_at(connection, url: str) -> Hand:
    session = await open_page(connection, url)
    page = Page(session, session.target)
    await page.start()
    await page.keep_focused()
    return Hand(session, page)


async def test_buttons_counts_modifiers_and_the_wheel(connection, base: str):
    hand = await hand_at(connection, base + "/")
    await hand.do(hand.click(500, 200), hand.click(500, 200, clicks=2), hand.click(500, 200, clicks=3))
    assert [entry[1] for entry in await hand.log("click")] == [1, 2, 3]
    await hand.do(hand.click(500, 200, button=1), hand.click(500, 200, button=2))
    assert [entry[::2] for entry in await hand.log("mousedown", "auxclick", "contextmenu")] == [
        ("mousedown", 1), ("auxclick", 1), ("mousedown", 2), ("contextmenu", 2), ("auxclick", 2)
    ]  # fmt: skip
    await hand.js("addEventListener('click', (e) => keys = [e.shiftKey, e.ctrlKey, e.altKey, e.metaKey]), 0")
    at = Mouse(500, 200, 1, SHIFT | ALT)
    await hand.do(hand.raw.press(at), hand.raw.release(Mouse(500, 200, 0, SHIFT | ALT)))
    assert await hand.js("keys") == [True, False, True, False]
    await hand.do(hand.raw.wheel(Mouse(500, 250), 0, 240))
    await wait_until(lambda: hand.js("scrollY === 240"))


async def test_keys_text_and_shortcuts_in_the_order_they_were_sent(connection, base: str):
    hand = await hand_at(connection, base + "/")
    sent = hand.click(50, 50)
    for n in range(60):
        letter = "abcdefghij"[n % 10]
        code = f"Key{letter.upper()}"
        sent += hand.raw.insert_text(letter.upper()) if n % 3 == 0 else hand.type(letter, code)
    await hand.do(sent)
    assert await hand.js("t.value") == "AbcDefGhiJabCdeFghIjaBcdEfgHij" * 2
    # AltGr as some systems report it, an Option sign, a Cyrillic layout's Control+A, and Enter.
    await hand.do(
        hand.type("€", "KeyE", CONTROL | ALT), hand.type("å", "KeyA", ALT), hand.type("Enter", "Enter")
    )
    assert (await hand.js("t.value")).endswith("Hij€å\n")
    await hand.js("log.splice(0), 0")
    await hand.do(hand.type("ф", "KeyA", CONTROL), hand.type("x", "KeyX", META))
    assert await hand.js("[t.selectionStart, t.selectionEnd]") == [0, 63]
    await hand.do(hand.type("Backspace", "Backspace", text=""))
    assert await hand.js("t.value") == ""
    await hand.do(hand.type("Tab", "Tab", text=""))
    assert await hand.js("document.activeElement.id") == "c"


def test_virtual_key_codes():
    assert virtual_key_code("a", "KeyQ") == 65  # AZERTY
    assert virtual_key_code("ф", "KeyA") == 65
    assert virtual_key_code("!", "Digit1") == 49
    assert virtual_key_code("F5", "F5") == 116
    assert virtual_key_code("1", "Numpad1") == 97
    assert virtual_key_code("Dead", "Quote") == 229
    assert virtual_key_code(";", "Semicolon") == 186
    assert virtual_key_code("Mystery", "Mystery") == 0


async def test_the_number_pad_and_repeats(connection, base: str):
    hand = await hand_at(connection, base + "/")
    await hand.js("addEventListener('keydown', (e) => last = [e.location, e.repeat, e.keyCode]), t.focus()")
    await hand.do(hand.raw.key_down(Key("7", "Numpad7", NUMPAD, text="7", repeat=True)))
    assert await hand.js("last") == [3, True, 103]
    assert await hand.js("t.value") == "7"


async def test_a_composition_is_seen_live_and_committed_or_cancelled(connection, base: str):
    hand = await hand_at(connection, base + "/")
    await hand.js("t.focus()")
    await hand.do(hand.raw.compose("か", 1, 1), hand.raw.compose("かん", 2, 2), hand.raw.insert_text("漢字"))
    seen = await hand.log("compositionstart", "compositionupdate", "compositionend")
    assert [entry[:2] for entry in seen] == [
        ("compositionstart", ""), ("compositionupdate", "か"), ("compositionupdate", "かん"),
        ("compositionupdate", "漢字"), ("compositionend", "漢字"),
    ]  # fmt: skip
    await hand.do(hand.raw.compose("x", 1, 1), hand.raw.cancel_composition(), hand.type("z", "KeyZ"))
    assert await hand.js("t.value") == "漢字z"


async def paste(hand: Hand, text: str) -> None:
    insert = await editing.paste(hand.page, text)
    if insert:
        await hand.do(hand.raw.insert_text(insert))


async def test_pasting_into_every_kind_of_field_is_exact(connection, base: str):
    hand = await hand_at(connection, base + "/")
    assert len(LONG) > 2000
    lines = "one\n\ttwo  blanks\n\nend 👋"
    await hand.js("t.focus()")
    await paste(hand, LONG + lines)
    assert await hand.js("t.value") == LONG + lines
    await hand.js("i.focus()")
    await paste(hand, LONG + "two\r\nlines")
    assert await hand.js("i.value") == LONG + "two lines"
    await hand.js("c.focus()")
    await paste(hand, LONG)
    assert (await hand.js("c.innerText")).replace("\xa0", " ") == LONG
    await hand.js("c.innerHTML = ''")
    await paste(hand, "one\ntwo  blanks\nend")
    assert (await hand.js("c.innerText")).replace("\xa0", " ") == "one\ntwo  blanks\nend"
    assert len(await hand.log("paste")) == 4


async def test_a_paste_where_nothing_can_be_typed_inserts_nothing(connection, base: str):
    hand = await hand_at(connection, base + "/")
    await hand.js("document.activeElement.blur()")
    await paste(hand, "lost")
    assert await hand.js("[t.value, i.value, c.innerText]") == ["", "", ""]
    assert len(await hand.log("paste")) == 1


async def test_a_page_with_handlers_of_its_own_has_the_say(connection, base: str):
    hand = await hand_at(connection, base + "/own")
    await paste(hand, LONG)
    assert await hand.js("[got, t.value]") == [LONG, ""]
    await hand.js("t.value = 'words', t.select()")
    assert await editing.copy(hand.page) == "the page says"


async def test_copy_and_cut_take_what_is_selected_and_spare_the_clipboard(connection, base: str):
    hand = await hand_at(connection, base + "/")
    await hand.js("t.value = 'řeka 👋 most', t.focus(), t.setSelectionRange(0, 7)")
    assert await editing.copy(hand.page) == "řeka 👋"
    assert await editing.copy(hand.page, cut=True) == "řeka 👋"
    assert await hand.js("t.value") == " most"
    await hand.do(hand.type("z", "KeyZ", CONTROL))
    assert await hand.js("t.value") == "řeka 👋 most"
    await hand.js("document.activeElement.blur(), getSelection().selectAllChildren(r)")
    assert await editing.copy(hand.page) == "plain words here"
    assert await editing.copy(hand.page, cut=True) == "plain words here"
    assert await hand.js("r.textContent") == "plain words here"
    await hand.js("p.value = 'secret', p.focus(), p.select()")
    assert await editing.copy(hand.page) == ""
    # The browser's own clipboard never saw any of it.
    await hand.js("t.value = '', t.focus()")
    await hand.do(hand.type("v", "KeyV", CONTROL))
    assert await hand.js("t.value") == ""
    # (It would have shown: the browser's own copy does reach it.)
    await hand.js("t.value = 'native', t.select()")
    await hand.do(
        hand.type("c", "KeyC", CONTROL), hand.type("End", "End", text=""), hand.type("v", "KeyV", CONTROL)
    )
    assert await hand.js("t.value") == "nativenative"


@pytest.mark.parametrize("path", ["/same", "/cross"])
async def test_fields_in_frames_take_paste_and_give_copies(connection, base: str, path: str):
    hand = await hand_at(connection, base + path)
    await wait_until(lambda: path == "/same" or hand.page.frames.apart)

    async def focused() -> bool:
        await hand.do(hand.click(60, 40))  # until the frame is there to take it
        return (await editing.field(hand.page)).get("on", False)

    await wait_until(focused)
    await paste(hand, LONG)
    await hand.do(hand.type("a", "KeyA", CONTROL))
    assert await editing.copy(hand.page) == LONG
    assert await editing.erase(hand.page, 0, 0)
    assert await editing.copy(hand.page) == ""


async def test_deleting_around_the_caret(connection, base: str):
    hand = await hand_at(connection, base + "/")
    await hand.js("t.value = 'abcdef', t.focus(), t.setSelectionRange(3, 3)")
    assert await editing.erase(hand.page, 2, 1)
    assert await hand.js("[t.value, t.selectionStart]") == ["aef", 1]
    await hand.js("c.textContent = 'abcdef', c.focus(), getSelection().collapse(c.firstChild, 3)")
    assert await editing.erase(hand.page, 2, 1)
    assert await hand.js("c.textContent") == "aef"
    await hand.js(
        "c.innerHTML = 'ab<b>cd</b>ef', getSelection().collapse(c.querySelector('b').firstChild, 1)"
    )
    assert await editing.erase(hand.page, 2, 2)
    assert await hand.js("c.textContent") == "af"
    await hand.js("c.blur(), getSelection().removeAllRanges()")
    assert not await editing.erase(hand.page, 1, 0)


@pytest.mark.parametrize("patient", [True, False])
async def test_dragging_an_element_onto_another(connection, base: str, patient: bool):
    hand = await hand_at(connection, base + "/")
    raw = hand.raw
    raw.watch_drags()
    sent = raw.move(Mouse(420, 30)) + raw.press(Mouse(420, 30, 1))
    sent += raw.move(Mouse(440, 40, 1)) + raw.move(Mouse(460, 40, 1))
    if patient:
        await hand.do(sent)
        await wait_until(lambda: raw.dragging)
        sent = []
    # Impatient: the drop is sent before the browser has said that a drag began.
    sent += raw.move(Mouse(640, 40, 1)) + raw.move(Mouse(650, 50, 1)) + raw.release(Mouse(650, 50))
    await hand.do(sent)
    await wait_until(lambda: hand.js("globalThis.got === 'dragged'"))
    await wait_until(lambda: hand.js("log.some((one) => one[0] === 'dragend')"))
    assert not raw.dragging
    await hand.js("log.splice(0), 0")
    await hand.do(hand.click(500, 200))
    assert await hand.log("click") == [("click", 1, 0)]


async def test_selecting_text_by_dragging(connection, base: str):
    hand = await hand_at(connection, base + "/")
    raw = hand.raw
    raw.watch_drags()
    box = await hand.js(
        "(() => { const b = r.getBoundingClientRect(); return [b.left, b.top + b.height / 2] })()"
    )
    await hand.do(
        raw.press(Mouse(box[0], box[1], 1)),
        raw.move(Mouse(box[0] + 100, box[1], 1)),
        raw.move(Mouse(box[0] + 290, box[1], 1)),
        raw.release(Mouse(box[0] + 290, box[1])),
    )
    assert await hand.js("String(getSelection())") == "plain words here"


async def test_fingers_come_and_go_one_by_one(connection, base: str):
    hand = await hand_at(connection, base + "/")
    one, two = TouchPoint(0, 450, 350), TouchPoint(1, 500, 350)
    await hand.do(
        hand.raw.touch("start", [one]),
        hand.raw.touch("start", [one, two]),
        hand.raw.touch("move", [TouchPoint(0, 455, 360), two]),
        hand.raw.touch("end", [two]),
        hand.raw.touch("end", []),
    )
    log = [(kind, fingers) for kind, _, fingers in await hand.log("touchstart", "touchmove", "touchend")]
    assert [entry for entry in log if entry[0] != "touchmove"] == [
        ("touchstart", "0"), ("touchstart", "0,1"), ("touchend", "1"), ("touchend", "")
    ]  # fmt: skip


async def test_a_tap_is_a_click(connection, base: str):
    hand = await hand_at(connection, base + "/")
    await hand.js("l.onclick = (e) => { e.preventDefault(); tapped = true }, 0")
    box = await hand.js("(() => { const b = l.getBoundingClientRect(); return [b.left + 5, b.top + 5] })()")
    await hand.do(hand.raw.touch("start", [TouchPoint(0, *box)]), hand.raw.touch("end", []))
    await wait_until(lambda: hand.js("globalThis.tapped"))


async def test_what_lies_under_the_pointer(connection, base: str):
    hand = await hand_at(connection, base + "/")

    async def under(id: str, dx: float = 3, dy: float = 6):
        box = await hand.js(f"(() => {{ const b = {id}.getBoundingClientRect(); return [b.left, b.top] }})()")
        found = await look(hand.page, box[0] + dx, box[1] + dy)
        return found.cursor, found.link

    assert await under("t") == ("text", "")
    assert await under("c") == ("text", "")
    assert await under("l") == ("pointer", base + "/there")
    assert await under("r", 3, 9) == ("text", "")
    assert await under("r", 280, 9) == ("default", "")
    assert await under("z") == ("default", "")
    await hand.js("z.style.cursor = 'url(data:,x) 2 2, grab', 0")
    assert await under("z") == ("grab", "")
