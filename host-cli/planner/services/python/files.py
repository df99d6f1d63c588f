"""Serves the files of the folder `public`."""

import os
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer


class Handler(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"


if __name__ == "__main__":
    port = int(os.environ.get("PORT", "8080"))
    handler = partial(Handler, directory="public")
    server = ThreadingHTTPServer(("127.0.0.1", port), handler)
    print(f"listening on port {port}", flush=True)
    server.serve_forever()
