#!/usr/bin/env python3
"""plan_page.py PAGE.html REPORT.json [RUN.json]: checks the page of a plan as a browser reads it.

It has one script and one style, whose hashes the Content-Security-Policy names, and the document of
REPORT.json in between, behind the times of the run. Nothing of the document ends its element."""
import base64
import hashlib
import html.parser
import json
import re
import sys


class Reader(html.parser.HTMLParser):
    """Collects the elements with their attributes, and the text of those that hold no elements."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.elements, self.texts, self.raw = [], [], None

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self.raw = tag if tag in ("script", "style") else None
        if self.raw:
            self.texts.append((tag, dict(attrs), []))

    def handle_endtag(self, tag):
        self.raw = None

    def handle_data(self, data):
        if self.raw:
            self.texts[-1][2].append(data)


def hash_of(text):
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def run_problems(text, ran):
    """The element of the run is null, or has the times of its report and no text that a user chose."""
    run = json.loads(text)
    if ran is None:
        if run is not None:
            yield "it has times of a run"
        return
    fields = ("kind", "axes", "count", "bytes_per_device", "measured_seconds")
    if run != {"measured_seconds": ran["measured_seconds"], "processors": ran["processors"], "collectives": [{f: c[f] for f in fields} for c in ran["collectives"]]}:
        yield "the times are not those of the run"


def problems(page, report, ran):
    reader = Reader()
    reader.feed(page)
    tags = [tag for tag, _ in reader.elements]
    policy = [a["content"] for t, a in reader.elements if a.get("http-equiv") == "Content-Security-Policy"]
    raw = [(tag, attributes, "".join(parts)) for tag, attributes, parts in reader.texts]
    if [tag for tag, _, _ in raw] != ["style", "script", "script", "script"]:
        yield "it has other scripts and styles: %s" % [tag for tag, _, _ in raw]
        return
    style, run, data, script = (text for _, _, text in raw)
    expected = "default-src 'none'; script-src '%s'; style-src '%s'; base-uri 'none'; form-action 'none'" % (hash_of(script), hash_of(style))
    if policy != [expected]:
        yield "the policy is %s, not %s" % (policy, expected)
    if raw[1][1] != {"type": "application/json", "id": "run"} or raw[2][1] != {"type": "application/json", "id": "plan"}:
        yield "the documents have the attributes %s and %s" % (raw[1][1], raw[2][1])
    yield from run_problems(run, ran)
    if "<" in data or not data.isascii():
        yield "the document holds < or characters beyond ASCII"
    try:
        if json.loads(data) != report:
            yield "the document is not that of the JSON report"
    except ValueError as error:
        yield "the document is no JSON: %s" % error
    if set(tags) - {"html", "head", "meta", "title", "style", "body", "a", "header", "h1", "p", "nav", "main", "noscript", "script"}:
        yield "it has unexpected elements: %s" % sorted(set(tags))
    if any(key.startswith("on") or key == "style" for _, attributes in reader.elements for key in attributes):
        yield "an element has a handler or a style"
    if re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function", script):
        yield "the script makes HTML or code from texts"
    if re.search(r"(src|href)=\"?https?:|url\(|@import|fetch\(|XMLHttpRequest", page[: page.index('id="plan"')] + script):
        yield "it loads something"


def main():
    page = open(sys.argv[1], encoding="utf-8").read()
    report, ran = (json.load(open(path, encoding="utf-8")) if path else None for path in (sys.argv[2:] + [None])[:2])
    wrong = list(problems(page, report, ran))
    for text in wrong:
        print(text)
    print("%d problems" % len(wrong))
    sys.exit(bool(wrong))


main()
