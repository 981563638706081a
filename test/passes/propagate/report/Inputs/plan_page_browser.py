#!/usr/bin/env python3
"""plan_page_browser.py PAGE.html REPORT.json ...: opens pages of plans in Chromium and uses them.

What they show is compared with the JSON reports; figures are formatted and blocks are counted here
anew."""
import json
import os
import re
import sys
import tempfile
import unicodedata

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../.."))
from webdriver import KEYS, Browser  # noqa: E402

PANELS = ["summary", "tensors", "collectives", "timeline", "memory", "mesh", "what-if", "graph"]


def bytes_text(value):
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024 or unit == "GiB":
            return "%d B" % value if unit == "B" else "%.1f %s" % (value + 1e-9, unit)  # toFixed rounds halves up
        value /= 1024


def visible(text):
    """A text as it is shown: controls and formats but joiners, and separators of lines, are escapes."""
    return "".join("\\u%04x" % ord(c) if unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp") and c not in "\u200c\u200d" else c for c in text)


def seconds_text(seconds):
    if seconds == 0:
        return "0 s"
    value = seconds * 1e9
    for unit in ("ns", "us", "ms", "s"):
        if value < 1000 or unit == "s":
            return "%s %s" % (value_text(value), unit)
        value /= 1000


def value_text(value):
    """Four digits, as Number.toPrecision(4) writes them."""
    return "%.*f" % (max(0, 3 - len(str(int(value))) + 1), value) if value >= 1 else "%.4g" % value


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


def price(alternative):
    extra, least = alternative["extra_seconds"], alternative["extra_seconds"] - (alternative["cost_seconds"] - alternative["bound_seconds"])
    if extra <= 0:
        return "the same" if extra == 0 else seconds_text(-extra) + " less"
    if seconds_text(max(least, 0)) == seconds_text(extra):
        return seconds_text(extra) + " more"
    return "%s to %s more" % ("0" if least < extra / 100 else seconds_text(least), seconds_text(extra))


def lines(graph):
    """The IR of all ops, with the names of their values."""
    names = [graph["texts"][t] or "%%op%d" % k for k, t in enumerate(graph["value"])]
    for k, kind in enumerate(graph["kind"]):
        makers = [names[maker] if maker >= 0 else "%%arg%d" % (-1 - maker) for maker in graph["operands"][k]]
        yield "".join(names[k] if part is None else makers[part] if isinstance(part, int) else part for part in graph["kinds"][kind]["line"])


class Page:
    def __init__(self, browser, path, report):
        self.b, self.path, self.plan, self.f, self.wrong = browser, path, report, report["functions"][0], []

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
        self.check((self.f["step"]["overlapped_seconds"] is not None) == ("of communication hidden" in self.b.text("#summary .tiles")),
                   "the summary does not say what is hidden")
        memory = self.f["memory"]
        if memory["limit_bytes"] is None and memory["device_bytes"]:
            text = self.b.text("#summary .tiles")
            self.check(bytes_text(memory["device_bytes"]) in text and ("Does not fit" in text) == (memory["peak_bytes"] > memory["device_bytes"]),
                       "the memory of a device is not in the summary")
            share = memory["peak_bytes"] / memory["device_bytes"]
            self.check(share > 1 or "Fits: %s of a device" % ("< 0.1 %" if share < 0.0005 else "%.1f %%" % (100 * share)) in text,
                       "the share of the memory is not in the summary")
        self.summary_words()
        rows = self.b.count("#summary table:first-of-type tbody tr")
        self.check(rows >= 2 + len(self.f["traffic"]), "the summary has %d rows" % rows)

    def summary_words(self):
        text, step = self.b.text("#summary .tiles"), self.f["step"]
        if step["overlapped_seconds"] is None and step["collective_seconds"] > 0:
            self.check("%.1f %% of the time is collectives. None of it is hidden" % (100 * step["collective_seconds"] / step["seconds"]) in text,
                       "the share of collectives is not in the summary")
        kinds = {}
        for t in self.f["traffic"]:
            kinds.setdefault(t["kind"], []).append(t)
        sums = sorted(kinds, key=lambda kind: -sum(t["bytes_per_device"] for t in kinds[kind]))
        at = [text.find("%s %s: over " % (kind, bytes_text(sum(t["bytes_per_device"] for t in kinds[kind]))) if len(kinds[kind]) > 1 else
                        "%s over %s %s" % (kind, kinds[kind][0]["axes"], bytes_text(kinds[kind][0]["bytes_per_device"]))) for kind in sums]
        self.check(-1 not in at and at == sorted(at), "the kinds of collectives are not in the summary, the largest first")
        small = self.b.run("return [...document.querySelectorAll('#summary table:first-of-type tbody tr')].filter((r) => r.cells[1].textContent !== '0 s')"
                           ".map((r) => r.cells[2].textContent)")
        self.check("0.0 %" not in small, "a share above 0 is 0.0 %")
        prices = self.b.text("#alternatives") if any(c["alternative"] for c in self.f["collectives"]) else ""
        for alternative in (c["alternative"] for c in self.f["collectives"] if c["alternative"]):
            self.check(price(alternative) in prices, "no price of another choice is %r" % price(alternative))
        self.annotations()
        compute = self.b.run("return [...document.querySelectorAll('#compute tbody tr')].map((r) => r.cells[1].textContent)")
        ops = [kind for kind in map(self.f["graph"]["kinds"].__getitem__, self.f["graph"]["kind"]) if kind["op"] != "shard.shard" and kind["modelled_seconds"] > 0]
        self.check(sum(int(n.replace("x", "") or 0) for n in compute) == len(ops) or len(compute) == 9, "the ops that compute are %s" % compute)

    def annotations(self):
        """What annotations cost, in the summary and with the first tensor of each group."""
        groups = self.f["annotation_groups"]
        shown = self.b.run("return [...document.querySelectorAll('#annotations tbody tr')].map((r) => r.lastChild.textContent)")
        together = self.f["without_annotations"]
        # those of which nothing is known but that all together cost no more are one row
        unknown = [g for g in groups if len(groups) > 1 and g["saves_seconds"] is None and together["saves_seconds"] is None
                   and together["bound_without_seconds"] not in (None, self.f["solution"]["cost_seconds"])
                   and g["bound_without_seconds"] == together["bound_without_seconds"]]
        known = [g for g in groups if g not in unknown]
        bounds = [g["bound_without_seconds"] for g in known if g["saves_seconds"] is None and g["bound_without_seconds"] is not None]
        many = [bound for bound in set(bounds) if bounds.count(bound) > 6]  # one row for each of them
        seen = []
        for g in list(known):
            if g["saves_seconds"] is None and g["bound_without_seconds"] in many:
                if g["bound_without_seconds"] in seen:
                    known.remove(g)
                seen.append(g["bound_without_seconds"])
        costs = [self.annotation_cost(g) for g in known] + [self.annotation_cost(together)] * (len(groups) > 1)
        costs += ["no more than all"] * (len(unknown) > 0)
        self.check(sorted(shown) == sorted(costs), "annotations cost %s, not %s" % (shown, costs))
        for group in groups[:3]:
            kind, numbers = group["annotation"]["place"], group["numbers"]
            if kind == "argument" and numbers[-1] < 50:
                tensor = self.f["arguments"][numbers[-1]]
                self.b.run("[...document.querySelectorAll('#tensors .scroll tbody tr button')].find((b) => b.textContent === arguments[0]).click()",
                           visible(tensor["description"] or tensor["value"]))
                fact = self.b.text("#tensors .card .facts")
                self.check("an annotation of the program" in fact and self.annotation_cost(group) in fact, "the price of %s is not at it" % numbers)

    def annotation_cost(self, group):
        cost, bound, saves = self.f["solution"]["cost_seconds"], group["bound_without_seconds"], group["saves_seconds"]
        if bound is None:
            return "not looked at"
        if saves is None and bound >= cost:
            return "nothing"
        save = cost - bound if saves is None else saves
        share = "< 0.1 %" if save < cost * 0.0005 else "%.1f %%" % (100 * save / cost)
        return "%s%s (%s)" % ("at most " if saves is None else "", seconds_text(save), share)

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
            label = visible(tensor["description"] or tensor["value"])
            self.check(label in rows, "no row is called %r" % label[:60])
            self.b.run("[...document.querySelectorAll('#tensors .scroll tbody tr button')]"
                       ".find((b) => b.textContent === arguments[0]).click()", label)
            self.check(self.b.text("#tensors .card h3") == label, "the details are not those of %r" % label[:60])
            readers = sum(-1 - i in makers for makers in self.f["graph"]["operands"])
            moved = sum(c["value"] == tensor["value"] for c in self.f["collectives"])
            links = self.b.count("#tensors .card li button")
            text = "gradient of " + tensor["description"]
            gradients = sum(c["description"] == text or c["description"].startswith(text + " before ") for c in self.f["collectives"]) \
                if tensor["description"] else 0
            self.check(links == min(20, readers) + min(20, moved) + min(20, gradients), "%r has %d links" % (label[:60], links))
            details = self.b.text("#tensors .card .facts")
            self.check(tensor["type"] in details and tensor["sharding"] in details, "no type or layout of %r" % label[:60])
            line = "%s: %s%s" % (tensor["value"], tensor["type"], " " * bool(tensor["attributes"]) + tensor["attributes"])
            self.check(self.b.text("#tensor-line") == line, "the IR of %r is %r" % (label[:60], self.b.text("#tensor-line")[:200]))
            self.check(tensor["location"] in details, "no source line of %r" % label[:60])
            cells = self.b.count("#tensors .card rect.cell")
            self.check(cells == blocks(self.plan, tensor), "%r has %d blocks" % (label[:60], cells))
            self.check(cells == 1 or "the %s values in %d different blocks of %s" % (
                " x ".join(map(str, tensor["shape"])), cells, " x ".join(map(str, tensor["local_shape"]))) in self.b.text("#tensors .card caption"),
                "the blocks of %r are %r" % (label[:60], self.b.text("#tensors .card caption")))
            first = self.b.run("return document.querySelector('#tensors .card details tbody td').textContent")
            self.check(first.endswith(")") and re.match(r"[0-9, -]+ \(" + re.escape(next(iter(self.coordinates(0)))) + " 0", first), "the devices are %r" % first)
        self.b.run("const e = document.getElementById('tensor-search'); e.value = ''; e.dispatchEvent(new Event('input'))")
        self.b.type("#tensor-search", "no such tensor")
        self.check(self.b.count("#tensors .scroll tbody tr") == 0, "the search finds what is not there")

    def keys(self):
        """Lists are one Tab stop each, and have arrow keys; Escape clears searches and closes details."""
        stops = self.b.run("return [...document.querySelectorAll('a, button, input, select, summary, [tabindex]')]"
                           ".filter((e) => e.tabIndex >= 0 && e.getClientRects().length && e.id !== 'main').map((e) => [e.closest('section')?.id, e.tagName])")
        for part, most in (("summary", 1), ("tensors", 9), ("collectives", 6), ("timeline", 4), ("memory", 4), ("mesh", 2), ("what-if", 3), ("graph", 7)):
            there = [tag for section, tag in stops if section == part]
            self.check(len(there) <= most, "%s has %d Tab stops: %s" % (part, len(there), there))
        name = "return document.activeElement.textContent"
        rows = self.b.run("return [...document.querySelectorAll('#tensors .columns > div:first-child tbody button')].map((b) => b.textContent)")
        self.b.click("#tensors tbody button")
        for key, expected in (("down", min(1, len(rows) - 1)), ("end", len(rows) - 1), ("down", len(rows) - 1), ("home", 0), ("up", 0)):
            self.b.press(KEYS[key])
            self.check(self.b.run(name) == rows[expected], "%s leads to %r" % (key, self.b.run(name)))
            self.check(self.b.text("#tensors .card h3") == rows[expected], "%s shows %r" % (key, self.b.text("#tensors .card h3")))
        self.b.click("#tensors .card summary")
        self.b.press(KEYS["escape"])
        self.check(self.b.count("#tensors .card h3") == 0 and self.b.run(name) == rows[0], "Escape leaves the details of a tensor open")
        self.b.type("#tensor-search", "no such tensor" + KEYS["escape"])
        self.check(self.b.count("#tensors .columns > div:first-child tbody tr") == len(rows), "Escape does not clear the search")
        self.b.type("#graph-view", KEYS["end"] + KEYS["escape"])
        self.check(self.b.count("#graph-details h3") == 0, "Escape leaves the details of an op open")
        self.b.press(KEYS["enter"])
        self.check(self.b.count("#graph-details h3") == 1, "Enter does not open the details of an op")
        if self.f["collectives"]:
            self.b.click("#collectives button[aria-expanded]")
            self.b.press(KEYS["escape"])
            self.check(self.b.count("#collectives tr.more:not([hidden])") == 0, "Escape leaves a collective open")

    def ways(self):
        """From an argument to a reader, to what that reads, and Back; a fragment opens the place."""
        read = [i for i in range(len(self.f["arguments"])) if any(-1 - i in makers for makers in self.f["graph"]["operands"])]
        if not read:
            return
        where = "return [location.hash, document.activeElement.textContent]"
        self.b.run("location.hash = '#argument-%d'" % read[0])
        self.b.wait("setTimeout(arguments[0], 100)")
        label = self.b.text("#tensors .card h3")
        self.check(label in [visible(self.f["arguments"][read[0]]["description"])], "the fragment leads to %r" % label[:60])
        self.b.click("#tensors .card > div:last-child ul button")
        self.check(self.b.run("return location.hash").startswith("#op-"), "a reader is at %s" % self.b.run(where))
        links = self.b.run("return [...document.querySelectorAll('#graph-details ul:first-child button')].map((b) => b.textContent)")
        self.check(label in links, "%r is not among what the op reads: %s" % (label[:60], links))
        self.b.run("[...document.querySelectorAll('#graph-details ul:first-child button')].find((b) => b.textContent === arguments[0]).click()", label)
        self.check(self.b.run(where) == ["#argument-%d" % read[0], label], "the link leads to %s" % self.b.run(where))
        for place in ("#op-", "#argument-%d" % read[0]):
            self.b.back()
            self.b.wait("setTimeout(arguments[0], 100)")
            self.check(self.b.run("return location.hash").startswith(place), "Back leads to %s" % self.b.run(where))
        self.check(self.b.run("return document.activeElement.closest('#tensors .card ul') !== null"), "Back does not lead to the link")
        self.b.run("location.hash = '#op-%d'" % len(self.f["graph"]["kind"]))
        self.b.run("location.hash = '#constructor-0'")

    def collectives(self):
        n = len(self.f["collectives"])
        if not n:
            return
        rows = self.b.run("return [...document.querySelectorAll('#collectives tbody tr:not(.more)')].map((r) => r.cells[3].textContent)")
        counted = sum(int(re.sub(r"\D", "", text) or 1) for text in rows)
        self.check(counted == n or len(rows) == 40, "%d collectives are listed" % counted)
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
        self.member_of_group()
        found = self.b.count("#summary .scroll button.inset")
        if found:
            self.b.click("#summary .scroll button.inset")
            self.check(self.b.run("return document.activeElement.getAttribute('aria-expanded')") == "true", "no way to a collective")

    def member_of_group(self):
        """A collective among equal ones shows its own facts, and each price that is known."""
        for i, c in reversed(list(enumerate(self.f["collectives"]))[-3:]):
            self.b.run("location.hash = arguments[0]", "#collective-%d" % i)
            self.b.wait("setTimeout(arguments[0], 50)")
            opened = self.b.run("const row = document.activeElement.closest('tr'); return row.nextSibling.innerText")
            said = visible(c["description"] or c["value"]).split(" of ")[-1]
            self.check(said in opened and (c["location"] in opened or c["location"] == "unknown"), "collective %d shows %s" % (i, opened[:200]))
            other = c if c["alternative_at"] is None else self.f["collectives"][c["alternative_at"]]
            if other["unmoved"]:
                self.check("Without it, if" in opened, "the price without collective %d is not said" % i)

    def opened(self):
        """An opened row is a place in the history, and nothing scrolls within the list."""
        if not self.f["collectives"]:
            return
        self.b.open(self.path)
        row = "#collectives tbody button[aria-expanded]"
        before = self.b.run("return history.length")
        self.b.click(row)
        self.check(re.fullmatch(r"#collective-\d+", self.b.run("return location.hash")) and self.b.run("return history.length") == min(before + 1, 50),
                   "an opened row is at %s" % self.b.run("return location.hash"))
        inner = self.b.run("const e = document.querySelector('#collectives .scroll'); return e.scrollHeight - e.clientHeight")
        self.check(inner <= 1, "the list of collectives scrolls by %d" % inner)
        self.b.back()
        self.b.wait("setTimeout(arguments[0], 100)")
        self.check(self.b.run("return location.hash") == "#collectives" and self.b.run("return document.activeElement.hasAttribute('aria-expanded')"),
                   "Back from a row leads to %s" % self.b.run("return location.hash"))
        ops = self.f["graph"]["kinds"]
        end = max(k for k, kind in enumerate(self.f["graph"]["kind"]) if ops[kind]["op"] == "func.return")
        for op in self.f["graph"]["collectives"]:
            if op not in self.f["graph"]["operands"][end]:
                continue
            number = self.f["graph"]["operands"][end].index(op)
            name = visible(self.f["results"][number]["description"])
            self.b.run("const e = document.getElementById('collective-search'); e.value = arguments[0]; e.dispatchEvent(new Event('input'))", "result %d" % number)
            rows = self.b.run("return [...document.querySelectorAll('#collectives tbody tr:not(.more)')].map((r) => r.cells[1].textContent)")
            self.check(any("result %d%s" % (number, " (%s)" % name if name else "") in text for text in rows), "result %d is not found: %s" % (number, rows))

    def search_of_graph(self):
        """The search finds ops by their description; Enter goes to the next one, around the end."""
        if self.b.count("#graph-view .row") == 0 or len(self.f["graph"]["kind"]) > 2000:
            return
        self.b.open(self.path)
        graph = self.f["graph"]
        text = next((self.description(k) for k in range(len(graph["kind"])) if len(self.description(k)) > 4 and "#" not in self.description(k)), None)
        if text is None or text != visible(text) or len(text) > 100:
            return
        has = lambda some: text.lower() in (some or "").lower()
        of_kind = [has("%s (%s)" % (kind["op"], kind["body"]) if kind["body"] else kind["op"]) for kind in graph["kinds"]]
        alike = [k for k, kind in enumerate(graph["kind"]) if of_kind[kind] or any(has(graph["texts"][graph[field][k]]) for field in ("value", "description", "at"))]
        self.b.type("#graph-search", text)
        said = "document.querySelector('#graph .controls span').textContent"
        self.check(self.b.run("return " + said) == "1 of %d op%s" % (len(alike), "s" * (len(alike) != 1)), "the search for %r says %s" % (text, self.b.run("return " + said)))
        self.b.type("#graph-search", KEYS["enter"])
        self.check(self.b.run("return " + said).startswith("%d of " % min(2, len(alike))), "Enter leads to %s" % self.b.run("return " + said))
        self.b.type("#graph-search", "zzz")
        self.check(self.b.run("return " + said) == "none", "a search for nothing finds %s" % self.b.run("return " + said))

    def closed(self):
        """Back closes a row that a link opened, and leaves one open that the user opened."""
        if not self.b.count("#summary .scroll button.inset") or self.b.count("#collectives tbody button[aria-expanded]") < 2:
            return
        opened = "return [...document.querySelectorAll('#collectives tbody button[aria-expanded=true]')].map((b) => b.id)"
        for own in (False, True):
            self.b.open(self.path)
            self.b.wait("setTimeout(arguments[0], 100)")
            if own:
                self.b.run("const link = document.querySelector('#summary .scroll button.inset'); link.click();"
                           "const row = document.activeElement; row.click(); row.click()")
                before = self.b.run(opened)
                self.check(len(before) == 1, "the user opened %s" % before)
            else:
                before = []
            self.b.click("#summary .scroll button.inset")
            self.check(len(self.b.run(opened)) == 1, "a link opens %s" % self.b.run(opened))
            self.b.back()
            self.b.wait("setTimeout(arguments[0], 100)")
            self.check(self.b.run(opened) == before, "after Back these are open: %s, not %s" % (self.b.run(opened), before))
        if self.f["graph"]["layers"]:
            rows = "return document.querySelector('#graph-view .row').getAttribute('aria-setsize')"
            folded = self.b.run(rows)
            self.b.run("location.hash = '#op-%d'" % self.f["graph"]["layers"][0]["first"][1])
            self.b.wait("setTimeout(arguments[0], 100)")
            self.check(self.b.run(rows) != folded, "a fragment does not open layers")
            line = list(lines(self.f["graph"]))[self.f["graph"]["layers"][0]["first"][1]]
            self.check(self.b.text("#graph-line") == line, "the op of the second layer is not shown but %r" % self.b.text("#graph-line")[:80])
            self.b.back()
            self.b.wait("setTimeout(arguments[0], 100)")
            self.check(self.b.run(rows) == folded, "Back leaves layers open")

    def coordinates(self, device):
        at = {}
        for axis in reversed(self.plan["mesh"]):
            name, sizes = axis["axis"].split(":")[0], 1
            for part in self.plan["mesh"][self.plan["mesh"].index(axis) + 1:]:
                sizes *= part["size"] if part["axis"].split(":")[0] == name else 1
            at[name] = at.get(name, 0) + device % axis["size"] * sizes
            device //= axis["size"]
        return dict(reversed(at.items()))

    def chosen_work(self):
        return int(self.b.run("return document.getElementById('timeline-view').getAttribute('aria-valuenow')"))

    def timeline(self):
        view, kinds = "#timeline-view", self.f["graph"]["kinds"]
        works = len(self.f["collectives"]) + sum(kinds[k]["modelled_seconds"] > 0 for k in self.f["graph"]["kind"])
        shown = self.b.run("return document.getElementById('timeline-view').getAttribute('aria-valuemax')")
        self.check(int(shown) == works, "%s works are shown" % shown)
        step = self.f["step"]
        length = step["seconds"] if step["overlapped_seconds"] is None else step["overlapped_seconds"]
        self.check("model: " + seconds_text(length) in self.b.text(view), "the step has another length")
        lanes = {c["axes"] for c in self.f["collectives"]} | {"compute"}
        texts = self.b.run("return [...document.querySelectorAll('#timeline-view svg text')].map((t) => t.textContent)")
        self.check(lanes <= set(texts), "the lanes are %s" % texts)
        self.b.type(view, KEYS["home"])
        self.b.type(view, KEYS["right"])
        self.check(self.chosen_work() == min(2, works), "the arrow leads to %d" % self.chosen_work())
        self.b.type(view, KEYS["end"])
        self.check(self.chosen_work() == works, "End leads to %d" % self.chosen_work())
        self.b.type(view, "++")
        self.check(self.b.text("#timeline-at") != "", "nothing is said of a work")
        self.b.type(view, "0")
        if self.f["collectives"]:
            self.run_chosen()

    def choose_file(self, folder, name, text, until):
        path = os.path.join(folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        self.b.type("#run-file", path)
        self.b.wait("const done = arguments[0], look = () => (%s ? done() : setTimeout(look, 20)); look()" % until)

    def run_chosen(self):
        """A run whose collectives take 3 times as long as modelled, and its ops as long."""
        run = {"collectives": [{**c, "measured_seconds": 3 * c["modelled_seconds"]} for c in self.f["collectives"]]}
        run["measured_seconds"] = self.f["step"]["seconds"] + 2 * self.f["step"]["collective_seconds"]
        run["processors"] = self.plan["devices"] - 1
        with tempfile.TemporaryDirectory() as folder:
            self.choose_file(folder, "wrong.json", "{}", "document.getElementById('run-said').textContent")
            self.check("cannot be used" in self.b.text("#run-said"), "a wrong file is taken")
            self.choose_file(folder, "run.json", json.dumps(run), "!document.getElementById('run-said').textContent")
        self.b.wait("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
        tracks = self.b.text("#timeline-view")
        self.check("run: " + seconds_text(run["measured_seconds"]) in tracks, "the run has another length")
        self.check(self.b.count("#timeline-view .off") > 0, "no difference is marked")
        ratios = self.b.run("return [...document.querySelectorAll('#timeline-differences tbody td:last-child')].map((e) => e.textContent)")
        self.check(set(ratios) == {"x 3.0"}, "the differences are %s" % ratios)
        kinds = self.b.run("return [...document.querySelectorAll('#timeline-kinds tbody tr')].map((r) => [r.cells[0].textContent, r.cells[3].textContent])")
        self.check(sorted(kinds) == sorted([t["kind"] + " over " + t["axes"], "x 3.0"] for t in self.f["traffic"]), "the kinds of the run are %s" % kinds)
        shared = "%d ranks shared %d processor" % (self.plan["devices"], run["processors"])
        self.check(shared in self.b.text("#timeline-note"), "it is not said that ranks share processors")
        step = self.f["step"]
        self.check(not self.b.run("return document.getElementById('timeline-own').checked"), "a run 3 times as long has a scale of its own")
        self.own_scales(run["measured_seconds"], step["seconds"] if step["overlapped_seconds"] is None else step["overlapped_seconds"])

        self.slow_run(run)

    def slow_run(self, run):
        """A run 20 times as long as the model, whose collectives take longer together than it: both times are said, and it has its own scale."""
        total = 20 * max(self.f["step"]["seconds"], self.f["step"]["collective_seconds"])
        for c in run["collectives"]:
            c["measured_seconds"] = total * c["modelled_seconds"] / self.f["step"]["collective_seconds"]
        run["measured_seconds"] = total / 2
        with tempfile.TemporaryDirectory() as folder:
            self.choose_file(folder, "slow.json", json.dumps(run), "document.getElementById('timeline-own').checked")
        self.b.wait("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
        title = self.b.run("return document.querySelector('#timeline-view g.run text.quiet:not([text-anchor])').textContent")
        self.check(title == "run: %s (%s summed over the slowest rank of each collective)" % (seconds_text(total / 2), seconds_text(total)), title)

    def own_scales(self, measured, modelled):
        """Tracks have one scale, or each its own; the ratio of their lengths is said."""
        ends = "return ['run', 'model'].map((t) => Math.max(...[...document.querySelectorAll('#timeline-view g.' + t + ' [class^=k]')].map((p) => p.getBBox().x + p.getBBox().width)))"
        run, model = self.b.run(ends)
        self.check(abs((run - 150) / (model - 150) - measured / modelled) < 0.05, "one scale: the tracks end at %s and %s" % (run, model))
        self.b.click("#timeline-own")
        self.b.wait("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
        run, model = self.b.run(ends)
        self.check(abs(run - 1200) < 2 and abs(model - 1200) < 2, "own scales: the tracks end at %s and %s" % (run, model))
        self.b.type("#timeline-view", KEYS["end"])
        self.b.wait("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
        self.check(self.b.count("#timeline-view g.model .chosen") == 1, "the last work is not in sight")
        ratio = re.search(r", ([\d.,]+) times as long as the model", self.b.text("#timeline-note"))
        self.check(ratio and abs(float(ratio.group(1).replace(",", "")) / (measured / modelled) - 1) < 0.05, self.b.text("#timeline-note"))

    def description(self, k):
        graph = self.f["graph"]
        return graph["texts"][graph["description"][k]] or ""

    def purpose(self, names, live, i, first):
        """What a buffer is for: its kind; of values whether they are weights in another layout, gradients, or kept until gradients are made."""
        graph, of, kind = self.f["graph"], live["of"][i], names[live["kind"][i]]
        if kind == "argument" and of < 0:
            return ("weights" if self.f["arguments"][-1 - of]["role"] == "param" else
                    "states" if any(r["updates"] == -1 - of for r in self.f["results"]) else kind)
        if kind != "value" or of < 0:
            return kind
        source = graph["operands"][of][0] if graph["kinds"][graph["kind"][of]]["op"] == "shard.shard" else of
        if source < 0 and self.f["arguments"][-1 - source]["role"] == "param":
            return "weights in another layout"
        if self.description(of).startswith(("gradient ", "update ")):
            return "gradients"
        gradients = next((k for k in range(len(graph["kind"])) if self.description(k).startswith("gradient ")), None)
        return "kept" if gradients is not None and first < gradients <= first + live["to"][i] else "other"

    def memory(self):
        held, at = [], 0
        for change in self.f["memory"]["over_time"]:
            at += change
            held.append(at)
        self.check(max(held) == self.f["memory"]["peak_bytes"], "the memory over time has another peak")
        names = list(self.f["memory"]["by_kind"])
        live = self.f["memory"]["buffers"]
        from_ = [sum(live["from"][: i + 1]) for i in range(min(len(live["from"]), 4000))]
        for k in (0, len(held) // 2, len(held) - 1):
            self.b.run("const e = document.getElementById('memory-slider'); e.value = arguments[0]; e.dispatchEvent(new Event('input'))", k)
            self.b.wait("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
            text = self.b.text("#memory-at")
            self.check(text.startswith("%s at op %d of %d" % (bytes_text(held[k]), k + 1, len(held))), "memory at %d: %s" % (k, text[:80]))
            there = [i for i, first in enumerate(from_) if first <= k <= first + live["to"][i]]
            sums = {}
            for i in there:
                purpose = self.purpose(names, live, i, from_[i])
                sums[purpose] = sums.get(purpose, 0) + live["sizes"][live["size"][i]]
            self.check(sum(sums.values()) == held[k], "the buffers at %d are %s" % (k, sums))
            self.check(self.b.text("#memory-held caption").startswith("%d buffer" % len(there)), "%s at %d" % (self.b.text("#memory-held caption"), k))
            shown = self.b.run("return [...document.querySelectorAll('#memory .card tbody tr')].map((r) => r.cells[1].textContent)")
            self.check(sorted(shown) == sorted(bytes_text(n) for n in sums.values()), "the kinds at %d are %s" % (k, shown))
            parts = self.b.run("return [...document.querySelectorAll('#memory .card tbody tr')].map((r) => r.cells[0].textContent)")
            rows = self.b.run("return [...document.querySelectorAll('#memory-held tbody tr')].map((r) => r.cells[4].textContent)")
            self.check(set(rows) <= {*parts, "smaller ones, not listed"}, "the parts are %s, the rows have %s" % (parts, rows))
        self.b.click("#memory .button")
        self.b.wait("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
        kinds = {names[k]: sum(live["sizes"][live["size"][i]] for i in range(len(from_)) if live["kind"][i] == k and
                               from_[i] <= held.index(max(held)) <= from_[i] + live["to"][i]) for k in range(len(names))}
        self.check(kinds == self.f["memory"]["by_kind"], "the peak is made of %s" % kinds)
        self.check("(the peak)" in self.b.text("#memory-at"), "no way to the peak")
        self.names_at_peak()
        self.way_from_memory(len(held) // 2)

    def way_from_memory(self, k):
        """The op that is shown is a link, and has its time in the step."""
        self.b.run("const e = document.getElementById('memory-slider'); e.value = arguments[0]; e.dispatchEvent(new Event('input'))", k)
        if self.f["step"]["overlapped_seconds"] is None:
            g = self.f["graph"]
            start = sum(g["kinds"][kind]["modelled_seconds"] for kind in g["kind"][:k]) + sum(
                c["modelled_seconds"] for c, op in zip(self.f["collectives"], g["collectives"]) if op < k)
            said = re.search(r", ([0-9.]+ \w+) into the step", self.b.text("#memory-at"))
            units = {"s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
            value, unit = said.group(1).split() if said else ("-1", "s")
            self.check(abs(float(value) * units[unit] - start) <= 1e-3 * start, "op %d is at %s, not %s" % (k, said and said.group(1), start))
        self.b.click("#memory-at button")
        self.b.run("const e = document.getElementById('graph-fillers'); if (e.checked) e.click()")  # the op may be one
        self.check(self.b.run("return location.hash") == "#op-%d" % k, "the op of the memory leads to %s" % self.b.run("return location.hash"))
        device = self.f["memory"]["device_bytes"]
        if device:
            near = device <= 4 * self.f["memory"]["peak_bytes"]
            self.check(("memory of a device " if near else "a device has ") + bytes_text(device) in self.b.text("#memory figure"), "the curve has no memory of a device")

    def names_at_peak(self):
        """Every row of the peak has a name, and so have results and changes of layout."""
        shown = self.b.run("return [...document.querySelectorAll('#memory-held tbody tr')].map((r) => [r.cells[4].textContent, r.cells[5].textContent])")
        for kind, text in shown:
            self.check(text not in ("", "-") or kind.startswith("smaller"), "%s have no name" % kind)
            self.check(not re.search("%op|(^|, )%[0-9]", text), "a name is %r" % text[:60])
        listed = " ".join(text for _, text in shown)
        if ", ..." in listed:
            return
        for held in self.f["memory"]["values"]:
            what = visible(held["description"])
            if held["result"] is not None:
                self.check("%d (%s)" % (held["result"], what) in listed, "result %d has no name" % held["result"])
            elif held["kind"] != "constants" and (held["op"] or "").split(".")[0] != "scf" and "loop" not in what:
                self.check(what.split(" of ")[-1] in listed, "%s is not named" % what)

    def mesh(self):
        devices = self.b.count("#mesh rect.device")
        self.check(devices == self.plan["devices"], "%d devices are drawn" % devices)
        titles = self.b.run("return [...document.querySelectorAll('#mesh rect.device title')].map((t) => t.textContent)")
        self.check(titles == ["device %d (%s)" % (d, ", ".join("%s %d" % at for at in self.coordinates(d).items())) for d in range(devices)],
                   "the devices are %s" % titles)
        rows = self.b.run("return [...document.querySelectorAll('#mesh .scroll:not(.bare) tbody tr')].map((r) => "
                          "[...r.cells].map((c) => c.textContent))")
        parts = rows[: len(self.plan["mesh"])]
        self.check([row[0] for row in parts] == [part["axis"] for part in self.plan["mesh"]], "the links are %s" % parts)
        sent = {}
        for t in self.f["traffic"]:
            sent[t["axes"]] = sent.get(t["axes"], 0) + t["bytes_per_device"]
        self.check({row[0]: row[1] for row in rows[len(parts):]} == {axes: bytes_text(n) for axes, n in sent.items()}, "the groups are %s" % rows)

    def what_if(self):
        frontier, against = self.f["frontier"], self.f["against"]
        rows = self.b.count("#frontier > table > tbody > tr")
        self.check(rows == len(frontier), "the frontier has %d rows" % rows)
        found = sum(p["peak_bytes"] is not None for p in frontier)
        self.check(self.b.count("#what-if circle") == found, "%d plans are drawn" % self.b.count("#what-if circle"))
        self.check(self.b.run("return [...document.querySelectorAll('#frontier > table > tbody > tr')].map((r) => r.cells[6]?.querySelector('bdi')?.textContent ?? '')") ==
                   [visible(p["changes_from_this"]) for p in reversed(frontier)], "the frontier is not compared with this plan")
        moves = [[str(m["count_before"]), str(m["count"])] for p in reversed(frontier) for m in (p["against_this"] or {"moves": []})["moves"]]
        self.check(self.b.run("return [...document.querySelectorAll('#frontier details tbody tr')].map((r) => [r.cells[2].textContent, r.cells[3].textContent])") ==
                   moves, "what moves within less memory is not listed")
        wide = self.b.run("const box = document.querySelector('#what-if .lost'); return box ? [...box.parentNode.querySelectorAll('.lost ~ text')].filter((t) => {"
                          "const a = t.getBBox(), b = box.getBBox(); return a.x < b.x + b.width && a.x + a.width > b.x + b.width;}).map((t) => t.textContent) : []")
        self.check(not wide, "labels run out of their box: %s" % wide)
        if not against:
            self.check(self.b.count("#against") == 0, "there is an older plan")
            return
        shown = self.b.run("return [...document.querySelectorAll('#against-layouts tbody tr')].map((r) => [r.cells[2].textContent, r.cells[3].textContent])")
        differ = [[change["before"], change["now"]] for change in against["tensors"] + against["values"]]
        self.check(shown == differ, "%d layouts differ, %d are shown" % (len(differ), len(shown)))
        rows = self.b.count("#against tbody tr")
        self.check(rows == 5 + max(1, len(against["traffic"])), "%d sums are shown" % rows)

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
        self.check(self.b.text("#graph-line") == list(lines(self.f["graph"]))[-1], "the IR of the last op is another")
        ops = len(self.f["graph"]["kind"])
        self.check(last <= ops, "%d rows for %d ops" % (last, ops))
        self.b.type(view, KEYS["home"])
        hidden = ("arith.constant", "tensor.empty", "linalg.fill", "shard.sharding")
        for k in range(min(last, 10)):
            title = self.b.run("return document.querySelector('#graph-view [aria-selected=\"true\"]').textContent")
            self.check(not any(op in title for op in hidden), "row %d is %s" % (k, title))
            self.b.type(view, KEYS["down"])

    def paper(self):
        """On A4 with margins of 1 cm, 718 points of the style sheet, nothing is wider than the page."""
        self.b.command("Emulation.setEmulatedMedia", media="print")
        self.b.command("Emulation.setDeviceMetricsOverride", width=718, height=1047, deviceScaleFactor=1, mobile=True)
        wide = self.b.run("return [...document.querySelectorAll('main *')].filter((e) => !e.closest('svg, .graph') && e.getBoundingClientRect().right > "
                          "document.documentElement.clientWidth + 1).map((e) => [e.closest('section').id, e.tagName, e.getBoundingClientRect().right])")
        self.check(not wide, "wider than the page: %s" % wide[:4])
        self.b.command("Emulation.clearDeviceMetricsOverride")
        self.b.command("Emulation.setEmulatedMedia", media="")

    def nothing_else(self):
        self.check(self.b.run("return window.broken || null") is None, "a name was run as a script")
        self.check(self.b.count("script") == 3 and self.b.count("img") == 0, "a name has become an element")
        shown = self.b.run("return document.body.innerText + [...document.querySelectorAll('[title]')].map((e) => e.title).join('') + document.title")
        unseen = {c for c in shown if c != visible(c)} - set("\n\t")  # which stand between cells
        self.check(not unseen, "the page shows %s" % sorted(unseen))
        for entry in self.b.console():
            self.check(False, "the console says: %s" % entry[:300])


def main():
    wrong = 0
    with Browser() as browser:
        for page, report in zip(sys.argv[1::2], sys.argv[2::2]):
            browser.open(page)
            p = Page(browser, page, json.load(open(report, encoding="utf-8")))
            for step in (p.panels, p.tensors, p.ways, p.keys, p.collectives, p.opened, p.closed, p.search_of_graph, p.timeline, p.memory, p.mesh, p.what_if, p.graph, p.paper, p.nothing_else):
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
