"""A tab's view with real pages: pictures, input, presence, dialogs, choosers, sizes and slow viewers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from support.chromium import running_chromium, serve_pages, wait_until
from support.view_hub import ANA, BEN, Looking, PagesHub, PersonsBrowser, value
from windowseat.hub.events import Activity, TabsChanged

FORM = """<!doctype html><meta charset=utf-8><title>Form</title>
<style>body{margin:0;font:20px sans-serif} *{box-sizing:border-box}</style>
<input id=i style="position:absolute;left:20px;top:20px;width:300px;height:40px">
<a id=a href="/other" style="position:absolute;left:20px;top:100px;width:200px;height:40px">other</a>
<button id=b style="position:absolute;left:20px;top:200px;width:200px;height:40px">Ask</button>
<input id=f type=file multiple style="position:absolute;left:20px;top:300px;width:300px;height:40px">
<script>
seen = [];
for (const kind of ['mousedown', 'click', 'keydown', 'paste', 'copy', 'touchstart', 'wheel', 'contextmenu'])
  addEventListener(kind, (e) => seen.push([kind, e.key ?? e.button ?? '']), true);
b.onclick = () => { answer = prompt('Your name?', 'nobody') };
f.onchange = () => { files = [...f.files].map((one) => [one.name, one.size]) };
</script>"""
MOTION = """<!doctype html><body style="margin:0"><div id=d></div><script>
let n = 0; const words = 'lorem ipsum dolor sit amet consectetur '.repeat(60);
(function step() { d.textContent = ++n + ' ' + words.slice(n % 40); requestAnimationFrame(step) })();
</script>"""
PAGES = {"/": FORM, "/other": "<title>Other</title>other", "/motion": MOTION, "/still": "<h1>Still</h1>"}


@pytest.fixture(scope="module")
def base():
    with serve_pages(PAGES) as address:
        yield address


@pytest.fixture
async def looking(tmp_path: Path) -> AsyncIterator[Looking]:
    async with running_chromium() as connection:
        found = Looking(PagesHub(connection), tmp_path)
        try:
            yield found
        finally:
            await found.aclose()


def click(browser: PersonsBrowser, x: float, y: float, button: int = 0) -> None:
    browser.say(t="mouse", k="move", x=x, y=y, b=0, bs=0, c=0, m=0)
    browser.say(t="mouse", k="down", x=x, y=y, b=button, bs=1 << button, c=1, m=0)
    browser.say(t="mouse", k="up", x=x, y=y, b=button, bs=0, c=1, m=0)


async def test_a_viewer_sees_the_page_at_their_size_and_works_in_it(looking: Looking, base: str):
    page = await looking.hub.add("t1", base + "/")
    ana = await looking.come("t1", size=(900, 600))
    welcome = ana.all("welcome")[0]
    assert welcome["tab"]["title"] == "Form"
    assert welcome["people"] == [{"viewer": welcome["viewer"], "name": "Ana", "color": "blue", "you": True}]
    await wait_until(lambda: ana.frames and (ana.frames[-1].width, ana.frames[-1].height) == (900, 600))
    assert ana.frames[-1].data[:2] == b"\xff\xd8" or ana.frames[-1].data[:4] == b"\x89PNG"
    click(ana, 100, 40)
    for letter in "ok":
        code = f"Key{letter.upper()}"
        ana.say(t="key", k="down", key=letter, code=code, loc=0, m=0, rep=False, text=letter)
        ana.say(t="key", k="up", key=letter, code=code, loc=0, m=0, rep=False)
    ana.say(t="paste", text=" řekni 👋")
    ana.say(t="text", text="!")
    await wait_until(lambda: value(page, "i.value === 'ok řekni 👋!'"))
    assert await value(page, "[innerWidth, innerHeight]") == [900, 600]
    ana.say(t="key", k="down", key="a", code="KeyA", loc=0, m=2, rep=False)
    ana.say(t="key", k="up", key="a", code="KeyA", loc=0, m=2, rep=False)
    ana.say(t="copy")
    assert (await ana.hear("clip"))["text"] == "ok řekni 👋!"
    ana.say(t="cut")
    await ana.hear("clip", cut=True, text="ok řekni 👋!")
    await wait_until(lambda: value(page, "i.value === ''"))


async def test_a_quiet_page_is_followed_by_a_sharp_picture(looking: Looking, base: str):
    await looking.hub.add("t1", base + "/still")
    ana = await looking.come("t1")
    await wait_until(lambda: ana.frames and ana.frames[-1].sharp and ana.frames[-1].kind == 2)
    count = len(ana.frames)
    ben = await looking.come("t1", BEN)
    # Who comes to a quiet page gets its picture at once, though nothing new is drawn.
    assert (await ben.see(1, timeout=1)).sharp
    assert len(ana.frames) == count


async def test_a_viewer_who_never_acknowledges_costs_the_other_nothing(looking: Looking, base: str):
    await looking.hub.add("t1", base + "/motion")
    stuck = await looking.come("t1", BEN, browser=PersonsBrowser(acks=False))
    ana = await looking.come("t1")
    await ana.see(60, timeout=20)
    assert 1 <= len(stuck.frames) <= 2
    numbers = [frame.n for frame in ana.frames]
    assert numbers == sorted(numbers)


async def test_a_line_that_takes_nothing_costs_the_other_nothing(looking: Looking, base: str):
    class Blocked(PersonsBrowser):
        async def send(self, data: str | bytes) -> None:
            if isinstance(data, bytes):
                await asyncio.Event().wait()
            await super().send(data)

    await looking.hub.add("t1", base + "/motion")
    await looking.come("t1", BEN, browser=Blocked())
    ana = await looking.come("t1")
    await ana.see(40, timeout=20)


async def test_the_page_takes_the_size_of_who_acted_last(looking: Looking, base: str):
    page = await looking.hub.add("t1", base + "/")
    ana = await looking.come("t1", size=(900, 600))
    await wait_until(lambda: value(page, "innerWidth === 900"))
    ben = await looking.come("t1", BEN, size=(700, 500))
    await ana.hear("people")
    ben.say(t="mouse", k="move", x=5, y=5, b=0, bs=0, c=0, m=0)
    await ana.hear("pointer", k="move", x=5, y=5)
    assert await value(page, "innerWidth") == 900
    click(ben, 500, 400)
    await wait_until(lambda: value(page, "innerWidth === 700"))
    await ana.hear("size", w=700, h=500)
    ben.say(t="size", w=650, h=500, dpr=1)
    await wait_until(lambda: value(page, "innerWidth === 650"))
    ana.say(t="size", w=910, h=600, dpr=1)
    ana.say(t="wheel", x=400, y=400, dx=0, dy=10, m=0)
    await wait_until(lambda: value(page, "innerWidth === 910"))


async def test_people_see_each_other_and_the_agents(looking: Looking, base: str):
    await looking.hub.add("t1", base + "/")
    ana = await looking.come("t1")
    ben = await looking.come("t1", BEN)
    people = (await ana.hear("people"))["people"]
    assert [(one["name"], one["you"]) for one in people] == [("Ana", True), ("Ben", False)]
    assert [person.name for person in looking.service.viewers("t1")] == ["Ana", "Ben"]
    who = ben.all("welcome")[0]["viewer"]
    click(ben, 33, 44)
    await ana.hear("pointer", viewer=who, k="down", x=33, y=44)
    ben.say(t="leave")
    await ana.hear("pointer", viewer=who, k="leave")
    assert not ben.all("pointer")
    looking.hub.tell(Activity("t1", "codex-1", "clicks “Pay”", 10, 20, "click"))
    await ana.hear("agent", session="codex-1", line="clicks “Pay”", x=10, y=20, k="click")
    ben.leave()
    await wait_until(lambda: len(ana.all("people")[-1]["people"]) == 1)
    assert ben.closed is not None


async def test_cursor_and_link_follow_the_pointer(looking: Looking, base: str):
    await looking.hub.add("t1", base + "/")
    ana = await looking.come("t1")
    ana.say(t="mouse", k="move", x=100, y=120, b=0, bs=0, c=0, m=0)
    await ana.hear("link", url=base + "/other")
    await ana.hear("cursor", cursor="pointer")
    ana.say(t="mouse", k="move", x=100, y=40, b=0, bs=0, c=0, m=0)
    await ana.hear("cursor", cursor="text")
    await ana.hear("link", url="")


async def test_a_dialog_is_shown_to_all_and_answered_once(looking: Looking, base: str):
    page = await looking.hub.add("t1", base + "/")
    ana = await looking.come("t1")
    ben = await looking.come("t1", BEN)
    click(ana, 100, 220)
    shown = await ana.hear("dialog", kind="prompt", message="Your name?", default="nobody")
    assert shown["origin"].startswith(base)
    await ben.hear("dialog", id=shown["id"])
    late = await looking.come("t1", BEN)
    await late.hear("dialog", id=shown["id"])
    ben.say(t="dialog", id=shown["id"], accept=True, text="Ben 🎉")
    ana.say(t="dialog", id=shown["id"], accept=False)
    await ana.hear("dialog-closed", id=shown["id"])
    assert (await ana.hear("error"))["code"] == "not-found"
    await wait_until(lambda: value(page, "answer === 'Ben 🎉'"))


async def test_a_chooser_takes_uploads_or_is_cancelled(looking: Looking, base: str):
    page = await looking.hub.add("t1", base + "/")
    ana = await looking.come("t1")
    click(ana, 60, 320)
    chooser = await ana.hear("chooser")
    assert chooser["multiple"] is True
    ids = []
    for name, content in (("a ř.txt", b"one"), ("../b.bin", b"three")):
        incoming = looking.service.uploads.begin("t1", name)
        incoming.write(content)
        ids.append(incoming.finish().id)
    ana.say(t="chooser", id=chooser["id"], uploads=["nothing"])
    assert (await ana.hear("error"))["code"] == "not-found"
    ana.say(t="chooser", id=chooser["id"], uploads=ids)
    await ana.hear("chooser-closed", id=chooser["id"])
    await wait_until(lambda: value(page, "globalThis.files && files.length"))
    assert await value(page, "files") == [["a ř.txt", 3], [".._b.bin", 5]]
    click(ana, 60, 320)
    again = await wait_until(lambda: [c for c in ana.all("chooser") if c["id"] != chooser["id"]])
    ana.say(t="chooser", id=again[0]["id"], cancel=True)
    await ana.hear("chooser-closed", id=again[0]["id"])


async def test_navigation_and_what_the_tab_tells(looking: Looking, base: str):
    await looking.hub.add("t1", base + "/")
    ana = await looking.come("t1")
    looking.hub.tabs["t1"].title = "Renamed"
    looking.hub.tell(TabsChanged(frozenset({"t1"})))
    await wait_until(lambda: ana.all("tab")[-1:] and ana.all("tab")[-1]["tab"]["title"] == "Renamed")
    ana.say(t="nav", k="go", text=base.removeprefix("http://") + "/other")
    await wait_until(lambda: ana.all("tab") and ana.all("tab")[-1]["tab"]["can_back"])
    ana.say(t="nav", k="back")
    await wait_until(lambda: ana.all("tab")[-1]["tab"]["can_forward"])
    ana.say(t="nav", k="go", text="http://127.0.0.1:1/")
    assert (await ana.hear("error"))["code"] == "navigation-failed"


async def test_a_crashed_page_says_so_and_comes_back_by_reload(looking: Looking, base: str):
    page = await looking.hub.add("t1", base + "/motion")
    ana = await looking.come("t1")
    await ana.see(1)
    page.session.send("Page.crash")
    await ana.hear("status", state="crashed")
    ana.say(t="nav", k="reload")
    await ana.hear("status", state="live", timeout=20)
    seen = len(ana.frames)
    await ana.see(seen + 10, timeout=20)


async def test_sleeping_waking_ending_and_restoring(looking: Looking, base: str):
    await looking.hub.add("t1", base + "/still")
    await looking.hub.sleep("t1")
    ana = await looking.come("t1")
    await ana.hear("status", state="live", timeout=20)
    await ana.see(1)
    await looking.hub.sleep("t1")
    await wait_until(lambda: ana.all("tab") and ana.all("tab")[-1]["tab"]["asleep"])
    ana.say(t="wake")
    await wait_until(lambda: not ana.all("tab")[-1]["tab"]["asleep"])
    looking.hub.end("t1", "closed", restorable=True)
    assert (await ana.hear("ended"))["restorable"] is True
    seen = len(ana.frames)
    ana.say(t="restore")
    await wait_until(lambda: ana.texts[-1]["t"] in ("tab", "status", "size"), timeout=20)
    await ana.see(seen + 1, timeout=20)


async def test_a_page_that_opens_another_tab_tells_each_viewer_their_own_address(looking: Looking, base: str):
    await looking.hub.add("t1", base + "/")
    ana = await looking.come("t1")
    await looking.hub.add("t2", base + "/other", opener="t1")
    opened = await ana.hear("opened")
    assert (opened["tab"]["id"], opened["url"]) == ("t2", "view of t2")


async def test_wrong_messages_change_nothing_and_the_socket_stays(looking: Looking, base: str):
    await looking.hub.add("t1", base + "/")
    ana = await looking.come("t1")
    hello = '{"t":"hello","w":9,"h":9}'
    for wrong in ("{", "[]", '{"t":"what"}', '{"t":"ack","n":99}', hello, '{"t":"copy","x":1}'):
        before = len(ana.all("error"))
        ana.say_raw(wrong)
        await wait_until(lambda before=before: len(ana.all("error")) > before, what=wrong)
        assert ana.all("error")[-1]["code"] == "invalid-args"
    ana.say_raw("x" * (1024 * 1024 + 1))
    await wait_until(lambda: ana.closed == 1009)


async def test_hidden_viewers_get_no_pictures_and_the_latest_when_shown(looking: Looking, base: str):
    page = await looking.hub.add("t1", base + "/motion")
    ana = await looking.come("t1", visible=False)
    await ana.hear("tab")
    assert not ana.frames
    ana.say(t="visible", on=True)
    await ana.see(5)
    ana.say(t="visible", on=False)
    await wait_until(lambda: looking.service._views["t1"]._stage.cast.demand == 0)
    count = len(ana.frames)
    await value(page, "new Promise((done) => setTimeout(done, 300))")
    assert len(ana.frames) <= count + 1


async def test_what_a_viewer_held_is_released_when_they_go(looking: Looking, base: str):
    page = await looking.hub.add("t1", base + "/")
    ana = await looking.come("t1")
    await value(page, "addEventListener('keyup', (e) => seen.push(['up', e.key]), true)")
    await value(page, "addEventListener('mouseup', (e) => seen.push(['mouseup', e.button]), true)")
    ana.say(t="key", k="down", key="Shift", code="ShiftLeft", loc=1, m=8, rep=False)
    ana.say(t="mouse", k="down", x=500, y=500, b=0, bs=1, c=1, m=0)
    await wait_until(lambda: value(page, "seen.some((one) => one[0] === 'mousedown')"))
    ana.leave()
    await wait_until(lambda: value(page, "seen.some((one) => one[0] === 'up' && one[1] === 'Shift')"))
    await wait_until(lambda: value(page, "seen.some((one) => one[0] === 'mouseup')"))


async def test_thumbnails_are_small_and_slow_and_never_wake(looking: Looking, base: str):
    await looking.hub.add("t1", base + "/motion")
    came: list[tuple[float, bytes]] = []
    loop = asyncio.get_running_loop()
    stop = looking.service.thumbnails.watch("t1", lambda jpeg: came.append((loop.time(), jpeg)))
    await wait_until(lambda: len(came) >= 4, timeout=15)
    assert all(jpeg[:2] == b"\xff\xd8" and len(jpeg) < 60_000 for _, jpeg in came)
    assert came[3][0] - came[1][0] > 1.0
    stop()
    assert not looking.service._views
    await looking.hub.sleep("t1")
    later: list[bytes] = []
    stop = looking.service.thumbnails.watch("t1", later.append)
    await wait_until(lambda: later)
    assert later == [came[-1][1]]
    assert looking.hub.tabs["t1"].asleep
    stop()


async def test_a_stuck_page_is_called_unresponsive_and_takes_no_endless_input(looking: Looking, base: str):
    page = await looking.hub.add("t1", base + "/")
    ana = await looking.come("t1", ANA)
    await ana.see(1)
    busy = "setTimeout(() => { const end = Date.now() + 9000; while (Date.now() < end); }, 0); 1"
    await value(page, busy)

    async def hangs() -> bool:
        answer = page.session.send("Runtime.evaluate", {"expression": "1"})
        done, _ = await asyncio.wait([answer], timeout=0.5)
        return not done

    await wait_until(hangs)
    for _ in range(400):
        ana.say(t="key", k="down", key="x", code="KeyX", loc=0, m=0, rep=False, text="x")
    assert (await ana.hear("error"))["code"] == "timeout"
    await ana.hear("status", state="unresponsive")
    await ana.hear("status", state="live", timeout=15)


async def test_nothing_stays_hovered_when_the_pointer_leaves(looking: Looking, base: str):
    page = await looking.hub.add("t1", base + "/")
    ana = await looking.come("t1")
    ana.say(t="mouse", k="move", x=100, y=220, b=0, bs=0, c=0, m=0)
    await wait_until(lambda: value(page, "b.matches(':hover')"))
    ana.say(t="leave")
    await wait_until(lambda: value(page, "!b.matches(':hover')"))


async def test_touch_is_emulated_for_who_touches_and_not_for_who_clicks(looking: Looking, base: str):
    page = await looking.hub.add("t1", base + "/")
    ana = await looking.come("t1", touch=True)
    ben = await looking.come("t1", BEN)
    ana.say(t="touch", k="start", p=[{"id": 0, "x": 100, "y": 40}], m=0)
    ana.say(t="touch", k="end", p=[], m=0)
    await wait_until(lambda: value(page, "navigator.maxTouchPoints > 0 && document.activeElement === i"))
    assert (await ana.hear("field", on=True))["x"] == 20
    ana.say(t="text", text="from a phone")
    ana.say(t="delete", before=5, after=0)
    ana.say(t="ime", text="tel", **{"from": 3, "to": 3})
    ana.say(t="ime", commit="telefon")
    await wait_until(lambda: value(page, "i.value === 'from a telefon'"))
    click(ben, 500, 500)
    await wait_until(lambda: value(page, "navigator.maxTouchPoints === 0"))
