"""Keeps values by their keys in memory: PUT, GET and DELETE of /<key>."""

import os
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

VALUE_BYTES = 1 << 20
VALUES = 10_000

values = {}
lock = threading.Lock()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        with lock:
            value = values.get(self.path)
        if self.path == "/":
            value = "\n".join(sorted(values)).encode()
        self.answer(404 if value is None else 200, value or b"")

    def do_PUT(self):
        length = int(self.headers.get("Content-Length", 0))
        if length > VALUE_BYTES:
            self.close_connection = True
            self.answer(413)
            return
        value = self.rfile.read(length)
        with lock:
            is_full = self.path not in values and len(values) >= VALUES
            if not is_full:
                values[self.path] = value
        self.answer(507 if is_full else 204)

    def do_DELETE(self):
        with lock:
            value = values.pop(self.path, None)
        self.answer(404 if value is None else 204)

    def answer(self, status, body=b""):
        self.send_response(status)
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if status != 204:
            self.wfile.write(body)


if __name__ == "__main__":
    port = int(os.environ.get("PORT", "8080"))
    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    print(f"listening on port {port}", flush=True)
    server.serve_forever()
