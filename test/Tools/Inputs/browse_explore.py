"""Works the controls of tessera explore in headless Chromium.

    browse_explore.py MODEL

Another mesh is compiled and shown; of one that does not compile the error, above the last plan that did.
"""
import re
import subprocess
import sys
import tempfile

from browse_page import Browser, Tab, WIDTHS, complaints, unreachable

STATUS = """new Promise(done => {
    const text = () => document.querySelector("[role=status]").textContent;
    const wait = () => document.querySelector("form").hasAttribute("aria-busy") ? setTimeout(wait, 20) : done(text());
    wait();
})"""


def choose(tab, field, value):
    """Changes a field like a user who leaves it."""
    tab.value(f"""(() => {{
        const field = document.getElementById({field!r});
        field[field.type === "checkbox" ? "checked" : "value"] = {value};
        field.dispatchEvent(new Event("change", {{bubbles: true}}));
    }})()""")
    return tab.value(STATUS)


def title(tab):
    return tab.value("document.querySelector('main > header:not(.explorer) h1').textContent")


def problem(tab):
    return tab.value("document.querySelector('.problem').textContent")


def explore(tab, address, width):
    tab.load(address, width, "light")
    assert tab.value(STATUS).startswith("Compiled in"), tab.value(STATUS)
    assert title(tab) == "gpt2 on tp=2", title(tab)
    status = choose(tab, "axis-dp", 2)
    assert title(tab) == "gpt2 on dp=2,tp=2" and "ranks 2 → 4" in status, (title(tab), status)
    command = tab.value("document.querySelector('.command').textContent")
    assert command.endswith("--mesh dp=2,tp=2"), command
    before = tab.value("document.querySelectorAll('.line').length")
    status = choose(tab, "axis-tp", 3)
    assert status == "This plan does not compile." and "heads cannot be split" in problem(tab), (status, problem(tab))
    assert title(tab) == "gpt2 on dp=2,tp=2" and tab.value("document.querySelectorAll('.line').length") == before > 10
    choose(tab, "axis-tp", 2)
    assert problem(tab) == "", problem(tab)
    choose(tab, "--sequence-parallel", "true")
    assert tab.value("[...document.querySelectorAll('.line')].some(line => line.textContent.includes('reduce_scatter'))")
    wide = tab.value("document.documentElement.scrollWidth")
    assert wide <= width, wide
    missed = unreachable(tab)
    assert not missed, missed
    said = [text for text in complaints(tab.browser.events, address) if text != f"loads {address}compile"]
    assert not said, said


def main():
    server = subprocess.Popen(["tessera", "explore", sys.argv[1], "--mesh", "tp=2"], stdout=subprocess.PIPE, text=True)
    try:
        address = re.search(r"http://\S+", server.stdout.readline())[0]
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
            browser = Browser(home)
            tab = Tab(browser)
            for width in WIDTHS:
                explore(tab, address, width)
            browser.end()
    finally:
        server.terminate()
    print(f"the controls work; exit code {server.wait(timeout=900)}")


main()
