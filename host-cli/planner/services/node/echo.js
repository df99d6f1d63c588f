// Answers a JSON document with itself.

const http = require("node:http");

const BODY_BYTES = 1 << 20;

function answer(response, status, value) {
  response.writeHead(status, { "Content-Type": "application/json" });
  response.end(JSON.stringify(value));
}

const server = http.createServer((request, response) => {
  if (request.method !== "POST") {
    request.resume();
    answer(response, 200, { method: request.method, path: request.url });
    return;
  }
  const chunks = [];
  let size = 0;
  request.on("data", (chunk) => {
    size += chunk.length;
    if (size <= BODY_BYTES) {
      chunks.push(chunk);
    }
  });
  request.on("end", () => {
    if (size > BODY_BYTES) {
      answer(response, 413, { error: "the body is too large" });
      return;
    }
    try {
      answer(response, 200, JSON.parse(Buffer.concat(chunks).toString("utf8")));
    } catch {
      answer(response, 400, { error: "the body is not JSON" });
    }
  });
});

const port = Number(process.env.PORT || 8080);
server.listen(port, "127.0.0.1", () => console.log(`listening on port ${port}`));
