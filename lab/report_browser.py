#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Opens HTML reports in a headless Chromium and says what is wrong with them.

    lab/report_browser.py AXE.JS FOLDER FILE...

Each FILE is opened light, dark, on paper and 400 pixels wide: nothing may be on the console, nothing may be wider
than the window, axe-core may find nothing serious, plots must be drawn and answer to the pointer. Then without
JavaScript, where the figures must stand in tables. Screenshots go into FOLDER, none when it is "". Exit code 77:
Chromium can't run here (stdout says why).
"""
import base64
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

SERIOUS = ("serious", "critical")


class Browser:
    """W3C WebDriver, as far as it is needed: a session of a chromedriver of our own."""

    def __init__(self, profile):
        self.log = tempfile.TemporaryFile()
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=self.log,
                                       stdin=subprocess.DEVNULL, text=True)
        self.base = self.session = None
        for line in self.driver.stdout:
            found = re.search(r"started successfully on port (\d+)", line)
            if found:
                self.base = f"http://127.0.0.1:{found[1]}"
                break
        if not self.base:
            raise OSError("chromedriver did not start")
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                     f"--user-data-dir={profile}", "--window-size=1100,900", "--force-device-scale-factor=1"]
        answer = self.call("POST", "", {"capabilities": {"alwaysMatch": {
            "goog:chromeOptions": {"args": arguments}, "goog:loggingPrefs": {"browser": "ALL"}}}})
        self.session = answer["sessionId"]

    def call(self, method, path, body=None, timeout=60):
        url = f"{self.base}/session" + (f"/{self.session}" if self.session else "") + path
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=timeout) as response:
                return json.load(response)["value"]
        except urllib.error.HTTPError as error:
            message = error.read().decode(errors="replace")
            raise OSError(json.loads(message)["value"]["message"] if message.startswith("{") else message) from error

    def cdp(self, command, **params):
        return self.call("POST", "/goog/cdp/execute", {"cmd": command, "params": params})

    def run(self, script, *arguments):
        return self.call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def run_async(self, script, *arguments):
        return self.call("POST", "/execute/async", {"script": script, "args": list(arguments)})

    def console(self):
        return [f"{e['level']}: {e['message']}" for e in self.call("POST", "/se/log", {"type": "browser"})]

    def open(self, file, width, media, scheme, scripts=True):
        self.cdp("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        self.cdp("Emulation.setEmulatedMedia", media=media,
                 features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.call("POST", "/url", {"url": pathlib.Path(file).resolve().as_uri()})

    def picture(self, path):
        if not path:
            return
        shot = self.cdp("Page.captureScreenshot", captureBeyondViewport=True)
        pathlib.Path(path).write_bytes(base64.b64decode(shot["data"]))

    def close(self):
        try:
            if self.session:
                self.call("DELETE", "", timeout=10)
        except OSError:
            pass
        self.driver.terminate()
        self.driver.wait()


OVERFLOW = """
const wide = [...document.querySelectorAll("body *")].filter(e => {
  const r = e.getBoundingClientRect();
  return r.width > 0 && r.right > innerWidth + 1 && !e.closest("svg") && !e.closest("thead");
});
return wide.slice(0, 3).map(e => `${e.tagName} ${e.className}: ${e.textContent.slice(0, 60)}`);
"""
# A canvas that nothing was drawn on is all transparent.
BLANK = """
return [...document.querySelectorAll("canvas")].filter(c => {
  const d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
  return !d.some(v => v);
}).length;
"""
PLOTS = "return document.querySelectorAll('canvas').length;"
POINTER = """
const over = document.querySelector(".u-over"), legend = over.closest("figure").querySelector(".u-legend");
const before = legend.textContent, r = over.getBoundingClientRect(), done = arguments[0];
over.dispatchEvent(new MouseEvent("mouseenter", {clientX: r.left + r.width / 2, clientY: r.top + 20}));
over.dispatchEvent(new MouseEvent("mousemove", {clientX: r.left + r.width / 2, clientY: r.top + 20, bubbles: true}));
requestAnimationFrame(() => requestAnimationFrame(() => done(legend.textContent !== before)));
"""
AXE = """
const done = arguments[0];
axe.run(document, {resultTypes: ["violations"]}).then(r => done(r.violations.map(v =>
  [v.impact, v.id, v.nodes.length, v.nodes[0].target.join(" "), (v.nodes[0].failureSummary || "").slice(0, 300)])),
  e => done([["critical", String(e), 0, "", ""]]));
"""


def look(browser, file, folder, axe, problems):
    name = pathlib.Path(file).stem
    views = [("light", 1100, "screen", "light"), ("dark", 1100, "screen", "dark"), ("print", 800, "print", "light"),
             ("narrow", 400, "screen", "light")]
    for view, width, media, scheme in views:
        def problem(text):
            problems.append(f"{name}, {view}: {text}")
        browser.open(file, width, media, scheme)
        for line in browser.console():
            problem(f"console: {line}")
        wide = browser.run(OVERFLOW)
        if wide and view != "print":
            problem(f"wider than {width} pixels: {wide}")
        if browser.run(BLANK):
            problem("a plot is blank")
        if view == "light" and browser.run(PLOTS) and not browser.run_async(POINTER):
            problem("a plot does not answer to the pointer")
        browser.picture(folder and f"{folder}/{name}-{view}.png")
        if view != "narrow":
            browser.run(axe)
            for impact, rule, nodes, target, summary in browser.run_async(AXE):
                if impact in SERIOUS:
                    problem(f"axe: {rule} ({impact}), {nodes} times, first {target}: {summary}")
            browser.console()
    if name != "empty" and not browser.run(PLOTS):
        print(f"# {name}: no plots")
    browser.open(file, 800, "screen", "light", scripts=False)
    browser.picture(folder and f"{folder}/{name}-noscript.png")
    text = browser.cdp("Runtime.evaluate", expression="document.body.innerText")["result"].get("value", "")
    if len(text) < 200:
        problems.append(f"{name}: without JavaScript it says only: {text}")
    browser.cdp("Emulation.setScriptExecutionDisabled", value=False)


def main():
    axe = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
    folder, files = sys.argv[2], sys.argv[3:]
    problems = []
    with tempfile.TemporaryDirectory() as profile:
        try:
            browser = Browser(profile)
        except (OSError, KeyError) as error:
            print(f"no headless Chromium: {str(error).splitlines()[0][:200]}")
            return 77
        try:
            for file in files:
                begin = time.monotonic()
                look(browser, file, folder, axe, problems)
                print(f"# {os.path.basename(file)}: {time.monotonic() - begin:.1f} s")
        finally:
            browser.close()
    for line in problems:
        print(line)
    return 1 if problems else 0


sys.exit(main())
