"""Answers a JSON document with itself."""

import json
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

BODY_BYTES = 1 << 20


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.answer(200, {"method": "GET", "path": self.path})

    def do_POST(self):
        length = int(self.headers.get("Content-Length", 0))
        if length > BODY_BYTES:
            self.close_connection = True
            self.answer(413, {"error": "the body is too large"})
            return
        try:
            document = json.loads(self.rfile.read(length))
        except ValueError:
            self.answer(400, {"error": "the body is not JSON"})
            return
        self.answer(200, document)

    def answer(self, status, document):
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


if __name__ == "__main__":
    port = int(os.environ.get("PORT", "8080"))
    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    print(f"listening on port {port}", flush=True)
    server.serve_forever()
