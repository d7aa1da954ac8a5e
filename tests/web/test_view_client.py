"""The view's page in a real Chromium as the person's browser, against a scripted socket."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import (
    Browser,
    BrowserContext,
    CDPSession,
    FilePayload,
    Locator,
    Page,
    ViewportSize,
    async_playwright,
    expect,
)

from support.scripted_view import ScriptedView, person, png, scripted_view, tab
from windowseat.chromium.find import find_chromium

pytestmark = pytest.mark.asyncio(loop_scope="module")

RED = (220, 40, 40)
SIZE: ViewportSize = {"width": 900, "height": 644}
BAR = 44
LONG = ('Příliš žluťoučký kůň úpěl ďábelské ódy 🐎 naïve 日本語 👩‍👩‍👧 \\ "quoted"\n\ttabbed ' * 40)[:2000]


@dataclass
class Seat:
    """One open view: the hub's side, the page, and a line to its browser for raw input."""

    hub: ScriptedView
    page: Page
    cdp: CDPSession
    url: str

    @property
    def canvas(self) -> Locator:
        return self.page.locator("#picture")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with async_playwright() as driver:
        path = str(find_chromium({}).path)
        running = await driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield running
        await running.close()


async def open_view(hub: ScriptedView, url: str, context: BrowserContext) -> Seat:
    page = await context.new_page()
    await page.goto(f"{url}#first-token")
    await hub.until(lambda: hub.connected, "the page did not connect")
    await expect(page.locator("body[data-phase=live]")).to_be_attached()
    return Seat(hub, page, await context.new_cdp_session(page), url)


async def draw(seat: Seat, width: int = 900, height: int = 600) -> None:
    """Show a picture of a page of this size and wait until it was acknowledged."""
    n = await seat.hub.picture(png(width, height, RED), width, height)
    await seat.hub.first("ack", n=n)


@pytest_asyncio.fixture(loop_scope="module")
async def seat(browser: Browser) -> AsyncIterator[Seat]:
    async with scripted_view() as (hub, url):
        context = await browser.new_context(viewport=SIZE)
        opened = await open_view(hub, url, context)
        problems: list[str] = []
        opened.page.on("pageerror", lambda error: problems.append(str(error)))
        await draw(opened)
        yield opened
        await context.close()
        assert problems == []


@pytest_asyncio.fixture(loop_scope="module")
async def phone(browser: Browser) -> AsyncIterator[Seat]:
    async with scripted_view() as (hub, url):
        context = await browser.new_context(
            viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True, device_scale_factor=2
        )
        opened = await open_view(hub, url, context)
        await draw(opened, 390, 844 - BAR)
        yield opened
        await context.close()


async def pure(seat: Seat, module: str, body: str, argument: Any = None) -> Any:
    """Run a function body over the exports `m` of one of the view's own pure modules."""
    script = f"async (a) => {{ const m = await import('/static/view/{module}'); {body} }}"
    return await seat.page.evaluate(script, argument)


def keys(seat: Seat) -> list[tuple[str, str, str | None, int]]:
    return [(one["k"], one["key"], one.get("text"), one["m"]) for one in seat.hub.of("key")]


# -- getting in -----------------------------------------------------------------------------


async def test_the_token_leaves_the_address_and_the_credential_serves_a_reload(seat: Seat) -> None:
    hello = seat.hub.hellos[0]
    assert hello["token"] == "first-token"
    assert (hello["w"], hello["h"]) == (SIZE["width"], SIZE["height"] - BAR)
    assert seat.page.url == seat.url
    await seat.page.reload()
    await seat.hub.until(lambda: len(seat.hub.hellos) == 2, "no second connection")
    assert seat.hub.hellos[1]["credential"] == "kept"
    assert "token" not in seat.hub.hellos[1]


async def test_a_spent_token_falls_back_to_the_credential(seat: Seat) -> None:
    seat.hub.deny = lambda hello: "token" in hello
    await seat.page.goto("about:blank")
    await seat.page.goto(f"{seat.url}#spent")
    await seat.hub.until(lambda: len(seat.hub.hellos) == 3, "the credential was not tried")
    assert seat.hub.hellos[2]["credential"] == "kept"
    await expect(seat.page.locator("body[data-phase=live]")).to_be_attached()


async def test_a_refused_view_says_how_to_get_in_and_stops_trying(seat: Seat) -> None:
    seat.hub.deny = lambda hello: True
    await seat.hub.cut()
    screen = seat.page.locator("#screen.denied")
    await expect(screen).to_contain_text("windowseat url")
    await expect(screen.get_by_role("link", name="Open the Launchpad")).to_have_attribute(
        "href", "http://localhost:7717/"
    )
    await seat.page.reload()  # the refused credential is forgotten: nothing to knock with
    await expect(seat.page.locator("#screen.denied")).to_be_visible()
    assert len(seat.hub.hellos) == 2


# -- pictures --------------------------------------------------------------------------------


async def test_a_picture_is_drawn_pixel_for_pixel(seat: Seat) -> None:
    box = await seat.canvas.bounding_box()
    assert box == {"x": 0, "y": BAR, "width": 900, "height": 600}
    pixel = await seat.page.evaluate(
        """() => { const from = document.querySelector("#picture");
        const copy = document.createElement("canvas");
        copy.width = from.width; copy.height = from.height; const context = copy.getContext("2d");
        context.drawImage(from, 0, 0); return [...context.getImageData(450, 300, 1, 1).data]; }"""
    )
    assert pixel == [*RED, 255]


async def test_every_picture_is_acknowledged_also_torn_and_passed_over_ones(seat: Seat) -> None:
    sent = [await seat.hub.picture(png(900, 600, (one * 20, 0, 0)), 900, 600) for one in range(8)]
    sent.append(await seat.hub.picture(b"not a picture", 900, 600))
    await seat.hub.until(lambda: len(seat.hub.of("ack")) == len(sent) + 1, "an acknowledgement is missing")
    assert sorted(one["n"] for one in seat.hub.of("ack"))[1:] == sent


async def test_another_viewers_size_is_scaled_and_points_stay_right(seat: Seat) -> None:
    await draw(seat, 1800, 600)
    box = await seat.canvas.bounding_box()
    assert box == {"x": 0, "y": BAR + 150, "width": 900, "height": 300}
    await seat.page.mouse.click(450, BAR + 150 + 100)
    down = await seat.hub.first("mouse", k="down")
    assert (down["x"], down["y"]) == (900, 200)
    await seat.page.mouse.click(450, BAR + 20)  # on the margin: nothing of the page is there
    await seat.page.mouse.click(10, BAR + 160)
    await seat.hub.until(
        lambda: len([one for one in seat.hub.of("mouse") if one["k"] == "up"]) == 2, "no click"
    )
    assert len([one for one in seat.hub.of("mouse") if one["k"] == "down"]) == 2


async def test_a_page_that_is_too_high_is_scaled_too(seat: Seat) -> None:
    await draw(seat, 900, 1200)
    assert await seat.canvas.bounding_box() == {"x": 225, "y": BAR, "width": 450, "height": 600}


async def test_a_viewer_can_give_the_page_its_own_size(seat: Seat) -> None:
    take = seat.page.get_by_role("button", name="Use my size")
    await expect(take).to_be_hidden()
    await seat.hub.send("size", w=390, h=800)
    await take.click()
    wheel = await seat.hub.first("wheel")
    assert (wheel["dx"], wheel["dy"]) == (0, 0)
    await seat.hub.send("size", w=900, h=600)
    await expect(take).to_be_hidden()


async def test_the_size_is_told_once_it_rests(seat: Seat) -> None:
    await seat.page.set_viewport_size({"width": 700, "height": 500})
    told = await seat.hub.first("size")
    assert (told["w"], told["h"]) == (700, 500 - BAR)


# -- mouse -----------------------------------------------------------------------------------


async def test_buttons_click_counts_and_modifiers(seat: Seat) -> None:
    await seat.page.mouse.dblclick(100, 200)
    await seat.page.keyboard.down("Shift")
    await seat.page.mouse.click(300, 200, button="right")
    await seat.page.keyboard.up("Shift")
    await seat.page.mouse.click(300, 250, button="middle")
    await seat.hub.first("mouse", k="up", b=1)
    downs = [(one["b"], one["bs"], one["c"], one["m"]) for one in seat.hub.of("mouse") if one["k"] == "down"]
    assert downs == [(0, 1, 1, 0), (0, 1, 2, 0), (2, 2, 1, 8), (1, 4, 1, 0)]
    first = await seat.hub.first("mouse", k="down")
    assert (first["x"], first["y"]) == (100, 200 - BAR)


async def test_a_drag_goes_on_outside_and_ends_there(seat: Seat) -> None:
    await seat.page.mouse.move(100, 100)
    await seat.page.mouse.down()
    await seat.page.mouse.move(500, 300)
    await seat.page.mouse.move(1200, -50)
    await seat.page.mouse.up()
    up = await seat.hub.first("mouse", k="up")
    assert (up["x"], up["y"], up["bs"]) == (899, 0, 0)
    moves = [one for one in seat.hub.of("mouse") if one["k"] == "move" and one["bs"] == 1]
    assert moves
    assert (moves[-1]["x"], moves[-1]["y"]) == (899, 0)


async def test_a_button_never_overtakes_the_moves_before_it(seat: Seat) -> None:
    await seat.page.evaluate(
        """() => { const area = document.querySelector("#area");
        for (const [kind, x] of [["mousemove", 10], ["mousedown", 10], ["mousemove", 90], ["mouseup", 90]])
          area.dispatchEvent(new MouseEvent(kind, { clientX: x, clientY: 200, button: 0, detail: 1,
            bubbles: true, cancelable: true })); }"""
    )
    await seat.hub.first("mouse", k="up")
    assert [(one["k"], one["x"]) for one in seat.hub.of("mouse")] == [
        ("move", 10), ("down", 10), ("move", 90), ("up", 90)]  # fmt: skip


async def test_wheel_moves_and_leaving(seat: Seat) -> None:
    await seat.page.mouse.move(200, 200)
    await seat.page.mouse.wheel(30, 240)
    wheel = await seat.hub.first("wheel")
    assert (wheel["x"], wheel["y"], wheel["dx"], wheel["dy"]) == (200, 200 - BAR, 30, 240)
    await seat.page.mouse.move(200, 10)
    await seat.hub.first("leave")


async def test_a_held_button_is_let_go_when_the_window_loses_the_focus(seat: Seat) -> None:
    await seat.page.mouse.move(100, 100)
    await seat.page.mouse.down()
    await seat.hub.first("mouse", k="down")
    await seat.page.evaluate("() => window.dispatchEvent(new Event('blur'))")
    await seat.hub.first("mouse", k="up", bs=0)


async def test_the_back_button_of_a_mouse_goes_back_in_the_page(seat: Seat) -> None:
    for kind in ("mousePressed", "mouseReleased"):
        await seat.cdp.send(
            "Input.dispatchMouseEvent",
            {"type": kind, "x": 100, "y": 200, "button": "back", "clickCount": 1},
        )
    await seat.hub.first("nav", k="back")
    assert [(one["k"], one["b"]) for one in seat.hub.of("mouse") if one["k"] != "move"] == [
        ("down", 3),
        ("up", 3),
    ]


async def test_cursor_and_link_of_the_page(seat: Seat) -> None:
    await seat.hub.send("cursor", cursor="pointer")
    await expect(seat.page.locator("#area")).to_have_css("cursor", "pointer")
    await seat.hub.send("cursor", cursor="url(http://evil/)")
    await expect(seat.page.locator("#area")).to_have_css("cursor", "default")
    await seat.hub.send("link", url="http://localhost/terms")
    await expect(seat.page.locator("#link")).to_have_text("http://localhost/terms")
    await seat.hub.send("link", url="")
    await expect(seat.page.locator("#link")).to_be_hidden()


# -- keys ------------------------------------------------------------------------------------


async def test_typing_sends_keys_with_their_text(seat: Seat) -> None:
    await seat.page.keyboard.type("aB")
    await seat.page.keyboard.press("Shift+A")
    await seat.page.keyboard.press("Enter")
    await seat.page.keyboard.press("Tab")
    await seat.hub.first("key", k="up", key="Tab")
    assert keys(seat) == [
        ("down", "a", "a", 0), ("up", "a", None, 0), ("down", "B", "B", 0), ("up", "B", None, 0),
        ("down", "Shift", None, 8), ("down", "A", "A", 8), ("up", "A", None, 8), ("up", "Shift", None, 0),
        ("down", "Enter", "\r", 0), ("up", "Enter", None, 0),
        ("down", "Tab", None, 0), ("up", "Tab", None, 0),
    ]  # fmt: skip
    assert {one["code"] for one in seat.hub.of("key")} >= {"KeyA", "ShiftLeft", "Enter", "Tab"}


async def test_shortcuts_go_to_the_page_without_text(seat: Seat) -> None:
    await seat.page.keyboard.press("Control+a")
    await seat.page.keyboard.press("Control+f")
    await seat.hub.first("key", k="up", key="Control")
    assert ("down", "a", None, 2) in keys(seat)
    await seat.hub.first("key", k="down", key="f", m=2)


async def test_altgr_writes_its_character_without_control_and_alt(seat: Seat) -> None:
    await seat.page.evaluate(
        """() => { for (const kind of ["keydown", "keyup"]) document.querySelector("#keys").dispatchEvent(
        new KeyboardEvent(kind, { key: "@", code: "KeyQ", ctrlKey: true, altKey: true, modifierAltGraph: true,
        bubbles: true, cancelable: true })); }"""
    )
    await seat.hub.first("key", k="up")
    assert keys(seat) == [("down", "@", "@", 0), ("up", "@", None, 0)]


async def test_held_keys_are_let_go_when_the_focus_leaves(seat: Seat) -> None:
    await seat.page.keyboard.down("Shift")
    await seat.page.keyboard.down("x")
    await seat.page.evaluate("() => document.querySelector('#keys').blur()")
    await seat.hub.until(
        lambda: len([one for one in seat.hub.of("key") if one["k"] == "up"]) == 2, "keys held"
    )
    await seat.page.keyboard.up("x")
    await seat.page.keyboard.up("Shift")


async def test_the_views_own_shortcuts(seat: Seat) -> None:
    for combination in ("F5", "Control+r", "Control+Shift+R", "Alt+ArrowLeft", "Alt+ArrowRight"):
        await seat.page.keyboard.press(combination)
    await seat.hub.first("nav", k="forward")
    assert [one["k"] for one in seat.hub.of("nav")] == ["reload", "reload", "hard-reload", "back", "forward"]
    await seat.page.keyboard.press("Control+l")
    await expect(seat.page.locator("#address")).to_be_focused()
    await seat.page.keyboard.press("F6")
    await expect(seat.page.locator("#keys")).to_be_focused()


async def test_no_key_is_lost_when_what_had_the_focus_goes_away(seat: Seat) -> None:
    await seat.page.evaluate("() => document.activeElement.blur()")
    await seat.page.keyboard.press("q")
    await seat.hub.first("key", k="up", key="q")
    await seat.hub.send("opened", tab=tab(id="t2", title="Sign in"), url="/t/t2#x")
    await seat.page.get_by_role("button", name="Dismiss").click()
    await expect(seat.page.locator("#keys")).to_be_focused()


async def test_a_macs_command_counts_as_control(seat: Seat) -> None:
    body = """const press = { key: "a", code: "KeyA", location: 0, keyCode: 65,
        isComposing: false, altGraph: false, ctrlKey: false, altKey: false,
        shiftKey: false, metaKey: false, ...a };
        return m.decide(press, true);"""
    decide = {
        "select all": ({"metaKey": True}, {"do": "key", "key": "a", "code": "KeyA", "loc": 0, "m": 2}),
        "copy": ({"metaKey": True, "key": "c"}, {"do": "copy"}),
        "paste": ({"metaKey": True, "key": "v"}, {"do": "leave"}),
        "option": ({"altKey": True, "key": "å"},
                   {"do": "key", "key": "å", "code": "KeyA", "loc": 0, "m": 0, "text": "å"}),
        "line start": ({"metaKey": True, "shiftKey": True, "key": "ArrowLeft", "code": "ArrowLeft"},
                       {"do": "key", "key": "Home", "code": "Home", "loc": 0, "m": 8}),
        "command": ({"metaKey": True, "key": "Meta", "code": "MetaLeft"},
                    {"do": "key", "key": "Control", "code": "ControlLeft", "loc": 0, "m": 2}),
        "input method": ({"keyCode": 229}, {"do": "leave"}),
    }  # fmt: skip
    for name, (press, wanted) in decide.items():
        assert await pure(seat, "keymap.js", body, press) == wanted, name


# -- text without keys ------------------------------------------------------------------------


async def test_a_composition_is_live_and_ends_with_its_text(seat: Seat) -> None:
    for text in ("に", "にほ", "日本"):
        await seat.cdp.send(
            "Input.imeSetComposition", {"text": text, "selectionStart": len(text), "selectionEnd": len(text)}
        )
    await seat.cdp.send("Input.insertText", {"text": "日本"})
    await seat.hub.first("ime", commit="日本")
    live = [(one["text"], one["from"], one["to"]) for one in seat.hub.of("ime") if "text" in one]
    assert live[:3] == [("に", 1, 1), ("にほ", 2, 2), ("日本", 2, 2)]
    assert len([one for one in seat.hub.of("ime") if "commit" in one]) == 1
    assert seat.hub.of("text", "key", "delete") == []


async def test_a_click_elsewhere_ends_a_composition(seat: Seat) -> None:
    await seat.cdp.send("Input.imeSetComposition", {"text": "か", "selectionStart": 1, "selectionEnd": 1})
    await seat.hub.first("ime", text="か")
    await seat.page.mouse.click(300, 300)
    await seat.hub.first("ime", commit="か")
    await seat.hub.first("mouse", k="up")
    order = [one["t"] for one in seat.hub.received if one["t"] in ("ime", "mouse") and one.get("k") != "move"]
    assert order == ["ime", "ime", "mouse", "mouse"]


async def test_an_emoji_picker_writes_text(seat: Seat) -> None:
    await seat.cdp.send("Input.insertText", {"text": "👩‍👩‍👧 ok"})
    assert (await seat.hub.first("text"))["text"] == "👩‍👩‍👧 ok"


async def test_a_phone_keyboards_changes(phone: Seat) -> None:
    await phone.page.locator("#keyboard").click()
    await expect(phone.page.locator("#keys")).to_be_focused()
    await phone.cdp.send("Input.insertText", {"text": "teh "})
    await phone.hub.first("text", text="teh ")
    # An autocorrection replaces what was written; then Backspace, then the keyboard's own line break.
    await phone.page.evaluate(
        """() => { const field = document.querySelector("#keys"); const end = field.value.length;
        field.setSelectionRange(end - 4, end); document.execCommand("insertText", false, "the "); }"""
    )
    await phone.hub.first("text", text="he ")
    await phone.page.evaluate("() => document.execCommand('delete')")
    await phone.hub.first("delete", before=1, after=0)
    await phone.page.evaluate("() => document.execCommand('insertText', false, '\\n')")
    await phone.hub.first("key", k="down", key="Enter", text="\r")
    assert [(one["t"], one.get("text"), one.get("before")) for one in phone.hub.of("text", "delete")] == [
        ("text", "teh ", None), ("delete", None, 3), ("text", "he ", None), ("delete", None, 1)]  # fmt: skip


async def test_backspace_always_finds_something_to_delete(phone: Seat) -> None:
    await phone.page.locator("#keyboard").click()
    for _ in range(60):
        await phone.page.evaluate("() => document.execCommand('delete')")
    await phone.hub.until(lambda: len(phone.hub.of("delete")) == 60, "a Backspace was lost")


# -- clipboard ---------------------------------------------------------------------------------


async def clipboard_page(seat: Seat) -> Page:
    """Another origin's page that may use the clipboard, so that the view itself needs no permission."""
    other = seat.url.replace("localhost", "127.0.0.1")
    origin = other.rsplit("/t/", 1)[0]
    await seat.page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=origin)
    page = await seat.page.context.new_page()
    await page.goto(f"{origin}/static/tokens.css")
    return page


async def test_pasting_needs_no_permission_and_keeps_every_character(seat: Seat) -> None:
    other = await clipboard_page(seat)
    await other.evaluate("(text) => navigator.clipboard.writeText(text)", LONG)
    await other.close()
    await seat.page.bring_to_front()
    await seat.page.keyboard.press("Control+v")
    assert (await seat.hub.first("paste"))["text"] == LONG
    assert not [one for one in seat.hub.of("key") if one["key"] == "v"]


async def test_copying_brings_the_pages_selection_without_a_permission(seat: Seat) -> None:
    await seat.page.keyboard.press("Control+c")
    await seat.hub.first("copy")
    await seat.hub.send("clip", text=LONG, cut=False)
    assert await read_clipboard(seat, LONG) == LONG
    assert not [one for one in seat.hub.of("key") if one["key"] == "c"]


async def read_clipboard(seat: Seat, wanted: str) -> str:
    """What the viewer's clipboard holds, once it holds `wanted` or after five seconds."""
    other = await clipboard_page(seat)
    await other.bring_to_front()
    text: str = await other.evaluate(
        """async (wanted) => { const until = performance.now() + 5000; let text = "";
        while (text !== wanted && performance.now() < until) {
          text = await navigator.clipboard.readText(); await new Promise(requestAnimationFrame); }
        return text; }""",
        wanted,
    )
    await other.close()
    await seat.page.bring_to_front()
    return text


async def test_copying_works_where_the_clipboard_api_is_closed(seat: Seat) -> None:
    await seat.page.evaluate("() => Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    await seat.page.keyboard.press("Control+x")
    await seat.hub.first("cut")
    await seat.hub.send("clip", text="by command ž", cut=True)
    assert await read_clipboard(seat, "by command ž") == "by command ž"
    assert seat.hub.of("copy") == []


async def test_text_that_no_way_takes_is_offered(seat: Seat) -> None:
    await seat.page.evaluate(
        """() => { Object.defineProperty(navigator, "clipboard", { value: undefined, configurable: true });
        document.execCommand = () => false; }"""
    )
    await seat.page.keyboard.press("Control+c")
    await seat.hub.first("copy")
    await seat.hub.send("clip", text="on offer", cut=False)
    offer = seat.page.get_by_role("button", name="Put it on the clipboard")
    await expect(offer).to_be_visible()
    await seat.page.evaluate("() => { delete navigator.clipboard; }")
    await offer.click()
    await expect(offer).to_be_hidden()
    assert await read_clipboard(seat, "on offer") == "on offer"


async def test_control_c_with_nothing_selected_is_the_pages_key(seat: Seat) -> None:
    await seat.page.keyboard.press("Control+c")
    await seat.hub.first("copy")
    await seat.hub.send("clip", text="", cut=False)
    await seat.hub.first("key", k="up", key="c", m=2)


async def test_a_text_too_long_for_the_wire_says_so(seat: Seat) -> None:
    await seat.page.evaluate(
        """() => { const data = new DataTransfer(); data.setData("text/plain", "x".repeat(1200000));
        document.querySelector("#keys").dispatchEvent(new ClipboardEvent("paste", { clipboardData: data,
        bubbles: true, cancelable: true })); }"""
    )
    await expect(seat.page.locator(".card.problem")).to_contain_text("too long")
    assert seat.hub.of("paste") == []


# -- touch -------------------------------------------------------------------------------------


async def test_fingers_arrive_as_touches_not_as_a_mouse(phone: Seat) -> None:
    points = [{"x": 100, "y": 244, "id": 7}, {"x": 200, "y": 344, "id": 9}]
    await phone.cdp.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": points[:1]})
    await phone.cdp.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": points})
    moved = [points[0], {"x": 240, "y": 400, "id": 9}]
    await phone.cdp.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": moved})
    await phone.cdp.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    await phone.hub.until(lambda: phone.hub.of("touch") and phone.hub.of("touch")[-1]["p"] == [], "no end")
    told = [(one["k"], [(p["id"], p["x"], p["y"]) for p in one["p"]]) for one in phone.hub.of("touch")]
    assert told[0] == ("start", [(0, 100, 200)])
    assert told[1] == ("start", [(0, 100, 200), (1, 200, 300)])
    assert ("move", [(0, 100, 200), (1, 240, 356)]) in told
    await phone.cdp.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": points[:1]})
    await phone.hub.until(lambda: phone.hub.of("touch")[-1]["k"] == "start", "no second touch")
    assert [finger["id"] for finger in phone.hub.of("touch")[-1]["p"]] == [0]
    assert phone.hub.of("mouse") == []


async def test_the_phone_keyboard_rises_only_where_text_can_be_typed(phone: Seat) -> None:
    field = phone.page.locator("#keys")
    await phone.hub.send("field", on=False)
    await phone.page.touchscreen.tap(100, 300)
    await expect(field).to_be_focused()
    await expect(field).to_have_attribute("inputmode", "none")
    await phone.hub.send("field", on=True, x=20, y=100, w=200, h=30)
    await expect(field).to_have_attribute("inputmode", "text")
    box = await field.bounding_box()
    assert box is not None
    assert (round(box["x"]), round(box["y"])) == (20, BAR + 130)


# -- bar ---------------------------------------------------------------------------------------


async def test_the_address_bar(seat: Seat) -> None:
    address = seat.page.locator("#address")
    await address.click()
    assert await address.input_value() == "http://localhost:5173/checkout"
    await seat.page.keyboard.type("ex")
    await seat.page.keyboard.press("Escape")
    assert await address.input_value() == "http://localhost:5173/checkout"
    await expect(seat.page.locator("#keys")).to_be_focused()
    await address.click()
    await seat.page.keyboard.type("example.org")
    await seat.page.keyboard.press("Enter")
    assert (await seat.hub.first("nav"))["text"] == "example.org"
    await expect(seat.page.locator("#keys")).to_be_focused()
    assert seat.hub.of("key") == []


async def test_the_buttons_follow_the_tab(seat: Seat) -> None:
    back = seat.page.get_by_role("button", name="Back")
    await expect(back).to_be_disabled()
    await seat.hub.send("tab", tab=tab(can_back=True, loading=True, title="Next"))
    await expect(back).to_be_enabled()
    await expect(seat.page).to_have_title("Next")
    await seat.page.get_by_role("button", name="Stop").click()
    await seat.hub.first("nav", k="stop")
    await back.click()
    await seat.hub.first("nav", k="back")


async def test_the_tabs_icon_is_shown_only_as_data(seat: Seat) -> None:
    mark = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg'/%3E"
    own = seat.page.locator("link[rel=icon]")
    await seat.hub.send("tab", tab=tab(icon=mark))
    await expect(seat.page.locator("#icon")).to_have_attribute("src", mark)
    await expect(own).to_have_attribute("href", mark)
    await seat.hub.send("tab", tab=tab(icon="http://tracker.example/icon.png"))
    await expect(own).to_have_attribute("href", "data:,")
    await expect(seat.page.locator("#icon")).to_be_hidden()


async def test_the_menu_is_reached_by_keyboard(seat: Seat) -> None:
    await seat.page.locator("#more").focus()
    await seat.page.keyboard.press("ArrowDown")
    first = seat.page.get_by_role("menuitemcheckbox", name="Fit to the window")
    await expect(first).to_be_focused()
    await seat.page.keyboard.press("End")
    await expect(seat.page.get_by_role("menuitem", name="Open the Launchpad")).to_be_focused()
    await seat.page.keyboard.press("Escape")
    await expect(seat.page.locator("#more")).to_be_focused()
    assert seat.hub.of("key") == []


async def test_an_unfitted_page_keeps_its_size(seat: Seat) -> None:
    await draw(seat, 1800, 1200)
    await seat.page.locator("#more").click()
    await seat.page.get_by_role("menuitemcheckbox", name="Fit to the window").click()
    box = await seat.canvas.bounding_box()
    assert box == {"x": 0, "y": BAR, "width": 1800, "height": 1200}


# -- who is here --------------------------------------------------------------------------------


async def test_people_and_agents_are_seen(seat: Seat) -> None:
    await seat.hub.send("people", people=[person("v1", "Ana", "blue", True), person("v2", "Guest", "green")])
    await seat.hub.send("pointer", viewer="v2", x=450, y=150, k="move")
    pointer = seat.page.locator(".pointer", has_text="Guest")
    await expect(pointer).to_have_attribute("data-color", "green")
    assert await pointer.evaluate("(one) => [one.style.left, one.style.top]") == ["50%", "25%"]
    await seat.hub.send("agent", session="fixer", line="clicks button “Pay”", x=90, y=60, k="click")
    await expect(seat.page.locator(".pointer", has_text="agent · fixer")).to_be_attached()
    await expect(seat.page.locator("#agent-line")).to_have_text("fixer clicks button “Pay”")
    await expect(seat.page.locator("#people li")).to_have_count(3)
    await seat.hub.send("people", people=[person("v1", "Ana", "blue", True)])
    await expect(pointer).to_be_hidden()


async def test_only_who_comes_moves_in_the_bar(seat: Seat) -> None:
    await seat.hub.send("agent", session="fixer-0123456789abcdef0123456789abcdef", line="clicks", x=1, y=1)
    await expect(seat.page.locator("#people li")).to_have_count(2)
    await expect(seat.page.locator("#agent-line")).to_have_text("fixer clicks")
    await seat.page.evaluate(
        "() => { for (const one of document.querySelectorAll('#people li')) one.id = 'kept'; }"
    )
    await seat.hub.send("agent", session="fixer-0123456789abcdef0123456789abcdef", line="types", x=2, y=2)
    await seat.hub.send("people", people=[person("v2", "Guest", "green"), person("v1", "Ana", "blue", True)])
    await expect(seat.page.locator("#people li")).to_have_count(3)
    marks = await seat.page.locator("#people li").evaluate_all("(all) => all.map((one) => one.id)")
    assert marks == ["kept", "", "kept"]


async def test_names_and_lines_of_others_are_text(seat: Seat) -> None:
    await seat.hub.send("people", people=[person("v2", "<img src=x>", "green")])
    await seat.hub.send("pointer", viewer="v2", x=10, y=10, k="down")
    await seat.hub.send("agent", session="<b>", line="<script>", x=1, y=1)
    await expect(seat.page.locator(".pointer").first).to_contain_text("<img src=x>")
    assert await seat.page.locator("#view img, #view script").count() == 0


# -- pieces -------------------------------------------------------------------------------------


async def test_a_prompt_is_answered_and_its_keys_stay_out_of_the_page(seat: Seat) -> None:
    await seat.hub.send(
        "dialog", id="d1", kind="prompt", message="Name?", default="Ana", origin="http://localhost:5173"
    )
    box = seat.page.get_by_role("dialog", name="localhost:5173 asks")
    await expect(box.locator("input")).to_be_focused()
    await seat.page.keyboard.type("Bob")
    await seat.page.keyboard.press("Enter")
    assert await seat.hub.first("dialog") == {"t": "dialog", "id": "d1", "accept": True, "text": "Bob"}
    await expect(box).to_be_hidden()
    await expect(seat.page.locator("#keys")).to_be_focused()
    assert seat.hub.of("key") == []


async def test_escape_declines_and_leaving_is_named(seat: Seat) -> None:
    await seat.hub.send(
        "dialog", id="d1", kind="confirm", message="Sure?", default="", origin="http://localhost"
    )
    await expect(seat.page.get_by_role("dialog")).to_be_visible()
    await seat.page.keyboard.press("Escape")
    await seat.hub.first("dialog", id="d1", accept=False)
    await seat.hub.send(
        "dialog", id="d2", kind="beforeunload", message="", default="", origin="http://localhost"
    )
    await seat.page.get_by_role("button", name="Stay").click()
    await seat.hub.first("dialog", id="d2", accept=False)


async def test_a_dialog_that_another_answered_goes(seat: Seat) -> None:
    await seat.hub.send(
        "dialog", id="d1", kind="alert", message="Hello", default="", origin="http://localhost"
    )
    await expect(seat.page.get_by_role("dialog")).to_contain_text("Hello")
    await seat.hub.send("dialog-closed", id="d1")
    await expect(seat.page.get_by_role("dialog")).to_be_hidden()
    assert seat.hub.of("dialog") == []


async def test_files_go_up_with_progress_and_answer_the_chooser(seat: Seat) -> None:
    seat.hub.upload_gate.clear()
    await seat.hub.send("chooser", id="c1", multiple=True, accept=".pdf")
    picker = seat.page.locator(".chooser input[type=file]")
    await expect(picker).to_have_attribute("accept", ".pdf")
    files: list[FilePayload] = [
        {"name": "smlouva č. 1.pdf", "mimeType": "application/pdf", "buffer": b"a" * 300_000},
        {"name": "b.pdf", "mimeType": "application/pdf", "buffer": b""},
    ]
    await picker.set_input_files(files)
    await expect(seat.page.locator(".files .note").first).to_have_text("100 % of 300.0 KB")
    seat.hub.upload_gate.set()
    answer = await seat.hub.first("chooser")
    assert sorted(answer["uploads"]) == ["u1", "u2"]
    by_name = {name: (body, credential) for name, body, credential in seat.hub.uploads}
    assert by_name["smlouva%20%C4%8D.%201.pdf"] == (b"a" * 300_000, "kept")
    assert by_name["b.pdf"][0] == b""
    order = [seat.hub.uploads[int(one[1:]) - 1][0] for one in answer["uploads"]]
    assert order == ["smlouva%20%C4%8D.%201.pdf", "b.pdf"]
    await expect(seat.page.get_by_role("dialog")).to_be_hidden()


async def test_a_failed_upload_can_be_tried_again_and_cancelled(seat: Seat) -> None:
    seat.hub.upload_status = 507
    await seat.hub.send("chooser", id="c1", multiple=False)
    file: FilePayload = {"name": "a.txt", "mimeType": "text/plain", "buffer": b"x"}
    await seat.page.locator(".chooser input[type=file]").set_input_files(file)
    await expect(seat.page.locator(".files")).to_contain_text("disk is full")
    seat.hub.upload_status = 200
    await seat.page.get_by_role("button", name="Try again").click()
    assert (await seat.hub.first("chooser", id="c1"))["uploads"] == ["u1"]
    await seat.hub.send("chooser", id="c2", multiple=False)
    await seat.page.get_by_role("button", name="Cancel").click()
    await seat.hub.first("chooser", id="c2", cancel=True)


async def test_a_click_on_the_pages_file_button_opens_the_picker_at_once(seat: Seat) -> None:
    async with seat.page.expect_file_chooser() as waiting:
        await seat.page.mouse.click(200, 200)
        await seat.hub.first("mouse", k="up")
        await seat.hub.send("chooser", id="c1", multiple=False)
    picker = await waiting.value
    await picker.set_files({"name": "a.txt", "mimeType": "text/plain", "buffer": b"x"})
    await seat.hub.first("chooser", id="c1", uploads=["u1"])


async def test_a_tab_that_the_page_opened_is_offered(seat: Seat) -> None:
    await seat.hub.send("opened", tab=tab(id="t2", title="Sign in"), url="/t/t2#token-2")
    card = seat.page.locator(".card.opened")
    await expect(card).to_contain_text("This page opened Sign in")
    async with seat.page.context.expect_page() as opening:
        await card.get_by_role("link", name="Open").click()
    opened = await opening.value
    await seat.hub.until(lambda: len(seat.hub.hellos) == 2, "the opened view did not connect")
    assert seat.hub.hellos[1]["token"] == "token-2"
    assert await opened.evaluate("() => window.opener") is None
    await expect(card).to_be_hidden()


async def test_an_opened_address_of_another_origin_is_not_offered(seat: Seat) -> None:
    await seat.hub.send("opened", tab=tab(id="t2"), url="https://evil.example/t/t2#x")
    await seat.hub.send("tab", tab=tab(title="After"))
    await expect(seat.page).to_have_title("After")
    assert await seat.page.locator(".card").count() == 0


# -- states -------------------------------------------------------------------------------------


async def test_a_lost_connection_comes_back_by_itself_and_on_demand(seat: Seat) -> None:
    await seat.page.keyboard.down("a")
    await seat.hub.cut()
    await seat.hub.until(lambda: len(seat.hub.hellos) == 2, "it did not reconnect")
    await expect(seat.page.locator("body[data-phase=live]")).to_be_attached()
    seat.hub.accepting = False
    await seat.hub.until(lambda: seat.hub.connected, "the socket is not known")
    await seat.hub.cut()
    banner = seat.page.locator(".banner.lost")
    await expect(banner).to_contain_text("4 s", timeout=15_000)  # the pauses grow
    seat.hub.accepting = True
    before = len(seat.hub.hellos)
    await banner.get_by_role("button", name="Try now").click()
    await seat.hub.until(lambda: len(seat.hub.hellos) == before + 1, "Try now did nothing")
    await expect(banner).to_be_hidden()


async def test_nothing_typed_while_it_is_away_is_sent_later(seat: Seat) -> None:
    seat.hub.accepting = False
    seat.hub.welcome_gate.clear()
    await seat.hub.cut()
    await expect(seat.page.locator("body[data-phase=reconnecting]")).to_be_attached()
    await seat.page.keyboard.type("secret")
    seat.hub.accepting = True
    await seat.hub.until(lambda: len(seat.hub.hellos) == 2, "it did not reconnect")
    await seat.page.keyboard.type("hidden")  # connected, not let in yet
    seat.hub.welcome_gate.set()
    await expect(seat.page.locator("body[data-phase=live]")).to_be_attached(timeout=10_000)
    await seat.page.keyboard.press("z")
    await seat.hub.first("key", k="up", key="z")
    assert [one["key"] for one in seat.hub.of("key") if one["k"] == "down"] == ["z"]


async def test_an_ended_tab_can_be_reopened(seat: Seat) -> None:
    await seat.hub.send("ended", reason="page", restorable=True)
    await expect(seat.page.locator("#screen")).to_contain_text("The page closed itself.")
    await expect(seat.page.get_by_role("button", name="Reopen")).to_be_focused()
    await seat.page.keyboard.press("Enter")
    await seat.hub.first("restore")
    await seat.hub.send("tab", tab=tab(title="Back again"))
    await expect(seat.page.locator("#screen")).to_be_hidden()
    await expect(seat.page.locator("#keys")).to_be_focused()


async def test_a_tab_that_is_gone_for_good_offers_no_reopening(seat: Seat) -> None:
    await seat.hub.send("ended", reason="lost", restorable=False)
    await expect(seat.page.locator("#screen")).to_contain_text("This tab ended")
    assert await seat.page.get_by_role("button", name="Reopen").count() == 0


@pytest.mark.parametrize(
    ("message", "words", "button", "answer"),
    [
        ({"t": "status", "state": "crashed"}, "This page crashed", "Reload", {"t": "nav", "k": "reload"}),
        ({"t": "status", "state": "unresponsive"}, "does not answer", "Reload", {"t": "nav", "k": "reload"}),
        ({"t": "tab", "tab": tab(asleep=True)}, "This tab is asleep", "Wake", {"t": "wake"}),
        ({"t": "tab", "tab": tab(closes_in_s=7.0)}, "This tab ends in 7 s", "Undo", {"t": "restore"}),
        (
            {"t": "ended", "reason": "closed", "restorable": True},
            "closed it for everyone",
            "Reopen",
            {"t": "restore"},
        ),
    ],
)
async def test_each_state_says_what_to_do(
    seat: Seat, message: dict[str, Any], words: str, button: str, answer: dict[str, Any]
) -> None:
    await seat.hub.send(**message)
    await expect(seat.page.locator("#view")).to_contain_text(words)
    await seat.page.locator("#view").get_by_role("button", name=button).click()
    await seat.hub.first(**answer)


async def test_pings_are_answered(seat: Seat) -> None:
    await seat.hub.send("ping", id=41)
    await seat.hub.first("pong", id=41)


async def test_an_unknown_or_broken_message_changes_nothing(seat: Seat) -> None:
    await seat.hub.send("something-new", a=1)
    await seat.hub.send("error", code="invalid-args", message="That was <b>nothing</b>.")
    await expect(seat.page.locator(".card.problem")).to_have_text("That was <b>nothing</b>.")


# -- pure parts ---------------------------------------------------------------------------------


async def test_pauses_grow_to_five_seconds(seat: Seat) -> None:
    pauses = await pure(
        seat, "socket.js", "return [0, 1, 2, 3, 4, 5, 50].map((n) => m.pauseBefore(n, 0.9999999))"
    )
    assert pauses == [250, 500, 1000, 2000, 4000, 5000, 5000]
    assert await pure(seat, "socket.js", "return m.pauseBefore(0, 0)") == 200


async def test_what_is_old_goes_from_the_state(seat: Seat) -> None:
    body = """let state = m.initialState();
        state = m.reduce(state, { t: "pointer", viewer: "v2", x: 1, y: 1, k: "move" }, 0);
        state = m.reduce(state, { t: "agent", session: "s", line: "clicks", x: 1, y: 1, k: "click" }, 0);
        state = m.reduce(state, { t: "opened", tab: { id: "t2" }, url: "/t/t2#x" }, 0);
        const counts = [];
        for (const now of [7999, 8000, 10000, 20000, 54999, 55000]) {
          state = m.reduce(state, { t: "local-tick" }, now);
          counts.push([state.agentLine ? 1 : 0, Object.keys(state.pointers).length,
            Object.keys(state.agents).length, state.opened.length]);
        }
        return [counts, m.reduce(state, { t: "local-tick" }, 99999) === state];"""
    counts, same = await pure(seat, "state.js", body)
    assert counts == [[1, 1, 1, 1], [0, 1, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 0]]
    assert same


async def test_changes_at_the_end_never_split_a_character(seat: Seat) -> None:
    cases = {
        ("ab", "abc"): (0, "c"), ("abc", "ab"): (1, ""), ("teh ", "the "): (3, "he "),
        ("😀", "😁"): (2, "😁"), ("a", "a"): (0, ""), ("", "日"): (0, "日"),
    }  # fmt: skip
    for (before, after), (removed, added) in cases.items():
        found = await pure(seat, "typing.js", "return m.changeAtEnd(a[0], a[1])", [before, after])
        assert found == {"removed": removed, "added": added}


async def test_addresses_show_whose_page_it_is(seat: Seat) -> None:
    cases = {
        "https://user:pw@example.org/a%20b?q=1": {"before": "", "host": "example.org", "after": "/a b?q=1"},
        "http://localhost:5173/": {"before": "", "host": "localhost:5173", "after": ""},
        "about:blank": {"before": "", "host": "", "after": ""},
        "blob:https://example.org/1": {"before": "blob:https://example.org/1", "host": "", "after": ""},
        "https://example.org/%E0%A4%A": {"before": "", "host": "example.org", "after": "/%E0%A4%A"},
    }
    for url, wanted in cases.items():
        assert await pure(seat, "address.js", "return m.addressParts(a)", url) == wanted


async def test_lines_and_pages_of_a_wheel_become_pixels(seat: Seat) -> None:
    body = "return m.wheelPixels({ deltaX: 0, deltaY: 3, deltaMode: a }, { w: 800, h: 600 }).dy"
    assert [await pure(seat, "geometry.js", body, mode) for mode in (0, 1, 2)] == [3, 100, 1800]
