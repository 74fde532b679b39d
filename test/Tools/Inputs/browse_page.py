"""Opens pages of --html in headless Chromium and says what is wrong with them.

    browse_page.py [--screenshots DIR] PAGE [JSON] ...

Each page is loaded from its file at 1280 and at 400 pixels, light and dark. It may print nothing to the console, load no
other resource, be no wider than the screen, and every part that a pointer can reach must be reachable with the tab key.
The tiles of each tensor must make up the whole.
JSON is the output of --json of the same command, which the page's data must equal. Chromium is driven over a pipe
(--remote-debugging-pipe), so that nothing but Python is needed.
"""
import argparse
import base64
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

WIDTHS = (1280, 400)
SCHEMES = ("light", "dark")


class Browser:
    """Chromium, and its protocol of JSON texts that end with a zero."""

    def __init__(self, home):
        to_read, self.to = os.pipe()
        self.source, from_write = os.pipe()

        def connect():  # The protocol is at 3 and 4.
            read, write = os.dup(to_read), os.dup(from_write)
            os.dup2(read, 3)
            os.dup2(write, 4)

        program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
        self.process = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
             "--disable-dev-shm-usage", "--force-color-profile=srgb", f"--user-data-dir={home}", "--remote-debugging-pipe"],
            close_fds=False, preexec_fn=connect, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(from_write)
        self.buffer, self.number, self.events = b"", 0, []

    def read(self):
        while b"\0" not in self.buffer:
            more = os.read(self.source, 1 << 20)
            if not more:
                raise SystemExit("browse_page: the browser has ended")
            self.buffer += more
        text, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(text)

    def call(self, method, session=None, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise SystemExit(f"browse_page: {method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def wait_for(self, method):
        while not any(event["method"] == method for event in self.events):
            self.events.append(self.read())

    def end(self):
        self.call("Browser.close")
        self.process.wait()


class Tab:
    def __init__(self, browser):
        self.browser = browser
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def value(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise SystemExit(f"browse_page: {expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def load(self, url, width, scheme):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.browser.events = []
        self.call("Page.navigate", url=url)
        self.browser.wait_for("Page.loadEventFired")
        self.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def screenshot(self, path, width):
        height = min(self.value("document.documentElement.scrollHeight"), 12000)
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.value("new Promise(done => setTimeout(done, 150))")
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def press_tab(self):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key="Tab", code="Tab", windowsVirtualKeyCode=9)


def complaints(events, url):
    """Returns the page's messages, and the addresses that it loaded."""
    for event in events:
        parameters = event["params"]
        if event["method"] == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            yield details.get("exception", {}).get("description") or details["text"]
        elif event["method"] == "Runtime.consoleAPICalled":
            yield f"console.{parameters['type']}: {[a.get('value') for a in parameters['args']]}"
        elif event["method"] == "Log.entryAdded":
            yield f"log: {parameters['entry']['text']}"
        elif event["method"] == "Network.requestWillBeSent":
            loaded = parameters["request"]["url"]
            if loaded != url and not loaded.startswith("data:"):
                yield f"loads {loaded[:100]}"


REACHABLE = """[...document.querySelectorAll("a, button, summary, canvas, [onclick], [tabindex='0']")]
    .filter(node => node.checkVisibility()).length"""
EMPTY = """[...document.querySelectorAll("canvas")]
    .filter(canvas => !canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.some(value => value))
    .map(canvas => canvas.getAttribute("aria-label")).join(" ")"""
FOCUSED = """(() => { const all = [...document.querySelectorAll("*")]; return all.indexOf(document.activeElement); })()"""


def unreachable(tab):
    """Counts the parts that do something and that the tab key does not come to; roving groups count as one."""
    expected = tab.value(REACHABLE)
    seen = set()
    for _ in range(expected + 5):
        tab.press_tab()
        seen.add(tab.value(FOCUSED))
    return max(0, expected - len(seen - {tab.value("[...document.querySelectorAll('*')].indexOf(document.body)")}))


TILES = """[...document.querySelectorAll(".tensors button")].map(button => {
    button.click();
    return {name: document.querySelector(".detail h3").textContent, shape: document.querySelector(".shape code").textContent,
            held: [...document.querySelectorAll(".rank .held")].map(node => node.textContent)};
})"""


def elements(text):
    """Counts the cells of a text: "0–15 × 3 × 0–7" has 16 * 8; "none × 3" has 0."""
    count = 1
    for part in text.split(" × "):
        first, _, last = part.replace(",", "").partition("–")
        count *= 0 if first == "none" else int(last or first) - int(first) + 1
    return count


def untiled(tab):
    """Returns tensors whose tiles do not make up the whole. Those of many ranks are not all drawn."""
    for tensor in tab.value(TILES) or []:
        held = set(tensor["held"]) - {"nothing"}
        whole = 1
        for size in tensor["shape"].rpartition(" ")[0].split(" × "):
            whole *= 1 if size == "scalar" else int(size.replace(",", ""))
        if held != {"the value"} and sum(map(elements, held)) != whole:
            yield f"{tensor['name']}: the tiles {sorted(held)} are not {tensor['shape']}"


def check(tab, page, data, screenshots):
    url = pathlib.Path(page).resolve().as_uri()
    for width in WIDTHS:
        for scheme in SCHEMES:
            tab.load(url, width, scheme)
            where = f"{os.path.basename(page)} at {width} pixels, {scheme}"
            if screenshots:
                tab.screenshot(pathlib.Path(screenshots) / f"{pathlib.Path(page).stem}-{width}-{scheme}.png", width)
            for text in complaints(tab.browser.events, url):
                yield f"{where}: {text}"
            wide = tab.value("document.documentElement.scrollWidth")
            if wide > width:
                yield f"{where}: is {wide} pixels wide"
            if not tab.value("document.querySelectorAll('section').length"):
                yield f"{where}: shows nothing"
            if empty := tab.value(EMPTY):
                yield f"{where}: does not draw {empty}"
    yield from untiled(tab)
    if missed := unreachable(tab):
        yield f"{page}: the tab key misses {missed} parts"
    if data is not None and tab.value("JSON.parse(document.getElementById('data').textContent)") != data:
        yield f"{page}: its data is not what --json prints"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--screenshots")
    parser.add_argument("files", nargs="+")
    arguments = parser.parse_args()
    pages = [(file, None) for file in arguments.files if file.endswith(".html")]
    known = {pathlib.Path(file).stem: file for file in arguments.files if file.endswith(".json")}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        browser = Browser(home)
        tab = Tab(browser)
        found = []
        for page, _ in pages:
            file = known.get(pathlib.Path(page).stem)
            data = json.loads(pathlib.Path(file).read_text(encoding="utf-8")) if file else None
            found += check(tab, page, data, arguments.screenshots)
        browser.end()
    print("\n".join(found) or f"{len(pages)} pages are fine")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
