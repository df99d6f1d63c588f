//! Small web services that need no model and no packages.

use crate::error::{PlannerError, PlannerErrorKind};
use crate::request::{FilesRequest, PlannerRequest};
use crate::words::words;
use serde::Serialize;

/// The place of the text in a source.
const TEXT: &str = "@TEXT@";

/// The text of a service if none is given.
const HELLO: &str = "Hello, World!";

/// The mode of files: read by all, written by their owner.
const MODE: u32 = 0o644;

/// A service, with the words that ask for it. The first one that fits is taken.
struct Service {
    words: &'static [&'static str],
    /// What it does, for messages.
    about: &'static str,
    /// Its source in a language. [`TEXT`] stands for the text of the prompt.
    source: fn(&Language) -> &'static str,
}

const SERVICES: [Service; 2] = [
    Service {
        words: &["store", "stores", "key", "keys", "cache"],
        about: "a key-value store",
        source: |language| language.store,
    },
    Service {
        words: &[
            "hello", "greets", "greeting", "responds", "respond", "say", "says", "text",
        ],
        about: "one text",
        source: |language| language.hello,
    },
];

/// A language, with its sources.
struct Language {
    name: &'static str,
    /// Other words for it in a prompt.
    words: &'static [&'static str],
    /// The path of the source.
    path: &'static str,
    /// The paths and contents of files that each service has in addition to its source.
    more: &'static [(&'static str, &'static str)],
    /// Writes a text as a literal.
    literal: fn(&str) -> String,
    start: &'static str,
    assumption: &'static str,
    store: &'static str,
    hello: &'static str,
}

const LANGUAGES: [Language; 4] = [
    Language {
        name: "python",
        words: &["python"],
        path: "app.py",
        more: &[],
        literal: json,
        start: "python app.py",
        assumption: "uses the HTTP server of Python's standard library",
        store: include_str!("../services/python/store.py"),
        hello: include_str!("../services/python/hello.py"),
    },
    Language {
        name: "node",
        words: &["node", "nodejs", "javascript"],
        path: "index.js",
        more: &[],
        literal: json,
        start: "node index.js",
        assumption: "uses Node's module `node:http`",
        store: include_str!("../services/node/store.js"),
        hello: include_str!("../services/node/hello.js"),
    },
    Language {
        name: "go",
        words: &["golang"],
        path: "main.go",
        more: &[],
        literal: json,
        start: "go run main.go",
        assumption: "uses Go's package `net/http`",
        store: include_str!("../services/go/store.go"),
        hello: include_str!("../services/go/hello.go"),
    },
    Language {
        name: "rust",
        words: &["rust"],
        path: "src/lib.rs",
        more: &[
            // A `Cargo.toml` there would make the folder a package, which cargo leaves out of ours.
            ("Cargo.lock", include_str!("../services/rust/Cargo.lock")),
            ("Cargo.toml", include_str!("../services/rust/manifest.toml")),
            ("src/wasi.rs", include_str!("../services/rust/wasi.rs")),
            ("src/world.rs", include_str!("../services/rust/world.rs")),
        ],
        literal: |text| format!("{text:?}"),
        start: "cargo run --release",
        assumption: "is a component of WebAssembly that uses `wasi:http`, and no crates",
        store: include_str!("../services/rust/store.rs"),
        hello: include_str!("../services/rust/hello.rs"),
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

/// Returns the file plan of the service that the words of a prompt ask for. A change has to name another service or
/// another text: nothing else is in a template.
pub(crate) fn plan(request: &FilesRequest) -> Result<Vec<u8>, PlannerError> {
    let no = |message: String| Err(PlannerError::new(PlannerErrorKind::NoTool, message));
    let change = request.change.as_deref();
    let wanted = change
        .and_then(service)
        .or_else(|| service(&request.prompt));
    let Some(service) = wanted else {
        let known: Vec<_> = SERVICES.iter().map(|service| service.about).collect();
        let known = known.join(", ");
        return no(format!(
            "the template planner has no service for the prompt; it knows {known}"
        ));
    };
    let text = change.and_then(quoted);
    if let Some(change) = change {
        if text.is_none() && self::service(change).is_none() {
            return no(
                "the template planner changes only the service, or a text in quotation marks"
                    .to_owned(),
            );
        }
        if language_in(change).is_some_and(|it| !request.languages.iter().any(|own| own == it.name))
        {
            return no("an app keeps its language; make another one".to_owned());
        }
    }
    let language = language(request)?;
    let text = text.or_else(|| quoted(&request.prompt)).unwrap_or(HELLO);
    let source = (service.source)(language).replace(TEXT, &(language.literal)(text));
    let file = |path, content| File {
        path,
        content,
        mode: MODE,
    };
    let mut files = vec![file(language.path, source)];
    let more = language.more.iter();
    files.extend(more.map(|(path, content)| file(path, (*content).to_owned())));
    let plan = FilePlan {
        files,
        start: language.start,
        assumptions: vec![language.assumption],
        lang: language.name,
    };
    serde_json::to_vec(&plan).map_err(|error| PlannerRequest::invalid(&error))
}

/// Returns the first service that a text asks for.
fn service(text: &str) -> Option<&'static Service> {
    let words = words(text);
    let has = |of: &[&str]| of.iter().any(|word| words.contains(*word));
    SERVICES.iter().find(|service| has(service.words))
}

/// Returns the language that a text names.
fn language_in(text: &str) -> Option<&'static Language> {
    let words = words(text);
    let has = |of: &[&str]| of.iter().any(|word| words.contains(*word));
    LANGUAGES.iter().find(|language| has(language.words))
}

/// Returns the language that the prompt names, if the request allows it, or the first one that the request allows.
fn language(request: &FilesRequest) -> Result<&'static Language, PlannerError> {
    let hints = &request.languages;
    let allowed =
        |language: &&Language| hints.is_empty() || hints.iter().any(|hint| hint == language.name);
    let named = language_in(&request.prompt).filter(allowed);
    named
        .or_else(|| LANGUAGES.iter().find(allowed))
        .ok_or_else(|| {
            let message = "the template planner knows python, node, go and rust".to_owned();
            PlannerError::new(PlannerErrorKind::NoTool, message)
        })
}

/// Returns the last text of a prompt between quotation marks. An apostrophe within or after a word
/// is not a quotation mark.
#[must_use]
pub fn quoted(prompt: &str) -> Option<&str> {
    let before = |at: usize| prompt[..at].chars().next_back();
    let after = |at: usize| prompt[at..].chars().nth(1);
    let opens = |at: usize| before(at).is_none_or(|c| !c.is_alphanumeric());
    let closes = |at: usize| after(at).is_none_or(|c| !c.is_alphanumeric());
    let pairs = [('"', '"'), ('`', '`'), ('“', '”'), ('\'', '\'')];
    pairs.into_iter().find_map(|(open, close)| {
        let mut ends = prompt.rmatch_indices(close).map(|(at, _)| at);
        let end = ends.find(|at| close != '\'' || closes(*at))?;
        let mut starts = prompt[..end].rmatch_indices(open).map(|(at, _)| at);
        let start = starts.find(|at| open != '\'' || opens(*at))? + open.len_utf8();
        let text = &prompt[start..end];
        (!text.is_empty()).then_some(text)
    })
}

/// Returns a text as a literal of JSON, which most languages have too.
fn json(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
