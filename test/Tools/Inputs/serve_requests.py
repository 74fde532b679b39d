"""Clients of examples/serve: good ones, many at once, ones that leave, and hostile ones.

    serve_requests.py SERVE MODEL.tsr FOLDER
"""
import atexit
import concurrent.futures
import http.client
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time

import http_attacks

HEADERS = {"Content-Type": "application/json"}


class Server:
    def __init__(self, *options):
        command = [*sys.argv[1:4], "--port", "0", "--name", "tiny", *options]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        atexit.register(self.process.kill)
        self.port = int(self.process.stdout.readline().rsplit(":", 1)[1])

    def open(self, body, method="POST", path="/v1/completions", headers=HEADERS):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=900)
        connection.request(method, path, body if isinstance(body, bytes) else json.dumps(body), headers)
        return connection, connection.getresponse()

    def ask(self, body, **keys):
        connection, response = self.open(body, **keys)
        text = response.read()
        connection.close()
        return response.status, json.loads(text)

    def complete(self, **body):
        status, answer = self.ask(body)
        assert status == 200, answer
        return answer

    def end(self, number):
        self.process.send_signal(number)
        assert self.process.wait(timeout=900) == 0

    def work(self):
        """Returns the seconds of processor time: a busy machine takes longer, but works no more."""
        with open(f"/proc/{self.process.pid}/stat") as file:
            user, system = file.read().rsplit(")", 1)[1].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def events_of(response):
    for line in response:
        if line.strip():
            assert line.startswith(b"data: "), line
            yield line[6:].strip()


def completions(server):
    assert [model["id"] for model in server.ask(b"", method="GET", path="/v1/models")[1]["data"]] == ["tiny"]
    whole = server.complete(model="tiny", prompt="The runtime", max_tokens=12, temperature=0, logprobs=2, user="x", n=1)
    choice = whole["choices"][0]
    command = ["tessera", "generate", *sys.argv[2:3], "--tokenizer", sys.argv[3], "--load-weights", sys.argv[3], "--json"]
    command += ["--prompt", "The runtime", "--max-new-tokens", "12", "--log-probabilities", "2"]
    wanted = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert choice["text"] == wanted["text"] and choice["finish_reason"] == "length", (choice, wanted)
    assert choice["logprobs"]["token_logprobs"] == wanted["log_probabilities"]
    assert [len(top) for top in choice["logprobs"]["top_logprobs"]] == [2] * 12
    count = len(wanted["prompt_tokens"])
    assert whole["usage"] == {"prompt_tokens": count, "completion_tokens": 12, "total_tokens": count + 12}
    ids = server.complete(prompt=wanted["prompt_tokens"], max_tokens=12, temperature=0)
    assert ids["choices"][0]["text"] == choice["text"]
    drawn = [server.complete(prompt="a", seed=seed, max_tokens=30)["choices"][0]["text"] for seed in (5, 5, 6)]
    assert drawn[0] == drawn[1] != drawn[2], drawn
    stop = drawn[0][4:7]
    stopped = server.complete(prompt="a", seed=5, max_tokens=30, stop=["never there", stop])["choices"][0]
    assert stopped["text"] == drawn[0].split(stop)[0] and stopped["finish_reason"] == "stop", (stopped, drawn[0])


def streams(server):
    body = {"prompt": "a", "seed": 5, "max_tokens": 30}
    connection, response = server.open({**body, "stream": True})
    assert response.getheader("Content-Type") == "text/event-stream"
    events = list(events_of(response))
    assert events.pop() == b"[DONE]"
    choices = [json.loads(event)["choices"][0] for event in events]
    assert len(choices) > 10 and all(choice["finish_reason"] is None for choice in choices[:-1])
    assert choices[-1]["finish_reason"] == "length"
    assert "".join(choice["text"] for choice in choices) == server.complete(**body)["choices"][0]["text"]
    connection.close()


def clients_at_once(server):
    def text(seed):
        return server.complete(prompt="b" * (1 + seed % 9), seed=seed, max_tokens=6)["choices"][0]["text"]

    with concurrent.futures.ThreadPoolExecutor(64) as pool:
        texts = list(pool.map(text, range(64)))
    assert [text(seed) for seed in range(0, 64, 9)] == texts[::9]


def hostile_requests(server):
    good = {"prompt": "a", "max_tokens": 1, "temperature": 0}
    bad = [b"", b"{", b"[]", b"7", b'"a"', b"[" * 500000, b'{"prompt": "' + b"\xff\xfe" + b'"}', b'{"prompt": "\\ud800"}', {}]
    bad += [{**good, "prompt": value} for value in (7, None, {}, [], "", [1, "a"], ["a", "b"], [[1]], [1.5], [True], [-1], [901000], [10**30])]
    bad += [{**good, "prompt": value} for value in ([1] * 5000, "word " * 9000)]
    bad += [{**good, "max_tokens": value} for value in (-1, 0, 1.5, "1", True, [], 10**30, 4097)]
    bad += [{**good, "temperature": value} for value in (-1, "hot", 1e9)] + [b'{"prompt": "a", "temperature": 1e999}']
    bad += [{**good, "top_p": value} for value in (0, -1, 1.1, "1")]
    bad += [{**good, "stop": value} for value in ("", [""], 7, ["x"] * 17, "\0", {})]
    bad += [{**good, key: value} for key, value in dict(echo=True, n=2, best_of=3, suffix="x", stream="yes", logprobs=21, seed=1.5).items()]
    bad += [{**good, "seed": seed} for seed in (1 << 63, (1 << 64) - 1)]
    deep = b"[" * 200000 + b"]" * 200000
    bad += [b'{"prompt": ' + deep + b"}", b'{"prompt": "a", "stop": ' + deep + b"}", b'{"prompt": "a", "other": ' + deep + b"}", b'{"a":' * 99999 + b"1" + b"}" * 99999]
    bad += [b'{"prompt": "a", "other": [' + b"0," * 400000 + b"0]}", b'{"prompt": "a", "prompt": "b"}', b'{"prompt": "a"}\0', b'{"prompt": "a", "seed": 0.' + b"1" * 2000 + b"}"]
    for body in bad:
        status, answer = server.ask(body)
        assert status == 400 and len(answer["error"]["message"]) > 10, (str(body)[:80], status, answer)
    assert server.ask({**good, "model": "other"})[0] == 404
    assert server.ask(b"x" * (2 << 20))[0] == 413
    for kind in ("text/plain", "application/jsonx", "text/plain;application/json", ";", "application/json text"):
        assert server.ask(good, headers={"Content-Type": kind})[0] == 415, kind
    for kind in ("Application/JSON", "application/json ; charset=utf-8"):
        assert server.ask(good, headers={"Content-Type": kind})[0] == 200, kind
    assert server.ask(b"", method="GET", path="/v1/nothing")[0] == 404
    for junk in (b"\0" * 100, b"GET / HTTP/9.9\r\n\r\n", b"POST /v1/completions HTTP/1.1\r\nContent-Length: -5\r\n\r\n"):
        with socket.create_connection(("127.0.0.1", server.port)) as plain:
            plain.sendall(junk)
    assert server.complete(**good)["choices"][0]["finish_reason"] == "length"


def strangers(server):
    """Sends requests that no limit lets pass, pages of other sites, and hundreds of clients that are slow, idle or
    gone."""
    idle = http_attacks.peak_memory(server.process)
    http_attacks.refusals(server.port, "/v1/completions", 1 << 20)
    for path in ("/", "/v1/models", "/v1/completions"):
        http_attacks.rebinding(server.port, path)
    clients = http_attacks.crowd(server.port, "/v1/completions")
    assert server.complete(prompt="a", max_tokens=1)
    assert http_attacks.peak_memory(server.process) - idle < 64
    server.end(signal.SIGTERM)  # with all of them
    assert clients


def allowed_names():
    server = Server("--allow-host", "a.example,models.example", "--allow-origin", "https://chat.example")
    for host, status in (("models.example", 200), ("a.example:80", 200), ("b.example", 403)):
        assert server.ask(b"", method="GET", path="/v1/models", headers={"Host": host})[0] == status, host
    connection, response = server.open({"prompt": "a"}, headers={**HEADERS, "Origin": "https://chat.example"})
    assert response.status == 200 and response.getheader("Access-Control-Allow-Origin") == "https://chat.example"
    connection.close()
    server.end(signal.SIGTERM)


def clients_that_leave():
    """Checks clients that leave: one request may run; one that would take all places is left, streamed and not."""
    server = Server("--requests", "1")
    greedy = {"prompt": "a", "temperature": 0}
    start = server.work()
    assert server.complete(**greedy, max_tokens=200)["usage"]["completion_tokens"] == 200
    whole = (server.work() - start) / 200 * 4000  # at least: later tokens have more before them
    for is_stream in (True, False):
        connection, response = server.open({**greedy, "max_tokens": 4000, "stream": is_stream})
        if is_stream:
            next(events_of(response))
        status, answer = server.ask({"prompt": "a"})
        assert status == 503 and "try again" in answer["error"]["message"], answer
        response.close()
        connection.close()
        start = server.work()
        while server.ask({"prompt": "a", "max_tokens": 1})[0] == 503:
            assert server.work() - start < 0.7 * whole, "the request still runs"
            time.sleep(0.01)
    _, response = server.open({**greedy, "max_tokens": 4000, "stream": True})
    next(events_of(response))
    server.end(signal.SIGINT)


def files_of_the_model():
    """Checks that generation_config.json in the folder ends texts and says how they are drawn."""

    command = ["tessera", "generate", sys.argv[2], "--tokenizer", sys.argv[3], "--load-weights", sys.argv[3], "--json"]
    command += ["--prompt", "The runtime", "--max-new-tokens", "1"]
    stop = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["tokens"][0]
    file = pathlib.Path(sys.argv[3]) / "generation_config.json"
    file.write_text(json.dumps({"do_sample": True, "top_k": 1, "eos_token_id": [0, stop]}))
    server = Server()
    answer = server.complete(prompt="The runtime", max_tokens=12)
    assert answer["choices"][0]["finish_reason"] == "stop" and answer["choices"][0]["text"] == "", answer
    assert answer["usage"]["completion_tokens"] == 1, answer
    server.end(signal.SIGTERM)
    file.unlink()


files_of_the_model()
server = Server()
completions(server)
streams(server)
clients_at_once(server)
hostile_requests(server)
strangers(server)
allowed_names()
clients_that_leave()
print("all clients are served")
