"""Acting in real pages: what it waits for, what it hits, and what it tells afterwards."""

from __future__ import annotations

import asyncio
import base64
import struct
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from support.chromium import RunningConnection, wait_until
from windowseat.errors import BrowserError
from windowseat.page import actions
from windowseat.page.page import Page
from windowseat.page.snapshot import take

pytestmark = pytest.mark.asyncio(loop_scope="module")

Show = Callable[[str], Awaitable[str]]


async def failure_of(work: Awaitable[Any]) -> BrowserError:
    with pytest.raises(BrowserError) as failure:
        await work
    return failure.value


async def title(page: Page) -> str:
    return str(await page.evaluate_page("document.title"))


LOG = """<script>onclick = onauxclick = ondblclick = oncontextmenu = event => {
  const shift = event.shiftKey ? "-shift" : "";
  document.title += ` ${event.type}-${event.detail}-${event.isTrusted}${shift}` }</script>"""


async def test_a_click_is_trusted_and_tells_what_it_hit(page: Page, show: Show) -> None:
    await show("<button onclick=\"document.title = 'clicked ' + event.isTrusted\">Save</button>")
    told: list[Any] = []
    answer = await actions.click(page, "button", tell=lambda *what: told.append(what))
    assert answer == {"clicked": "button “Save”"}
    assert await title(page) == "clicked true"
    ((kind, line, x, y),) = told
    assert (kind, line) == ("click", "clicks button “Save”")
    hit = await page.evaluate_page(f"document.elementFromPoint({x}, {y}).tagName")
    assert hit == "BUTTON"


async def test_buttons_counts_and_modifiers_arrive(page: Page, show: Show) -> None:
    await show(f"{LOG}<p>Text</p>")
    await page.evaluate_page("document.title = ''")
    await actions.click(page, "p", count=2)
    await actions.click(page, "p", button="right")
    await actions.click(page, "p", button="middle", modifiers=["Shift"])
    assert (await title(page)).split() == [
        "click-1-true",
        "click-2-true",
        "dblclick-2-true",
        "contextmenu-0-true",
        "auxclick-1-true",
        "auxclick-1-true-shift",
    ]
    assert (await failure_of(actions.click(page, "p", button="none"))).code == "invalid-args"


@pytest.mark.parametrize(
    "target",
    [
        "#save",
        "css=button.primary",
        "text=Save changes",
        "text=changes",
        'text="Save changes"',
        'role=button[name="Save changes"]',
        "role=button[name=save]",
        "label=Save changes",
    ],
)
async def test_every_kind_of_target_finds_the_element(page: Page, show: Show, target: str) -> None:
    if target.startswith("label="):
        await show("<label>Save changes <input type=checkbox onclick=\"document.title='hit'\"></label>")
    else:
        await show(
            "<button id=save class=primary onclick=\"document.title='hit'\"><b>Save</b> changes</button>"
            '<button style="display:none">Save changes</button><script>let text = "Save changes"</script>'
        )
    await actions.click(page, target)
    assert await title(page) == "hit"


async def test_a_ref_finds_the_element_also_in_frames_and_shadow_roots(
    page: Page, show: Show, pages: dict[str, str | bytes], site: str
) -> None:
    button = "<button onclick=\"this.textContent = 'hit ' + event.isTrusted\">Go</button>"
    pages["/inner"] = f"<div style='height:400px'></div>{button}"
    cross = site.replace("127.0.0.1", "localhost")
    await show(f"""<div style="height:1500px"></div><my-box></my-box>
      <iframe srcdoc="{button.replace('"', "&quot;")}" style="border:9px solid;padding:11px"></iframe>
      <iframe src="{cross}/inner" style="border:5px solid;padding:7px;height:120px"></iframe>
      <script>customElements.define('my-box', class extends HTMLElement {{ constructor() {{ super();
        this.attachShadow({{mode: 'open'}}).innerHTML = `{button}` }} }})</script>""")
    text = (await take(page))["text"]
    refs = [line.split()[-1] for line in text.splitlines() if '"Go"' in line]
    assert len(refs) == 3
    for ref in refs:
        await actions.click(page, ref)
    assert (await take(page))["text"].count("hit true") == 3
    several = await failure_of(actions.click(page, "button"))
    assert (several.code, "3 elements" in several.message) == ("invalid-args", True)


async def test_nothing_several_and_nonsense_are_told_apart(page: Page, show: Show) -> None:
    await show("<button>A</button><button>B</button>")
    nothing = await failure_of(actions.click(page, "#none", timeout=0.4))
    assert (nothing.code, "#none" in nothing.message) == ("not-found", True)
    began = time.monotonic()
    several = await failure_of(actions.click(page, "button"))
    assert (several.code, "2 elements" in several.message) == ("invalid-args", True)
    for nonsense in ("((", "role=button[nope]", "", "text=", "x" * 5000):
        assert (await failure_of(actions.click(page, nonsense))).code == "invalid-args"
    assert (await failure_of(actions.click(page, "@e4711"))).code == "stale-ref"
    assert time.monotonic() - began < 2


async def test_it_waits_for_late_hidden_disabled_and_moving_elements(page: Page, show: Show) -> None:
    await show("""
      <style>@keyframes slide { from { margin-left: 0 } to { margin-left: 400px } }
        #moving { animation: slide .6s linear; position: relative }</style>
      <button id=hidden style="display:none" onclick="document.title += ' hidden'">H</button>
      <button id=off disabled onclick="document.title += ' off'">D</button>
      <script>setTimeout(() => {
        document.querySelector('#hidden').style.display = '';
        document.querySelector('#off').disabled = false;
        document.body.insertAdjacentHTML('beforeend',
          `<button id=late onclick="document.title += ' late'">L</button>
           <button id=moving onclick="document.title += ' moving'">M</button>`);
      }, 400)</script>""")
    for target in ("#hidden", "#off", "#late", "#moving"):
        await actions.click(page, target)
    assert await title(page) == "Test hidden off late moving"


async def test_it_says_what_covers_an_element(page: Page, show: Show) -> None:
    await show("""<button onclick="document.title = 'hit'">Pay</button>
      <div id=cookies style="position:fixed;inset:0;background:#0009"><p>We like cookies</p></div>""")
    covered = await failure_of(actions.click(page, "text=Pay", timeout=0.6))
    assert covered.code == "timeout"
    assert "button “Pay” is covered by div#cookies “We like cookies”" in covered.message
    await page.evaluate_page("setTimeout(() => document.querySelector('#cookies').remove(), 300)")
    await actions.click(page, "text=Pay")
    assert await title(page) == "hit"


@pytest.mark.parametrize(
    "style", ["opacity:0;width:0;height:0", "clip-path:inset(50%);width:1px;height:1px", "display:none"]
)
async def test_a_field_that_its_page_draws_itself_is_hit_by_its_label(
    page: Page, show: Show, style: str
) -> None:
    await show(
        f"<div style='height:300px'></div><label><input type=checkbox style='position:absolute;{style}'>"
        "<span style='display:inline-block;padding:9px'>Dark mode</span></label>"
    )
    assert (await actions.click(page, "input"))["checked"] is True
    assert (await actions.click(page, "label=Dark mode"))["checked"] is False


async def test_what_stays_as_it_was_is_not_told(page: Page, show: Show) -> None:
    await show("<input aria-label=Name value=Ann><input type=radio aria-label=R checked>")
    assert await actions.click(page, "label=Name") == {"clicked": "textbox “Name”"}
    assert await actions.click(page, "label=R") == {"clicked": "radio “R”"}


async def test_a_point_outside_says_so(page: Page, show: Show) -> None:
    await show("<button>x</button>")
    outside = await failure_of(actions.click(page, "button", position=(5000, 5), timeout=0.4))
    assert "outside the visible part" in outside.message


async def test_it_says_when_disabled_or_hidden_to_the_end(page: Page, show: Show) -> None:
    await show("<button disabled>Off</button><input id=h style='visibility:hidden'>")
    assert "disabled" in (await failure_of(actions.click(page, "text=Off", timeout=0.4))).message
    assert "not visible" in (await failure_of(actions.click(page, "#h", timeout=0.4))).message


async def test_it_scrolls_into_view_under_a_sticky_bar_and_in_boxes(page: Page, show: Show) -> None:
    await show("""
      <div style="position:fixed;top:0;left:0;right:0;height:80px;background:gray">Bar</div>
      <div style="height:3000px"></div>
      <div style="height:100px;overflow:auto"><div style="height:900px"></div>
        <button onclick="document.title = 'hit'">Deep</button></div><div style="height:3000px"></div>""")
    await actions.click(page, "text=Deep")
    assert await title(page) == "hit"


async def test_what_changed_is_told(
    page: Page, show: Show, pages: dict[str, str | bytes], site: str, chromium: RunningConnection
) -> None:
    pages["/next"] = "<title>Next</title><p>Arrived</p>"
    await show("""
      <a href="/next">go</a> <a href="/next#x" target=_blank>pop</a> <a href="/next" download=f.bin>fetch</a>
      <button onclick="history.pushState(1, '', '/pushed')">push</button>
      <button onclick="alert('Hi'); document.title = 'after'">ask</button>
      <label><input type=checkbox>tick</label><input type=file aria-label=File>
      <button aria-expanded=false onclick="this.setAttribute('aria-expanded', 'true')">menu</button>""")
    assert (await actions.click(page, "label=tick"))["checked"] is True
    assert (await actions.click(page, "text=menu"))["expanded"] == "true"
    assert (await actions.click(page, "text=push"))["navigated"] == f"{site}/pushed"
    asked = await actions.click(page, "text=ask")
    assert (asked["dialog"]["kind"], asked["dialog"]["message"]) == ("alert", "Hi")
    assert (await failure_of(actions.click(page, "text=push"))).code == "dialog-open"
    await page.answer_dialog(True)
    await wait_until(lambda: page.dialog is None)
    assert (await actions.click(page, "text=fetch"))["download"] == "f.bin"
    before = {target["targetId"] for target in await targets(chromium)}
    assert (await actions.click(page, "text=pop"))["opened"] == f"{site}/next#x"
    for target in await targets(chromium):
        if target["targetId"] not in before:
            await chromium.root.call("Target.closeTarget", {"targetId": target["targetId"]})
    assert (await actions.click(page, "text=go"))["navigated"] == f"{site}/next"
    assert "Arrived" in (await take(page))["text"]


async def targets(chromium: RunningConnection) -> list[dict[str, Any]]:
    answer = await chromium.root.call("Target.getTargets")
    return [target for target in answer["targetInfos"] if target["type"] == "page"]


async def test_a_click_that_closes_the_tab_is_no_failure(
    chromium: RunningConnection, page: Page, site: str
) -> None:
    await page.navigate(f"{site}/")
    made = await chromium.root.call("Target.createTarget", {"url": "about:blank", "newWindow": True})
    other = Page(await chromium.root.attach(made["targetId"]), made["targetId"])
    await other.start()
    await other.evaluate_page("document.body.innerHTML = '<button onclick=\"window.close()\">Close</button>'")
    answer = await actions.click(other, "button")
    if not other.gone:
        await wait_until(lambda: other.gone)
    assert answer["clicked"] == "button “Close”"


@pytest.mark.parametrize("text", ["Žluťoučký kůň 🐎 日本語", "x" * 5000, "  two  spaces ", "<b>&amp;"])
async def test_text_arrives_exactly(page: Page, show: Show, text: str) -> None:
    await show("<input aria-label=Name value=old><textarea aria-label=Notes>old</textarea>")
    for target in ("label=Name", "label=Notes"):
        await actions.type_text(page, target, text)
        tag = "input" if target == "label=Name" else "textarea"
        assert await page.evaluate_page(f"document.querySelector('{tag}').value") == text


async def test_replace_append_clear_and_lines(page: Page, show: Show) -> None:
    await show("<input type=email aria-label=Mail value=a@b.cz><textarea aria-label=Notes>one</textarea>")
    assert (await actions.type_text(page, "label=Mail", "x", mode="append"))["value"] == "a@b.czx"
    assert (await actions.type_text(page, "label=Mail", "new"))["value"] == "new"
    assert "value" not in await actions.type_text(page, "label=Mail", "")
    await actions.type_text(page, "label=Notes", "\ntwo", mode="append")
    assert await page.evaluate_page("document.querySelector('textarea').value") == "one\ntwo"


async def test_editable_elements_take_text(page: Page, show: Show) -> None:
    await show("<div contenteditable aria-label=Editor><p>first</p><p>second</p></div>")
    assert (await actions.type_text(page, "label=Editor", "all new"))["value"] == "all new"
    assert (await actions.type_text(page, "label=Editor", "!", mode="append"))["value"] == "all new!"


async def test_typing_makes_the_events_of_a_person(page: Page, show: Show) -> None:
    await show("<input oninput=\"document.title += e(event)\" onfocus=\"document.title += ' focus'\">"
               "<script>e = e => ` ${e.inputType} ${e.isTrusted}`</script>")  # fmt: skip
    await actions.type_text(page, "input", "abc")
    assert await title(page) == "Test focus insertText true"


async def test_fields_with_pickers_are_set(page: Page, show: Show) -> None:
    await show("""<input type=date aria-label=Born onchange="document.title += ' ' + this.value">
      <input type=color aria-label=Hue><input type=range aria-label=Loud>""")
    assert (await actions.type_text(page, "label=Born", "2026-03-31"))["value"] == "2026-03-31"
    assert await title(page) == "Test 2026-03-31"
    assert (await actions.type_text(page, "label=Hue", "#112233"))["value"] == "#112233"
    assert (await actions.type_text(page, "label=Loud", "70"))["value"] == "70"
    wrong = await failure_of(actions.type_text(page, "label=Born", "31.3.2026"))
    assert (wrong.code, "2026-03-31" in wrong.message) == ("invalid-args", True)


async def test_passwords_are_typed_but_never_told(page: Page, show: Show) -> None:
    await show("<label>Secret <input type=password></label>")
    lines: list[str] = []
    answer = await actions.type_text(
        page, "label=Secret", "hunter2", tell=lambda _k, line, _x, _y: lines.append(line)
    )
    assert await page.evaluate_page("document.querySelector('input').value") == "hunter2"
    assert "hunter2" not in f"{answer}{lines}"


async def test_submit_sends_the_form_and_waits_for_the_answer(
    page: Page, show: Show, pages: dict[str, str | bytes], site: str
) -> None:
    pages["/found"] = "<title>Found</title><p>Result</p>"
    await show("<form action=/found><input name=q></form>")
    answer = await actions.type_text(page, "input", "cats", submit=True)
    assert answer["navigated"] == f"{site}/found?q=cats"
    assert "Result" in (await take(page))["text"]


@pytest.mark.parametrize(
    "body", ["<button>x</button>", "<input type=checkbox>", "<select><option>x</select>"]
)
async def test_what_takes_no_text_says_so(page: Page, show: Show, body: str) -> None:
    await show(body)
    assert (await failure_of(actions.type_text(page, "body > *", "x"))).code == "invalid-args"


async def test_waiting_for_text_selectors_addresses_and_javascript(page: Page, show: Show, site: str) -> None:
    await show("""<p id=old>Loading</p><script>setTimeout(() => {
      document.body.insertAdjacentHTML('beforeend', '<p id=new>Order <b>confirmed</b></p>');
      document.querySelector('#old').style.display = 'none'; history.pushState(1, '', '/done/7'); go = {n: 1}
    }, 300)</script>""")
    conditions = [
        {"text": "order confirmed"},
        {"gone": "Loading"},
        {"gone": "#old"},
        {"selector": "#new"},
        {"url": "/done/"},
        {"url": f"{site}/done/*"},
        {"url": r"/done\/\d$/"},
        {"load": "load"},
        {"js": "window.go && go"},
    ]
    answers = await asyncio.gather(*(actions.wait(page, timeout=3, **condition) for condition in conditions))
    assert [answer["met"] for answer in answers] == [next(iter(condition)) for condition in conditions]
    assert answers[-1]["value"] == {"n": 1}


async def test_waiting_goes_on_through_navigations_and_into_frames(
    page: Page, show: Show, pages: dict[str, str | bytes], site: str
) -> None:
    cross = site.replace("127.0.0.1", "localhost")
    pages["/inner"] = "<script>setTimeout(() => document.body.append('Framed at last'), 200)</script>"
    pages["/second"] = f"<iframe src='{cross}/inner'></iframe>"
    await show("<script>setTimeout(() => location = '/second', 200)</script>")
    assert (await actions.wait(page, timeout=6, text="Framed at last"))["met"] == "text"


@pytest.mark.parametrize(
    "condition", [{"text": "never"}, {"selector": "#never"}, {"gone": "p"}, {"url": "never"}, {"js": "false"}]
)
async def test_a_wait_ends_in_time_and_says_what_for(
    page: Page, show: Show, condition: dict[str, str]
) -> None:
    await show("<p>p</p>")
    began = time.monotonic()
    late = await failure_of(actions.wait(page, timeout=0.5, **condition))
    assert 0.3 < time.monotonic() - began < 1.5
    assert (late.code, next(iter(condition.values())) in late.message) == ("timeout", True)


async def test_a_wait_takes_one_condition(page: Page, show: Show) -> None:
    await show("")
    assert (await failure_of(actions.wait(page))).code == "invalid-args"
    assert (await failure_of(actions.wait(page, text="a", url="b"))).code == "invalid-args"
    assert (await failure_of(actions.wait(page, selector="((", timeout=1))).code == "invalid-args"
    assert (await failure_of(actions.wait(page, url="/((/", timeout=1))).code == "invalid-args"
    assert (await failure_of(actions.wait(page, load="soon", timeout=1))).code == "invalid-args"


def png_size(data: str) -> tuple[int, int]:
    return struct.unpack(">II", base64.b64decode(data)[16:24])


async def test_pictures_of_the_viewport_an_element_and_the_whole(page: Page, show: Show) -> None:
    await show("<div id=box style='margin:50px;width:120px;height:40px;background:red'></div>"
               "<div style='height:4000px'></div>")  # fmt: skip
    width, height = await page.evaluate_page("[innerWidth, innerHeight]")
    view = await actions.screenshot(page)
    assert view["mime_type"] == "image/png"
    assert png_size(view["data"]) == (width, height) == (view["width"], view["height"])
    assert png_size((await actions.screenshot(page, target="#box"))["data"]) == (120, 40)
    whole = png_size((await actions.screenshot(page, full_page=True))["data"])
    assert whole[1] > 4000
    small = png_size((await actions.screenshot(page, max_side=200))["data"])
    assert max(small) == 200
    jpeg = base64.b64decode((await actions.screenshot(page, format="jpeg"))["data"])
    webp = base64.b64decode((await actions.screenshot(page, format="webp"))["data"])
    assert (jpeg[:3], webp[8:12]) == (b"\xff\xd8\xff", b"WEBP")
    assert (await failure_of(actions.screenshot(page, format="bmp"))).code == "invalid-args"


async def test_a_tab_behind_another_one_of_its_window_has_its_picture_and_takes_clicks(
    page: Page, show: Show, chromium: RunningConnection, site: str
) -> None:
    await show(
        "<a href='/other' target=_blank>pop</a><button onclick=\"document.title = 'hit'\">Behind</button>"
    )
    before = {target["targetId"] for target in await targets(chromium)}
    await actions.click(page, "text=pop")
    for _ in range(3):
        assert (await actions.screenshot(page, timeout=8))["width"] > 0
    await actions.click(page, "text=Behind")
    assert await title(page) == "hit"
    for target in await targets(chromium):
        if target["targetId"] not in before:
            await chromium.root.call("Target.closeTarget", {"targetId": target["targetId"]})


async def test_a_dialog_ends_a_picture_at_once(page: Page, show: Show) -> None:
    await show("")
    assert (await failure_of(page.evaluate_page("alert(1)"))).code == "dialog-open"
    began = time.monotonic()
    assert (await failure_of(actions.screenshot(page))).code == "dialog-open"
    assert time.monotonic() - began < 0.5
    await page.answer_dialog(True)


async def test_evaluate_in_either_world(page: Page, show: Show) -> None:
    await show("<p>text</p><script>mine = 5</script>")
    assert await actions.evaluate(page, "mine + 1") == 6
    assert await actions.evaluate(
        page, "[typeof mine, document.querySelector('p').textContent]", world="isolated"
    ) == [
        "undefined",
        "text",
    ]
    assert (await failure_of(actions.evaluate(page, "1", world="other"))).code == "invalid-args"


async def test_code_in_the_isolated_world_meets_nothing_of_ours_and_leaves_nothing_for_it(
    page: Page, show: Show
) -> None:
    await show("<button>Save</button>")
    await take(page)  # our script is there
    spoil = """(() => {
        const met = typeof globalThis.windowseatScript;
        globalThis.windowseatScript = { snapshot: () => 'spoilt', count: () => 9 };
        Array.prototype.map = Array.prototype.push = JSON.stringify = () => { throw new Error('spoilt') };
        return met;
    })()"""
    assert await actions.evaluate(page, spoil, world="isolated") == "undefined"
    assert "Save" in (await take(page))["text"]
    assert (await actions.click(page, "button"))["clicked"] == "button “Save”"


async def test_code_that_meets_a_document_that_went_is_cancelled(page: Page, show: Show) -> None:
    await show("one")
    context = await page._callers.context(page.session, page.main_frame, 5)
    await show("two")
    page._callers._contexts[page.main_frame] = context  # as before the event of the new document
    with pytest.raises(BrowserError) as caught:
        await actions.evaluate(page, "1", world="isolated")
    assert (caught.value.code, caught.value.as_dict()["retryable"]) == ("cancelled", True)
