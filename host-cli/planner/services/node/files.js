// Serves the files of the folder `public`.

const fs = require("node:fs");
const http = require("node:http");
const path = require("node:path");

const ROOT = path.resolve("public");

const TYPES = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
};

const server = http.createServer((request, response) => {
  request.resume();
  let file;
  try {
    const { pathname } = new URL(request.url, "http://localhost");
    file = path.join(ROOT, decodeURIComponent(pathname));
  } catch {
    response.writeHead(400).end();
    return;
  }
  if (file.endsWith(path.sep)) {
    file = path.join(file, "index.html");
  }
  if (!file.startsWith(ROOT + path.sep)) {
    response.writeHead(404).end();
    return;
  }
  fs.readFile(file, (error, content) => {
    if (error) {
      response.writeHead(404).end();
      return;
    }
    const type = TYPES[path.extname(file)] || "application/octet-stream";
    response.writeHead(200, { "Content-Type": type }).end(content);
  });
});

const port = Number(process.env.PORT || 8080);
server.listen(port, "127.0.0.1", () => console.log(`listening on port ${port}`));
