"""Clients of tessera explore: good ones, hostile ones, two at once, ones that leave.

    explore_requests.py MODEL CLUSTER EXPLORE.JS
"""
import atexit
import concurrent.futures
import http.client
import json
import os
import pathlib
import re
import select
import signal
import socket
import subprocess
import sys
import time

import http_attacks

JSON = {"Content-Type": "application/json"}


class Server:
    def __init__(self, *words):
        self.process = subprocess.Popen(["tessera", "explore", *words], stdout=subprocess.PIPE, text=True)
        atexit.register(self.process.kill)
        address = re.match(r"open http://127\.0\.0\.1:(\d+)(/[0-9a-f]{32}/) ", self.process.stdout.readline())
        self.port, self.root = int(address[1]), address[2]

    def open(self, method, path, body=None, headers={}):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=900)
        connection.request(method, path, body, headers)
        return connection

    def ask(self, method, path, body=None, headers={}):
        connection = self.open(method, path, body, headers)
        response = connection.getresponse()
        text = response.read()
        connection.close()
        return response.status, text, response

    def post(self, body, **headers):
        return self.ask("POST", self.root + "compile", body, {**JSON, **headers})

    def compile(self, **options):
        options = {"--" + name.replace("_", "-"): value for name, value in options.items()}
        status, text, _ = self.post(json.dumps({"options": options}))
        assert status == 200, text
        return json.loads(text)

    def refused(self, **options):
        answer = self.compile(**options)
        assert set(answer) == {"error"}, answer
        return answer["error"]

    def compilers(self):
        return pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split() + [
            child for task in os.listdir(f"/proc/{self.process.pid}/task") if task != str(self.process.pid)
            for child in pathlib.Path(f"/proc/{self.process.pid}/task/{task}/children").read_text().split()]

    def wait_for_compilers(self, wanted):
        end = time.monotonic() + 900  # a hang; a busy machine takes its time
        while bool(self.compilers()) != wanted:
            assert time.monotonic() < end, f"compilers: {self.compilers()}"
            time.sleep(0.02)

    def end(self, number):
        self.process.send_signal(number)
        assert self.process.wait(timeout=900) == 0


def printed(*words):
    return json.loads(subprocess.run(["tessera", *words, "--json"], check=True, capture_output=True, text=True).stdout)


def page(server, script):
    status, text, response = server.ask("GET", server.root)
    assert status == 200 and response.getheader("Content-Type").startswith("text/html")
    assert "default-src 'none'" in response.getheader("Content-Security-Policy")
    data = json.loads(re.search(rb'id="data"[^>]*>(.*?)</script>', text)[1])
    names = {option["name"]: option for option in data["options"]}
    first = re.findall(r'"(--[\w-]+)"', re.search(r"firstOptions = \[(.*?)\]", script.read_text(), re.S)[1])
    assert len(first) > 8 and set(first) <= set(names), (first, list(names))
    assert not set(names) & {"--dump-ir", "--reproducer", "--cluster", "--html", "--plan"}, list(names)
    assert names["--mesh"]["given"] == "tp=2" and names["--zero"]["choices"] == ["0", "1", "2", "3"], names["--zero"]


def plans(server, model, cluster):
    answer = server.compile(mesh="dp=2", zero="1", sequence_parallel=False, overlap=False)
    assert answer["data"]["report"] == printed("report", model, "--mesh", "dp=2", "--zero", "1", "--no-overlap")
    step = server.compile(mesh="dp=2,tp=2", precision="bf16", device="cuda")["data"]["simulate"]
    assert step == printed("simulate", model, "--mesh", "dp=2,tp=2", "--precision", "bf16", "--device", "cuda", "--cluster", cluster)
    assert "compile it with --device cuda" in answer["data"]["simulate"]["error"], answer["data"]["simulate"]
    assert "heads cannot be split over mesh axis 'tp' of size 3" in server.refused(mesh="tp=3")
    assert "unknown mesh axis 'xp'" in server.refused(mesh="xp=3")
    assert "--precision f16 is not supported" in server.refused(precision="f16")


def hostile(server):
    idle = http_attacks.peak_memory(server.process)
    before = sorted(os.listdir("."))
    compile_path, body = server.root + "compile", json.dumps({"options": {}})
    for headers in ({"Host": "evil.example"}, {"Host": f"evil.example:{server.port}"}, {"Host": "127.0.0.1.evil.example"},
                    {"Host": "127.0.0.1:80x"}, {"Origin": "http://evil.example"}, {"Origin": "null"}):
        assert server.ask("POST", compile_path, body, {**JSON, **headers})[0] == 403, headers
        assert server.ask("GET", server.root, None, headers)[0] == 403, headers
    assert server.ask("GET", server.root, None, {"Host": "localhost:1"})[0] == 200  # the name behind a tunnel
    assert server.ask("POST", compile_path, body, {"Content-Type": "text/plain"})[0] == 415
    for path in ("/", "/compile", "/" + "0" * 32 + "/", server.root + "../../etc/passwd", server.root + "x", server.root[:-1]):
        assert server.ask("GET", path)[0] == 404, path
        assert server.ask("POST", path, body, JSON)[0] == 404, path
    assert server.post(b"x" * 100_000)[0] == 413
    for text in (b"", b"{", b"[]", b"null", b'{"options": 3}', b"[" * 15_000, b'{"options":' * 1000, b"\xff\xfe", b'{"options":{"a":"\x00"}}'):
        status, answer, _ = server.post(text)
        assert status == 200 and set(json.loads(answer)) == {"error"}, (text[:20], answer)
    for name in ("dump_ir", "reproducer", "html", "json", "cluster", "plan", "schedule_svg", "port", "nothing", "", "mesh=tp=1"):
        assert "the page may not choose the option" in server.refused(**{name: "stolen"}), name
    for value in (3, None, [], {}, "a\nb", "x" * 2000):
        assert "must be true, false or a line" in server.refused(mesh=value), value
    assert "--mesh needs a value" in server.refused(mesh=True)
    for value in ("--html=stolen", "dp=2 --html=stolen", "$(touch stolen)", ";touch stolen", "@/etc/passwd", "-", ""):
        answer = server.compile(freeze=value, mesh="dp=2")
        assert "error" in answer or answer["data"]["report"]["mesh"] == "dp=2", answer
        assert "etc/passwd:" not in json.dumps(answer)
        assert "error" in server.compile(device=value)
    http_attacks.rebinding(server.port, compile_path)
    http_attacks.rebinding(server.port, server.root)
    http_attacks.refusals(server.port, compile_path, 16 << 10)
    assert sorted(os.listdir(".")) == before
    clients = http_attacks.crowd(server.port, compile_path)
    assert "data" in server.compile(mesh="tp=2")
    assert http_attacks.peak_memory(server.process) - idle < 64
    server.end(signal.SIGTERM)  # with all of them
    assert clients


def at_once(server, model):
    meshes = ["dp=2", "tp=2", "dp=2,tp=2"]
    with concurrent.futures.ThreadPoolExecutor() as pool:
        answers = list(pool.map(lambda mesh: server.compile(mesh=mesh), meshes))
    assert [answer["data"]["report"]["mesh"] for answer in answers] == meshes


def heard(client):
    """Returns what a client has been sent, and leaves it there to be read."""
    is_ready = select.select([client.sock], [], [], 0.02)[0]
    return client.sock.recv(1 << 16, socket.MSG_PEEK) if is_ready else b""


def leaving(server):
    """Clients of a model that takes seconds go before they are answered."""
    body = json.dumps({"options": {}})
    client = server.open("POST", server.root + "compile", body, JSON)
    server.wait_for_compilers(True)
    client.sock.close()
    server.wait_for_compilers(False)
    clients = [server.open("POST", server.root + "compile", body, JSON)]
    server.wait_for_compilers(True)
    # Four more may wait, so one of five is refused at once.
    clients += [server.open("POST", server.root + "compile", body, JSON) for _ in range(5)]
    texts = []
    while not any(b"as many plans as may wait do so" in text for text in texts):
        texts = [heard(client) for client in clients]
        assert not any(b'"data"' in text for text in texts), texts
    for client in clients[1:]:
        client.sock.close()
    server.wait_for_compilers(True)
    server.end(signal.SIGINT)
    assert "error" in json.loads(clients[0].getresponse().read() or b'{"error": "gone"}')


def deep_model(model):
    config = json.loads((pathlib.Path(model) / "config.json").read_text())
    config["n_layer"] = 400
    os.makedirs("deep", exist_ok=True)
    pathlib.Path("deep/config.json").write_text(json.dumps(config))
    return "deep"


def main():
    model, cluster, script = sys.argv[1:]
    server = Server(model, "--mesh", "tp=2", "--cluster", cluster)
    page(server, pathlib.Path(script))
    plans(server, model, cluster)
    at_once(server, model)
    taken = subprocess.run(["tessera", "explore", model, "--port", str(server.port)], capture_output=True, text=True, timeout=900)
    assert taken.returncode == 1 and f"cannot listen on 127.0.0.1, port {server.port}" in taken.stderr, taken
    hostile(server)
    leaving(Server(deep_model(model)))
    print("all clients are answered")


main()
