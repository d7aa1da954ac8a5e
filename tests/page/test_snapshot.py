"""Page snapshots of real pages: forms, shadow roots, frames of all kinds, refs that last and die."""

from __future__ import annotations

import re
import time
from collections.abc import Awaitable, Callable

import pytest

from windowseat.errors import BrowserError
from windowseat.page import actions
from windowseat.page.page import Page
from windowseat.page.snapshot import take

pytestmark = pytest.mark.asyncio(loop_scope="module")

Show = Callable[[str], Awaitable[str]]


async def outline(page: Page, **options: object) -> str:
    found = await take(page, **options)
    return str(found["text"])


def ref_of(text: str, name: str) -> str:
    match = re.search(rf'"{re.escape(name)}" (@e\d+)', text)
    assert match, f"{name} has no ref in:\n{text}"
    return match[1]


def without_refs(text: str) -> str:
    return re.sub(r" @e\d+", "", text)


async def test_a_form_reads_as_assistive_technology_has_it(page: Page, show: Show) -> None:
    await show("""
      <form aria-label="Sign up">
        <label>Name <input value="Ann" required></label>
        <label for=pw>Password</label><input id=pw type=password value="s3cret-word">
        <label><input type=checkbox checked> I agree</label>
        <fieldset><legend>Size</legend>
          <label><input type=radio name=s>S</label>
          <label><input type=radio name=s checked>M</label></fieldset>
        <select aria-label=Country><option>DE<option selected>CZ</select>
        <textarea placeholder="Notes"></textarea>
        <input type=range aria-label=Volume value=30>
        <span id=h>Born on</span><input type=date aria-labelledby=h value="2001-02-03">
        <button disabled>Save</button> <input type=submit value="Send it">
        <button aria-expanded=false aria-label="Open menu"><svg><path/></svg></button>
        <div role=switch aria-checked=true tabindex=0>Dark</div>
        <div role=tab aria-selected=true>First</div>
      </form>""")
    assert without_refs(await outline(page)) == "\n".join(
        [
            '- form "Sign up"',
            '  - textbox "Name" [required, value="Ann"]',
            '  - textbox "Password" [type=password]',
            '  - checkbox "I agree" [checked]',
            '  - group "Size"',
            "    - text: Size",
            '    - radio "S" [unchecked]',
            '    - radio "M" [checked]',
            '  - combobox "Country" [value="CZ"]',
            "    - options: DE | CZ",
            '  - textbox "Notes"',
            '  - slider "Volume" [value="30"]',
            "  - text: Born on",
            '  - textbox "Born on" [type=date, value="2001-02-03"]',
            '  - button "Save" [disabled]',
            '  - button "Send it"',
            '  - button "Open menu" [collapsed]',
            '  - switch "Dark" [checked]',
            '  - tab "First" [selected]',
        ]
    )


async def test_text_headings_lists_and_tables_can_be_read(page: Page, show: Show) -> None:
    await show("""
      <main><h1>Hello <i>you</i></h1>
      <p>Some <b>bold</b> text, see <a href="/x">the docs</a>.</p><p>Line one<br>line two</p>
      <ul><li>One<li><a href="/two">Two</a></ul>
      <table><caption>People</caption><thead><tr><th>Name<th>Age</thead>
        <tbody><tr><td>Bob<td>42<tr><td>Eve<td><button>Delete</button></table>
      <div>before<div>block</div>after</div>
      <img src="data:," alt="A cat"><img src="data:," alt=""></main>""")
    assert without_refs(await outline(page)) == "\n".join(
        [
            "- main",
            '  - heading "Hello you" [level=1]',
            "  - paragraph",
            "    - text: Some bold text, see",
            '    - link "the docs"',
            "    - text: .",
            "  - paragraph: Line one line two",
            "  - list",
            "    - listitem: One",
            '    - link "Two"',
            '  - table "People"',
            "    - caption: People",
            "    - row: Name | Age",
            "    - row: Bob | 42",
            "    - row: Eve",
            '      - button "Delete"',
            "  - text: before",
            "  - text: block",
            "  - text: after",
            '  - img "A cat"',
        ]
    )


async def test_what_nobody_sees_is_left_out(page: Page, show: Show) -> None:
    await show("""
      <div style="display:none">gone</div><div aria-hidden=true>silent</div><p hidden>hidden</p>
      <div style="visibility:hidden">invisible <b style="visibility:visible">seen</b></div>
      <details><summary>More</summary>folded <button>in fold</button></details>
      <script>var code</script><style>.a{}</style><template>later</template>
      <div style="display:contents"><button>In contents</button></div>""")
    assert without_refs(await outline(page)) == "\n".join(
        ["- text: seen", '- button "More" [collapsed]', '- button "In contents"']
    )


async def test_shadow_roots_and_slots_are_part_of_it(page: Page, show: Show) -> None:
    await show("""
      <my-card><span slot=title>Title</span><a href="/x">Light link</a></my-card>
      <script>customElements.define('my-card', class extends HTMLElement { constructor() { super();
        this.attachShadow({mode: 'open'}).innerHTML =
          '<h2><slot name=title></slot></h2><button>In shadow</button><slot></slot>'; } })</script>""")
    assert without_refs(await outline(page)) == "\n".join(
        ['- heading "Title" [level=2]', '- button "In shadow"', '- link "Light link"']
    )


async def test_frames_of_all_kinds_are_part_of_it(
    page: Page, show: Show, pages: dict[str, str | bytes], site: str
) -> None:
    cross = site.replace("127.0.0.1", "localhost")
    pages["/inner"] = f"<button>In cross</button><iframe title=deep src='{site}/deep'></iframe>"
    pages["/deep"] = "<button>In deep</button>"
    await show(f"""
      <iframe title=same srcdoc="<button>In same</button>"></iframe>
      <iframe title=cross src="{cross}/inner"></iframe>
      <iframe title=boxed sandbox srcdoc="<button>In boxed</button>"></iframe>""")
    text = await outline(page)
    assert without_refs(text) == "\n".join(
        [
            '- iframe "same"',
            '  - button "In same"',
            '- iframe "cross"',
            '  - button "In cross"',
            '  - iframe "deep"',
            '    - button "In deep"',
            '- iframe "boxed"',
            '  - button "In boxed"',
        ]
    )
    assert len(page.frames.apart) >= 2, "cross-site frames should have processes of their own"
    assert len(set(re.findall(r"@e\d+", text))) == 4


async def test_a_stuck_frame_costs_only_itself(
    page: Page, show: Show, pages: dict[str, str | bytes], site: str
) -> None:
    pages["/stuck"] = "<button>never</button><script>onmessage = () => { while (true); }</script>"
    await show(f'<button>Fine</button><iframe src="{site.replace("127.0.0.1", "localhost")}/stuck"></iframe>')
    await page.evaluate_page("document.querySelector('iframe').contentWindow.postMessage(1, '*')")
    began = time.monotonic()
    text = await outline(page)
    assert time.monotonic() - began < 6
    assert 'button "Fine"' in text
    assert "(this frame does not answer)" in text
    for session in page.frames.apart.values():
        session.send("Runtime.terminateExecution")


async def test_refs_last_as_long_as_their_elements(page: Page, show: Show) -> None:
    await show("<button>One</button><button>Two</button><div id=more></div>")
    first = await outline(page)
    await page.evaluate_page("document.querySelector('#more').innerHTML = '<button>Three</button>'")
    await page.evaluate_page("document.body.prepend(document.querySelector('button:nth-of-type(2)'))")
    second = await outline(page)
    assert ref_of(second, "One") == ref_of(first, "One")
    assert ref_of(second, "Two") == ref_of(first, "Two")
    assert ref_of(second, "Three") not in re.findall(r"@e\d+", first)


async def test_a_rerendered_element_gets_a_new_ref_and_the_old_one_is_stale(page: Page, show: Show) -> None:
    await show("<div id=root><button>Pay</button></div>")
    old = ref_of(await outline(page), "Pay")
    await page.evaluate_page("document.querySelector('#root').innerHTML = '<button>Pay</button>'")
    new = ref_of(await outline(page), "Pay")
    assert new != old
    with pytest.raises(BrowserError) as failure:
        await actions.click(page, old, timeout=1)
    assert (failure.value.code, failure.value.retryable) == ("stale-ref", True)
    await actions.click(page, new)


async def test_refs_die_with_their_document_and_never_come_again(page: Page, show: Show, site: str) -> None:
    await show("<button>One</button>")
    old = ref_of(await outline(page), "One")
    await page.reload()
    with pytest.raises(BrowserError) as failure:
        await actions.click(page, old, timeout=1)
    assert failure.value.code == "stale-ref"
    assert ref_of(await outline(page), "One") != old
    await page.navigate("about:blank")
    await page.back()
    assert ref_of(await outline(page), "One") != old


async def test_refs_of_a_frame_die_when_it_navigates(
    page: Page, show: Show, pages: dict[str, str | bytes], site: str
) -> None:
    cross = site.replace("127.0.0.1", "localhost")
    pages["/a"], pages["/b"] = "<button>Old</button>", "<button>New</button>"
    await show(f'<button>Top</button><iframe src="{cross}/a"></iframe>')
    text = await outline(page)
    old, top = ref_of(text, "Old"), ref_of(text, "Top")
    await page.evaluate_page(f"document.querySelector('iframe').src = '{cross}/b'")
    await actions.wait(page, selector='role=button[name="New"]')
    with pytest.raises(BrowserError) as failure:
        await actions.click(page, old, timeout=1)
    assert failure.value.code == "stale-ref"
    assert ref_of(await outline(page), "Top") == top


async def test_password_values_never_appear(page: Page, show: Show) -> None:
    await show("""
      <label>Old <input type=password value=hunter2-a></label>
      <label>Odd <input type=password role=textbox value=hunter2-b></label>
      <input autocomplete=current-password aria-label=Auto value=hunter2-c>
      <label>Shown <input id=shown type=password value=hunter2-d></label>""")
    assert "hunter2" not in str(await take(page))
    await page.evaluate_page("document.querySelector('#shown').type = 'text'")
    assert "hunter2" not in str(await take(page))


async def test_clickable_things_without_a_role_get_a_ref(page: Page, show: Show) -> None:
    await show("""
      <div style="cursor:pointer" onclick="document.title='card'">Card <b>one</b></div>
      <div tabindex=0>Focusable</div><div contenteditable aria-label=Editor>words</div>
      <div style="cursor:pointer"><p>Wide</p><button>Inner</button></div>""")
    text = await outline(page)
    assert without_refs(text) == "\n".join(
        [
            '- clickable "Card one"',
            '- clickable "Focusable"',
            '- textbox "Editor" [value="words"]',
            "- clickable",
            "  - paragraph: Wide",
            '  - button "Inner"',
        ]
    )
    await actions.click(page, ref_of(text, "Card one"))
    assert await page.evaluate_page("document.title") == "card"


async def test_within_interactive_and_since_narrow_it(page: Page, show: Show) -> None:
    await show("<h1>Head</h1><form><button>A</button><p>text</p></form><button>B</button><p id=p>old</p>")
    whole = await take(page)
    assert without_refs(await outline(page, within="form")) == '- button "A"\n- paragraph: text'
    assert without_refs(await outline(page, interactive=True)) == '- button "A"\n- button "B"'
    assert (await take(page, since=whole["id"]))["text"] == "(nothing changed)"
    await page.evaluate_page("document.querySelector('#p').textContent = 'new'")
    changed = await take(page, since=whole["id"])
    assert changed["text"] == "- - paragraph: old\n+ - paragraph: new"
    unknown = await take(page, since="s0")
    assert "not known any more" in unknown["hint"]
    assert 'heading "Head"' in unknown["text"]
    with pytest.raises(BrowserError) as failure:
        await take(page, within="#none")
    assert failure.value.code == "not-found"


async def test_long_names_and_long_pages_are_cut_and_say_how_to_go_on(page: Page, show: Show) -> None:
    await show("<button>" + "long " * 100 + "</button>" + "<p>some words of text</p>" * 3000)
    found = await take(page)
    assert found["truncated"]
    assert len(found["text"]) <= 40_000
    assert "within" in found["hint"]
    name = re.search(r'button "([^"]*)"', found["text"])
    assert name
    assert len(name[1]) == 200


async def test_beyond_max_refs_elements_are_told_without_one(page: Page, show: Show) -> None:
    await show("".join(f"<button>B{n}</button>" for n in range(30)))
    found = await take(page, max_refs=10)
    assert found["refs"] == 10
    assert len(re.findall(r"@e\d+", found["text"])) == 10
    assert 'button "B29"' in found["text"]
    assert found["truncated"]
    assert "20 more" in found["hint"]
    assert (await take(page))["refs"] == 30


async def test_a_page_of_a_thousand_rows_is_quick(page: Page, show: Show) -> None:
    rows = "".join(
        f"<tr><td>{n}<td>Person {n}<td><a href=/p/{n}>open</a><td><button>Del</button>" for n in range(1000)
    )
    await show(f"<table>{rows}</table>")
    await page.session.call("Performance.enable", {"timeDomain": "threadTicks"})
    before = await busy(page)
    for _ in range(3):
        await take(page)
    # The renderer's own processor time: other work on this machine does not count.
    assert (await busy(page) - before) / 3 < 0.15


async def busy(page: Page) -> float:
    """Seconds of processor time that the page's main thread has spent in scripts."""
    answer = await page.session.call("Performance.getMetrics")
    return next(metric["value"] for metric in answer["metrics"] if metric["name"] == "ScriptDuration")


async def test_a_dialog_is_told_instead_of_hanging(page: Page, show: Show) -> None:
    await show("")
    with pytest.raises(BrowserError):
        await page.evaluate_page("alert('Stop')")
    with pytest.raises(BrowserError) as failure:
        await take(page)
    assert failure.value.code == "dialog-open"
    assert "Stop" in failure.value.message
    await page.answer_dialog(True)


async def test_strange_documents_have_an_outline_too(
    page: Page, pages: dict[str, str | bytes], site: str
) -> None:
    pages["/frames"] = f"<frameset cols=50%,50%><frame src='{site}/in'><frame></frameset>"
    pages["/in"] = "<button>Framed</button>"
    await page.navigate(f"{site}/frames")
    assert 'button "Framed"' in await outline(page)
    await page.navigate("about:blank")
    assert await outline(page) == ""
    pages["/x.json"] = '{"a": 1}'
    await page.navigate(f"{site}/x.json")
    assert '"a": 1' in (await outline(page)).replace('\\"', '"')
    pages["/deep"] = "<div>" * 5000 + "x"
    await page.navigate(f"{site}/deep")
    assert (await take(page))["truncated"] in (True, False)
