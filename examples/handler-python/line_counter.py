"""A handler as a third party writes it in Python, of the kind `http`.

It counts the lines of a text on the web. Input: `{"method": "GET", "url": "https://..."}`. Output:
`{"body": {"lines": 3}, "status": 200}`.
"""

import json

from componentize_py_types import Err
from wit_world import exports
from wit_world.imports import log, request


class Handler(exports.Handler):
    def handle(self, input: str) -> str:
        url = json.loads(input)["url"]
        accept = [("accept", "text/plain")]
        # A refused request does not return.
        response = request.send(request.Request("GET", url, accept, None))
        log.write(f"{len(response.body)} bytes")
        try:
            lines = len(response.body.decode().splitlines())
        except UnicodeDecodeError:
            raise Err("the response is not UTF-8") from None
        return json.dumps({"body": {"lines": lines}, "status": response.status})
