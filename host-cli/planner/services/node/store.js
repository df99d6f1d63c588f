// Keeps values by their keys in memory: PUT, GET and DELETE of /<key>.

const http = require("node:http");

const VALUE_BYTES = 1 << 20;
const VALUES = 10_000;

const values = new Map();

function answer(response, status, body) {
  response.writeHead(status);
  response.end(body);
}

const server = http.createServer((request, response) => {
  const key = request.url;
  const chunks = [];
  let size = 0;
  request.on("data", (chunk) => {
    size += chunk.length;
    if (size <= VALUE_BYTES) {
      chunks.push(chunk);
    }
  });
  request.on("end", () => {
    switch (request.method) {
      case "GET":
        if (key === "/") {
          answer(response, 200, [...values.keys()].sort().join("\n"));
        } else {
          answer(response, values.has(key) ? 200 : 404, values.get(key));
        }
        break;
      case "PUT":
        if (size > VALUE_BYTES) {
          answer(response, 413);
        } else if (!values.has(key) && values.size >= VALUES) {
          answer(response, 507);
        } else {
          values.set(key, Buffer.concat(chunks));
          answer(response, 204);
        }
        break;
      case "DELETE":
        answer(response, values.delete(key) ? 204 : 404);
        break;
      default:
        answer(response, 405);
    }
  });
});

const port = Number(process.env.PORT || 8080);
server.listen(port, "127.0.0.1", () => console.log(`listening on port ${port}`));
