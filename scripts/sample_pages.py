"""A few small pages that look like what people have open: for pictures of the product."""

from __future__ import annotations

BASE = """<!doctype html><meta charset=utf-8><meta name=viewport content="width=device-width">
<title>{title}</title><link rel=icon href="data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'>\
<rect width='16' height='16' rx='4' fill='{color}'/></svg>">
<style>
*{{box-sizing:border-box}} body{{margin:0;font:16px/1.5 system-ui,sans-serif;color:#1d1d20;background:#fff}}
header{{padding:18px 28px;background:{head};color:{headtext};font-weight:700;font-size:20px}}
main{{max-width:{width}px;margin:28px auto;padding:0 20px}} h1{{font-size:26px;margin:0 0 14px}}
label{{display:block;margin:12px 0 4px;font-size:14px;color:#555}}
input,select{{width:100%;padding:11px 14px;font:inherit;border:1px solid #ccd;border-radius:8px;background:#fff}}
button{{margin-top:18px;width:100%;padding:13px;font:inherit;font-weight:700;color:#fff;background:#1f6feb;border:0;border-radius:8px}}
.grid{{display:grid;grid-template-columns:repeat(3,1fr);gap:18px}} .item{{background:#f0f1f5;border-radius:10px;padding:14px}}
.item i{{display:block;height:110px;border-radius:8px;margin-bottom:10px}}
pre{{background:#f5f6f8;padding:14px;border-radius:8px;font:13px/1.5 ui-monospace,monospace;overflow:auto}}
.bars{{display:flex;align-items:flex-end;gap:8px;height:190px;margin-top:18px}} .bars b{{flex:1;background:#00a876;border-radius:4px 4px 0 0}}
.add{{background:#e6f6ec}} .del{{background:#fdecec}}
</style>
{body}"""


def _page(
    title: str, color: str, body: str, *, head: str = "#fff", text: str = "#111", width: int = 720
) -> str:
    return BASE.format(title=title, color=color, body=body, head=head, headtext=text, width=width)


CHECKOUT = _page(
    "Checkout · Shop",
    "%23e4572e",
    """<header>Shop</header><main style="max-width:440px"><h1>Checkout</h1><form onsubmit="return false">
<label for=name>Your name</label><input id=name><label for=street>Street and number</label><input id=street>
<label for=town>Town</label><input id=town><label for=delivery>Delivery</label>
<select id=delivery><option>Standard delivery<option>Express (tomorrow)</select><button>Pay now</button></form></main>""",
    head="#fff7f2",
)
SHELF = _page(
    "Cart · Shop",
    "%23e4572e",
    "<header>Shop</header><main><h1>Seeds for spring</h1><div class=grid>"
    + "".join(
        f"<div class=item><i style='background:{c}'></i><b>{n}</b><br>€ {p}</div>"
        for n, p, c in (
            ("Poppy", "2.40", "#f4a698"),
            ("Lavender", "3.10", "#c3b1e1"),
            ("Basil", "1.90", "#a8d5a2"),
            ("Marigold", "2.20", "#f7c873"),
            ("Cornflower", "2.60", "#9fbfe8"),
            ("Dill", "1.70", "#cfe3a8"),
        )
    )
    + "</div></main>",
    head="#fff7f2",
)
SIGN_IN = _page(
    "Sign in · Payments",
    "%236c5ce7",
    """<main style="max-width:380px;margin-top:90px"><h1>Payment sandbox</h1><form onsubmit="return false"><label for=u>E-mail</label><input id=u>
<label for=p>Password</label><input id=p type=password><button style="background:#6c5ce7">Sign in</button></form></main>""",
)
REVIEW = _page(
    "Pull request 188 · cart totals",
    "%2324292f",
    """<header>garden / shop</header><main><h1>Round cart totals once, at the end</h1><p>3 files changed, all checks passed.</p>
<pre><span class=del>- total = sum(round(item.price * item.count, 2) for item in cart)
</span><span class=add>+ total = round(sum(item.price * item.count for item in cart), 2)
</span>  return Money(total, cart.currency)</pre><p>Reviewed by two people. Nothing blocks a merge.</p></main>""",
    head="#24292f",
    text="#fff",
)
LATENCY = _page(
    "Latency · Dashboard",
    "%2300a876",
    "<header>Dashboard</header><main><h1>Latency, last hour</h1><div class=bars>"
    + "".join(
        f"<b style='height:{h}%'></b>"
        for h in (32, 36, 31, 44, 58, 47, 39, 35, 62, 91, 74, 52, 41, 38, 36, 33)
    )
    + "</div><p>p95 212 ms, p99 540 ms</p></main>",
    head="#10241d",
    text="#d6f5e9",
)
REFERENCE = _page(
    "API reference · Orders",
    "%23888",
    """<header>API reference</header><main><h1>POST /orders</h1><p>Creates an order from a cart. Answers 201 with the order, or 409 when
an item has gone.</p><pre>{"cart": "c_81", "delivery": "express"}</pre><h1>GET /orders/{id}</h1><p>Reads one order. The
totals are rounded once, at the end.</p></main>""",
)

PAGES = {
    "/checkout": CHECKOUT,
    "/cart": SHELF,
    "/sign-in": SIGN_IN,
    "/pull/188": REVIEW,
    "/latency": LATENCY,
    "/reference": REFERENCE,
}
