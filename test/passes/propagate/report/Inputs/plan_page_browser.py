#!/usr/bin/env python3
"""plan_page_browser.py PAGE.html REPORT.json ...: opens pages of plans in Chromium and uses them.

What they show is compared with the JSON reports; figures are formatted and blocks are counted here
anew."""
import json
import re
import sys

from webdriver import KEYS, Browser

PANELS = ["summary", "tensors", "collectives", "memory", "graph"]


def bytes_text(value):
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024 or unit == "GiB":
            return "%d B" % value if unit == "B" else "%.1f %s" % (value, unit)
        value /= 1024


def blocks(plan, tensor):
    """How many different blocks the devices have of a tensor whose dimensions are split evenly."""
    seen = set()
    sizes = [(a["axis"].split(":")[0], a["size"]) for a in plan["mesh"]]
    for device in range(plan["devices"]):
        at, rest = {}, device
        for name, size in reversed(sizes):
            at.setdefault(name, []).insert(0, rest % size)
            rest //= size
        seen.add(tuple(tuple(tuple(at[axis]) for axis in dim) for dim in tensor["dims"]))
    return len(seen)


def simple(tensor):
    return len(tensor["shape"]) > 0 and not tensor["is_partial"] and all(
        ":" not in axis for dim in tensor["dims"] for axis in dim) and sum(len(d) > 0 for d in tensor["dims"]) <= 2


class Page:
    def __init__(self, browser, report):
        self.b, self.plan, self.f, self.wrong = browser, report, report["functions"][0], []

    def check(self, holds, text):
        if not holds:
            self.wrong.append(text)

    def panels(self):
        shown = self.b.run("return [...document.querySelectorAll('main > section')].map((s) => s.id)")
        self.check(shown == PANELS, "the panels are %s" % shown)
        for name in PANELS:
            height = self.b.run("return document.getElementById(arguments[0]).getBoundingClientRect().height", name)
            self.check(height > 80, "panel %s is %s high" % (name, height))
        self.check(bytes_text(self.f["memory"]["peak_bytes"]) in self.b.text("#summary .tiles"), "the peak is not in the summary")
        rows = self.b.count("#summary table:first-of-type tbody tr")
        self.check(rows >= 2 + len(self.f["traffic"]), "the summary has %d rows" % rows)

    def tensors(self):
        all_tensors = self.f["arguments"] + self.f["results"]
        shown = self.b.count("#tensors .columns > div:first-child tbody tr")
        self.check(shown == min(100, len(all_tensors)), "%d tensors are listed" % shown)
        for i, tensor in enumerate(self.f["arguments"]):
            if not simple(tensor) or i > 8:
                continue
            self.b.run("const e = document.getElementById('tensor-search'); e.value = arguments[0];"
                       "e.dispatchEvent(new Event('input'))", tensor["value"])
            rows = self.b.run("return [...document.querySelectorAll('#tensors .scroll tbody tr button')].map((b) => b.textContent)")
            label = tensor["name"] or tensor["value"]
            self.check(label in rows, "no row is called %r" % label[:60])
            self.b.run("[...document.querySelectorAll('#tensors .scroll tbody tr button')]"
                       ".find((b) => b.textContent === arguments[0]).click()", label)
            self.check(self.b.text("#tensors .card h3") == label, "the details are not those of %r" % label[:60])
            cells = self.b.count("#tensors .card rect.cell")
            self.check(cells == blocks(self.plan, tensor), "%r has %d blocks" % (label[:60], cells))
        self.b.run("const e = document.getElementById('tensor-search'); e.value = ''; e.dispatchEvent(new Event('input'))")
        self.b.type("#tensor-search", "no such tensor")
        self.check(self.b.count("#tensors .scroll tbody tr") == 0, "the search finds what is not there")

    def collectives(self):
        n = len(self.f["collectives"])
        if not n:
            return
        rows = self.b.run("return [...document.querySelectorAll('#collectives tbody tr:not(.more)')].map((r) => r.cells[3].textContent)")
        counted = sum(int(re.sub(r"\D", "", text) or 1) for text in rows)
        self.check(counted == n or len(rows) == 100, "%d collectives are listed" % counted)
        self.b.click("#collectives tbody button")
        causes = [text for text in self.b.run(
            "return [...document.querySelectorAll('#collectives tr.more:not([hidden]) ol li')].map((e) => e.textContent)")]
        self.check(causes in [c["cause"] for c in self.f["collectives"]], "the causes are %s" % causes)
        kind = self.b.text("#collectives tbody button")
        self.b.click("#collectives tr.more:not([hidden]) .button")
        self.check(self.b.run("return document.activeElement.id") == "graph-view", "no way into the graph")
        self.check(kind in self.b.text("#graph-view [aria-selected='true']"), "another op is chosen in the graph")
        self.b.click("#graph-details li button.inset")
        self.check(self.b.text("#graph-details h3") != "", "the graph has no details")
        found = self.b.count("#summary .scroll button.inset")
        if found:
            self.b.click("#summary .scroll button.inset")
            self.check(self.b.run("return document.activeElement.getAttribute('aria-expanded')") == "true", "no way to a collective")

    def memory(self):
        held, at = [], 0
        for change in self.f["memory"]["over_time"]:
            at += change
            held.append(at)
        self.check(max(held) == self.f["memory"]["peak_bytes"], "the memory over time has another peak")
        for k in {0, len(held) // 2, len(held) - 1}:
            self.b.run("const e = document.getElementById('memory-slider'); e.value = arguments[0]; e.dispatchEvent(new Event('input'))", k)
            text = self.b.text("#memory-at")
            self.check(text.startswith("%s at op %d of %d" % (bytes_text(held[k]), k + 1, len(held))), "memory at %d: %s" % (k, text[:80]))
        kinds = sum(value > 0 for value in self.f["memory"]["by_kind"].values())
        self.check(self.b.count("#memory .card tbody tr") == kinds, "the composition of the peak is another")

    def graph(self):
        view = "#graph-view"
        self.check(0 < self.b.count(view + " .row") < 100, "%d rows are drawn" % self.b.count(view + " .row"))
        number = "return Number(document.querySelector('#graph-view [aria-selected=\"true\"]').dataset.row)"
        self.b.type(view, KEYS["home"])
        self.check(self.b.run(number) == 0, "Home leads elsewhere")
        self.b.type(view, KEYS["down"])
        self.check(self.b.run(number) == 1, "the arrow leads elsewhere")
        self.b.type(view, KEYS["end"])
        last = self.b.run("return Number(document.querySelector('#graph-view [aria-selected=\"true\"]').getAttribute('aria-setsize'))")
        self.check(self.b.run(number) == last - 1, "End leads elsewhere")
        ops = len(self.f["graph"]["kind"])
        self.check(last <= ops, "%d rows for %d ops" % (last, ops))

    def nothing_else(self):
        self.check(self.b.run("return window.broken || null") is None, "a name was run as a script")
        self.check(self.b.count("script") == 2 and self.b.count("img") == 0, "a name has become an element")
        for entry in self.b.console():
            self.check(False, "the console says: %s" % entry[:300])


def main():
    wrong = 0
    with Browser() as browser:
        for page, report in zip(sys.argv[1::2], sys.argv[2::2]):
            browser.open(page)
            p = Page(browser, json.load(open(report, encoding="utf-8")))
            for step in (p.panels, p.tensors, p.collectives, p.memory, p.graph, p.nothing_else):
                try:
                    step()
                except RuntimeError as error:
                    p.wrong.append("%s: %s" % (step.__name__, error))
            for text in p.wrong:
                print("%s: %s" % (page, text))
            wrong += len(p.wrong)
    print("%d problems" % wrong)
    sys.exit(bool(wrong))


main()
