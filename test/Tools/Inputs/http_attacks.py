"""Clients that want to stop a server of HTTP, for tests of explore and of the example server."""
import re
import socket


def connect(port, head=b""):
    client = socket.create_connection(("127.0.0.1", port))
    client.sendall(head)
    return client


def crowd(port, path):
    """Opens 80 clients at their heads, 80 at their bodies, 200 that are half gone, 400 without a word; all stay
    connected."""
    begin = b"POST " + path.encode() + b" HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    clients = [connect(port, begin + b"X: ") for _ in range(80)]
    clients += [connect(port, begin + b"Content-Length: 5000\r\n\r\n ") for _ in range(80)]
    for count in range(200):
        clients.append(connect(port, begin if count % 2 else begin + b"Content-Length: 2\r\n\r\n{}"))
        clients[-1].shutdown(socket.SHUT_WR)
    return clients + [connect(port) for _ in range(400)]


def raw(port, request):
    """Returns the status of the answer to bytes, of which the server need not take all."""
    with connect(port) as client:
        client.settimeout(900)
        try:
            client.sendall(request)
        except (BrokenPipeError, ConnectionResetError):
            pass
        with client.makefile("rb") as answer:
            line = answer.readline()
        return int(line.split()[1]) if line else 0


def refusals(port, path, most_bytes):
    """Sends requests that no limit may let pass, whatever the encoding of their bodies, and those that two readers
    would take differently."""
    begin = b"POST " + path.encode() + b" HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    chunked = begin + b"Transfer-Encoding: chunked\r\n"
    chunk = b"%x\r\n" % most_bytes + b" " * most_bytes + b"\r\n"
    cases = [
        (413, begin + b"Content-Length: %d\r\n\r\n" % (most_bytes + 1)),
        (413, chunked + b"\r\n" + 20 * chunk + b"0\r\n\r\n"),
        (413, chunked + b"\r\n" + b"ffffffffffffff00\r\n"),
        (400, chunked + b"\r\n" + b"1;" + b"e" * 100_000),
        (400, chunked + b"Content-Length: 2\r\n\r\n{}"),
        (400, begin + b"Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}"),
        (400, begin + b"X: a\r\n b\r\nContent-Length: 2\r\n\r\n{}"),
        (415, begin + b"Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}"),
        (431, begin + b"X: " + b"y" * 100_000),
        (431, begin + 20_000 * b"X: y\r\n"),
        (414, b"GET /" + b"x" * 100_000),
        (405, b"DELETE " + path.encode() + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"),
        (400, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")]
    for status, request in cases:
        assert raw(port, request) == status, (status, request[:200])


def rebinding(port, path):
    """Sends requests of a page whose name was made to lead to this machine, and of pages of other sites."""
    own = f"Host: 127.0.0.1:{port}"
    for headers in (f"Host: evil.example:{port}\r\nOrigin: http://evil.example:{port}\r\nSec-Fetch-Site: same-origin",
                    "Host: evil.example", "Host: 127.0.0.1.evil.example", f"{own}\r\nOrigin: http://evil.example",
                    f"{own}\r\nOrigin: null", f"{own}\r\nSec-Fetch-Site: cross-site",
                    f"{own}\r\nOrigin: http://127.0.0.1:{port + 1}"):
        for method in ("GET", "POST", "OPTIONS"):
            request = f"{method} {path} HTTP/1.1\r\n{headers}\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{{}}"
            assert raw(port, request.encode()) == 403, request
    assert raw(port, f"GET {path} HTTP/1.1\r\n{own}\r\n{own}\r\n\r\n".encode()) == 400
    assert raw(port, f"GET {path} HTTP/1.1\r\n\r\n".encode()) == 400


def peak_memory(process):
    """Returns the peak in MiB."""
    with open(f"/proc/{process.pid}/status") as file:
        return int(re.search(r"VmHWM:\s+(\d+)", file.read())[1]) / 1024
