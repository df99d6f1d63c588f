//! Small web services that need no model and no packages.

use crate::error::{PlannerError, PlannerErrorKind};
use crate::request::{FilesRequest, PlannerRequest};
use crate::words::words;
use serde::Serialize;
use std::collections::BTreeSet;

/// The place of the text in a source.
const TEXT: &str = "@TEXT@";

/// The text of a service for which nobody gives one.
const HELLO: &str = "Hello, World!";

/// The mode of files: read by all, written by their owner.
const MODE: u32 = 0o644;

/// A service, with the words that ask for it. The first one that fits is taken.
struct Service {
    words: &'static [&'static str],
    /// What it does, for messages.
    about: &'static str,
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    Store,
    Echo,
    Files,
    Hello,
}

const SERVICES: [Service; 4] = [
    Service {
        words: &["store", "stores", "key", "keys", "cache"],
        about: "a key-value store",
        kind: Kind::Store,
    },
    Service {
        words: &["echo", "echoes", "json"],
        about: "an echo of JSON",
        kind: Kind::Echo,
    },
    Service {
        words: &["static", "files", "file", "page", "site", "website", "html"],
        about: "static files",
        kind: Kind::Files,
    },
    Service {
        words: &[
            "hello", "greets", "greeting", "responds", "respond", "says", "text",
        ],
        about: "one text",
        kind: Kind::Hello,
    },
];

/// A language, with its sources.
struct Language {
    name: &'static str,
    /// Other words for it in a prompt.
    words: &'static [&'static str],
    /// The path of the source.
    path: &'static str,
    start: &'static str,
    assumption: &'static str,
    store: &'static str,
    echo: &'static str,
    files: &'static str,
    hello: &'static str,
}

const LANGUAGES: [Language; 3] = [
    Language {
        name: "python",
        words: &["python"],
        path: "app.py",
        start: "python app.py",
        assumption: "uses the HTTP server of Python's standard library",
        store: include_str!("../services/python/store.py"),
        echo: include_str!("../services/python/echo.py"),
        files: include_str!("../services/python/files.py"),
        hello: include_str!("../services/python/hello.py"),
    },
    Language {
        name: "node",
        words: &["node", "nodejs", "javascript"],
        path: "index.js",
        start: "node index.js",
        assumption: "uses Node's module `node:http`",
        store: include_str!("../services/node/store.js"),
        echo: include_str!("../services/node/echo.js"),
        files: include_str!("../services/node/files.js"),
        hello: include_str!("../services/node/hello.js"),
    },
    Language {
        name: "go",
        words: &["golang"],
        path: "main.go",
        start: "go run main.go",
        assumption: "uses Go's package `net/http`",
        store: include_str!("../services/go/store.go"),
        echo: include_str!("../services/go/echo.go"),
        files: include_str!("../services/go/files.go"),
        hello: include_str!("../services/go/hello.go"),
    },
];

/// A file plan \[2, 2.1\].
#[derive(Serialize)]
struct FilePlan<'a> {
    files: Vec<File<'a>>,
    start: &'a str,
    assumptions: Vec<&'a str>,
    lang: &'a str,
}

#[derive(Serialize)]
struct File<'a> {
    path: &'a str,
    content: String,
    mode: u32,
}

/// Returns the file plan of the service that the words of a prompt ask for.
pub(crate) fn plan(request: &FilesRequest) -> Result<Vec<u8>, PlannerError> {
    let words = words(&request.prompt);
    let has = |of: &[&str]| of.iter().any(|word| words.contains(*word));
    let Some(service) = SERVICES.iter().find(|service| has(service.words)) else {
        let known: Vec<_> = SERVICES.iter().map(|service| service.about).collect();
        let known = known.join(", ");
        let message =
            format!("the template planner has no service for the prompt; it knows {known}");
        return Err(PlannerError::new(PlannerErrorKind::NoTool, message));
    };
    let language = language(request, &words)?;
    let text = quoted(&request.prompt).unwrap_or(HELLO);
    let source = match service.kind {
        Kind::Store => language.store.to_owned(),
        Kind::Echo => language.echo.to_owned(),
        Kind::Files => language.files.to_owned(),
        Kind::Hello => language.hello.replace(TEXT, &literal(text)?),
    };
    let file = |path, content| File {
        path,
        content,
        mode: MODE,
    };
    let mut files = vec![file(language.path, source)];
    if let Kind::Files = service.kind {
        let page = include_str!("../services/index.html").replace(TEXT, &escaped(text));
        files.push(file("public/index.html", page));
    }
    let plan = FilePlan {
        files,
        start: language.start,
        assumptions: vec![language.assumption],
        lang: language.name,
    };
    serde_json::to_vec(&plan).map_err(|error| PlannerRequest::invalid(&error))
}

/// Returns the language that the request or the prompt names, or the first one that the request allows.
fn language(
    request: &FilesRequest,
    words: &BTreeSet<String>,
) -> Result<&'static Language, PlannerError> {
    let hints = &request.languages;
    let allowed =
        |language: &&Language| hints.is_empty() || hints.iter().any(|hint| hint == language.name);
    let mut languages = LANGUAGES.iter().filter(allowed);
    let named = languages.clone().find(|language| {
        let mut own = language.words.iter();
        own.any(|word| words.contains(*word))
    });
    named.or_else(|| languages.next()).ok_or_else(|| {
        let known: Vec<_> = LANGUAGES.iter().map(|language| language.name).collect();
        let message = format!("the template planner knows only {}", known.join(", "));
        PlannerError::new(PlannerErrorKind::NoTool, message)
    })
}

/// Returns the last text between quotation marks. An apostrophe within a word is none.
fn quoted(prompt: &str) -> Option<&str> {
    let pairs = [('"', '"'), ('`', '`'), ('“', '”'), ('\'', '\'')];
    pairs.into_iter().find_map(|(open, close)| {
        let end = prompt.rfind(close)?;
        let start = prompt[..end].rfind(open)? + open.len_utf8();
        let text = &prompt[start..end];
        (!text.is_empty()).then_some(text)
    })
}

/// Returns a text as a literal of every known language: those of JSON are.
fn literal(text: &str) -> Result<String, PlannerError> {
    serde_json::to_string(text).map_err(|error| PlannerRequest::invalid(&error))
}

/// Returns a text as the content of an element of HTML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
