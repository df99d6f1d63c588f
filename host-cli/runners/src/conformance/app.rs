//! The app that a runner is tested with.

use serde::Serialize;

/// An app for the test. It listens at `PORT` of `127.0.0.1`, answers `GET /` with status 200, and writes to its
/// standard output or error when it does so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct App {
    /// Its language, by the name of file plans.
    pub language: String,
    /// Its files.
    pub files: Vec<AppFile>,
    /// The command line that starts it.
    pub start: String,
    /// What the body of its answer contains.
    pub answer: String,
}

/// A file of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AppFile {
    /// The path below the folder of the app.
    pub path: String,
    /// The content.
    pub content: String,
    /// The mode; `None` for 0o644.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<u32>,
}

impl AppFile {
    /// Returns a file with the usual mode.
    #[must_use]
    pub fn new(path: impl Into<String>, content: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            content: content.into(),
            mode: None,
        }
    }
}

/// A server of Python's standard library, which writes a line for each request to standard error.
const PYTHON: &str = r#"import os
from http.server import BaseHTTPRequestHandler, HTTPServer


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        body = b"conformance\n"
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


HTTPServer(("127.0.0.1", int(os.environ["PORT"])), Handler).serve_forever()
"#;

/// A server of Node.js, which writes a line for each request.
const NODE: &str = r#"const http = require("node:http");
const server = http.createServer((request, response) => {
  console.log(request.url);
  response.end("conformance\n");
});
server.listen(Number(process.env.PORT), "127.0.0.1");
"#;

/// A server of Go's standard library, which writes a line for each request.
const GO: &str = r#"package main

import (
	"fmt"
	"net/http"
	"os"
)

func main() {
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		fmt.Println(r.URL.Path)
		fmt.Fprintln(w, "conformance")
	})
	http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), nil)
}
"#;

impl App {
    /// Returns an app for runners of Python 3.
    #[must_use]
    pub fn python() -> Self {
        Self::new("python", "app.py", PYTHON, "python3 app.py")
    }

    /// Returns an app for runners of Node.js.
    #[must_use]
    pub fn node() -> Self {
        Self::new("node", "index.js", NODE, "node index.js")
    }

    /// Returns an app for runners of Go.
    #[must_use]
    pub fn go() -> Self {
        Self::new("go", "main.go", GO, "go run main.go")
    }

    fn new(language: &str, path: &str, content: &str, start: &str) -> Self {
        Self {
            language: language.to_owned(),
            files: vec![AppFile::new(path, content)],
            start: start.to_owned(),
            answer: "conformance".to_owned(),
        }
    }
}
