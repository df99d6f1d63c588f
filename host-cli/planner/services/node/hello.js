// Answers every request with one text.

const http = require("node:http");

const TEXT = @TEXT@;

const server = http.createServer((request, response) => {
  request.resume();
  response.writeHead(200, { "Content-Type": "text/plain; charset=utf-8" });
  response.end(TEXT);
});

const port = Number(process.env.PORT || 8080);
server.listen(port, "127.0.0.1", () => console.log(`listening on port ${port}`));
