"""A small client of W3C WebDriver, for chromedriver."""
import json
import os
import re
import subprocess
import tempfile
import urllib.error
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
KEYS = {"up": "\ue013", "down": "\ue015", "end": "\ue010", "home": "\ue011", "enter": "\ue007", "right": "\ue014", "left": "\ue012", "escape": "\ue00c"}


class Browser:
    """A headless Chromium. Use it with `with`."""

    def __init__(self, scheme="light"):
        self.home = tempfile.TemporaryDirectory(prefix="tpshard-browser-", ignore_cleanup_errors=True)
        environment = {**os.environ, "HOME": self.home.name}
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                       text=True, env=environment)
        self.address = None
        for line in self.driver.stdout:
            port = re.search(r"started successfully on port (\d+)", line)
            if port:
                self.address = "http://127.0.0.1:" + port.group(1)
                break
        if not self.address:
            raise RuntimeError("chromedriver did not start")
        # The pages are our own, and a sandbox cannot be made by root or in a container.
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1400,1000",
                     "--user-data-dir=" + os.path.join(self.home.name, "profile")]
        arguments += ["--force-dark-mode"] if scheme == "dark" else []
        options = {"browserName": "chrome", "goog:chromeOptions": {"args": arguments}, "goog:loggingPrefs": {"browser": "ALL"}}
        self.session = "/session/" + self.call("POST", "/session", {"capabilities": {"alwaysMatch": options}})["sessionId"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.call("DELETE", self.session)
        finally:
            self.driver.terminate()
            self.driver.wait()
            self.driver.stdout.close()
            self.home.cleanup()

    def call(self, method, path, body=None):
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(self.address + path, data, {"Content-Type": "application/json"}, method=method)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=120) as reply:
                return json.load(reply)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError("%s: %s" % (path, json.load(error)["value"]["message"])) from None

    def open(self, path):
        self.call("POST", self.session + "/url", {"url": "file://" + os.path.abspath(path)})

    def back(self):
        self.call("POST", self.session + "/back", {})

    def run(self, script, *arguments):
        """Runs the body of a function with these arguments, and returns its value."""
        return self.call("POST", self.session + "/execute/sync", {"script": script, "args": list(arguments)})

    def wait(self, script, *arguments):
        """Runs a script that gets a function as its last argument, and returns what that is called with."""
        return self.call("POST", self.session + "/execute/async", {"script": script, "args": list(arguments)})

    def find(self, selector):
        return self.call("POST", self.session + "/element", {"using": "css selector", "value": selector})[ELEMENT]

    def click(self, selector):
        self.run("document.querySelector(arguments[0]).scrollIntoView({block: 'center'})", selector)
        self.call("POST", self.session + "/element/%s/click" % self.find(selector), {})

    def type(self, selector, text):
        self.call("POST", self.session + "/element/%s/value" % self.find(selector), {"text": text})

    def press(self, key):
        """Types a key where the focus is."""
        element = self.call("GET", self.session + "/element/active")[ELEMENT]
        self.call("POST", self.session + "/element/%s/value" % element, {"text": key})

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0]).textContent", selector)

    def count(self, selector):
        return self.run("return document.querySelectorAll(arguments[0]).length", selector)

    def console(self):
        """What the page has written to the console: errors and violations of its policy, too."""
        return [entry["level"] + " " + entry["message"] for entry in self.call("POST", self.session + "/se/log", {"type": "browser"})]

    def command(self, name, **parameters):
        """Runs a command of the DevTools protocol."""
        return self.call("POST", self.session + "/goog/cdp/execute", {"cmd": name, "params": parameters})
