//! Recognition of texts that are not what their reader expects as a whole: one problem in place of
//! many that only follow from it.

use super::document::{member, string};
use agent_diagnostic::{Applicability, Code, Diagnostic, Edit, Fix, Label, Problems};
use agent_syntax::{Node, Value, json, yaml};
use agent_text::{DocumentKind, Span, Text};

/// Maximum size of a text whose kind is looked for, in bytes.
const KIND_LIMIT: usize = 16 << 20;

/// Number of bytes at the start of an input by which a binary file is recognised.
const HEAD: usize = 1024;

/// A code with its message and its help.
pub(super) type Encoding = (Code, &'static str, &'static str);

/// Returns the problem of bytes in another encoding. A text in UTF-16 may be valid UTF-8, with every
/// second byte zero.
pub(super) fn other_encoding(bytes: &[u8]) -> Option<Encoding> {
    let head = &bytes[..bytes.len().min(HEAD)];
    let nul_at = |parity: usize| {
        let mut pairs = head.chunks_exact(2);
        head.len() > 3 && pairs.all(|pair| pair[parity] == 0 && pair[1 - parity] != 0)
    };
    let is_marked = head.starts_with(&[0xff, 0xfe]) || head.starts_with(&[0xfe, 0xff]);
    let help = "save the file as UTF-8: `iconv -f UTF-16 -t UTF-8 FILE > NEW`";
    (is_marked || nul_at(0) || nul_at(1)).then_some((
        Code::WrongEncoding,
        "the input is in UTF-16 or UTF-32",
        help,
    ))
}

/// Returns the problem of bytes that are neither UTF-8 nor any other text.
pub(super) fn binary(bytes: &[u8]) -> Option<Encoding> {
    let help = "name a text file: this one is a program, an image, an archive or the like";
    bytes[..bytes.len().min(HEAD)].contains(&0).then_some((
        Code::BinaryDocument,
        "the input is not a text",
        help,
    ))
}

/// Returns the one problem that stands in place of all others of a refused text, if it is a conflict
/// of a merge, a document inside another text, or a document of another kind.
pub fn recognised(text: &Text) -> Option<Diagnostic> {
    conflict(text)
        .or_else(|| surrounded(text))
        .or_else(|| other_kind(text))
}

/// Returns the problem of a text without content.
pub(super) fn empty(text: &Text) -> Option<Diagnostic> {
    let is_blank = text
        .as_str()
        .trim_start_matches('\u{feff}')
        .trim()
        .is_empty();
    // An empty snapshot of health is a snapshot, and an empty context is null.
    let may_be_empty = matches!(text.source(), DocumentKind::Context | DocumentKind::Health);
    if !is_blank || may_be_empty {
        return None;
    }
    let name = text.source().usual_name();
    let help = match text.source() {
        DocumentKind::Manifest => format!("begin the file with:\n{}", agent_syntax::SNIPPET),
        _ => format!("write `{name}`, or check that the path names the right file"),
    };
    let message = "the input is empty";
    let problem = Diagnostic::new(Code::EmptyDocument, message);
    Some(
        problem
            .label(text.place(Span::default()), "nothing here")
            .help(help),
    )
}

/// The lines of a text with their offsets, without line ends.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    text.split_inclusive('\n').map(move |line| {
        let start = at;
        at += line.len();
        (start, line.trim_end_matches(['\n', '\r']))
    })
}

/// Returns the problem of conflict markers. What follows a frontmatter is no part of a manifest.
fn conflict(text: &Text) -> Option<Diagnostic> {
    const MARKS: [&str; 4] = ["<<<<<<< ", "|||||||", "=======", ">>>>>>> "];
    let is_mark = |line: &str| match line {
        "=======" | "|||||||" => true,
        _ => {
            MARKS
                .iter()
                .any(|mark| mark.len() == 8 && line.starts_with(mark))
                || line.starts_with("||||||| ")
        }
    };
    let mut marks: Vec<Span> = Vec::new();
    let mut open = false;
    for (number, (start, line)) in lines(text.as_str()).enumerate() {
        let is_end = number > 0 && !open && matches!(line.trim_end(), "---" | "...");
        if is_end && text.source() == DocumentKind::Manifest {
            break;
        }
        if is_mark(line) && (open || line.starts_with(MARKS[0])) {
            open = !line.starts_with(MARKS[3]);
            marks.push(Span::new(start, start + line.len()));
        }
    }
    // A whole conflict has at least three marks.
    if marks.len() < 3 || open {
        return None;
    }
    let message = "the text contains a conflict of a merge that nobody has resolved";
    let mut problem = Diagnostic::new(Code::ConflictMarkers, message);
    let marks = marks.into_iter().take(Problems::LIMIT);
    problem.labels = marks
        .map(|span| Label::new(text.place(span), "conflict marker"))
        .collect();
    Some(problem.help("keep one side of each conflict, and remove the lines with the markers"))
}

/// Returns the problem of a document with a code fence or other text around it, and the fix that
/// leaves the document.
fn surrounded(text: &Text) -> Option<Diagnostic> {
    let whole = text.as_str();
    let document = fenced(whole).or_else(|| in_prose(text))?;
    let inner = document.of(whole);
    if inner.trim() == whole.trim() {
        return None;
    }
    let before = Span::new(0, document.start as usize);
    let after = Span::new(document.end as usize, whole.len());
    let around = [before, after].into_iter();
    let around: Vec<_> = around
        .filter(|span| span.start < span.end && !span.of(whole).trim().is_empty())
        .collect();
    // A fence is never part of a document; other text is, unless it is a sentence.
    let is_foreign = |span: &Span| span.of(whole).contains("```") || is_prose(span.of(whole));
    if !around.iter().all(is_foreign) || !is_document(text.source(), inner) {
        return None;
    }
    let message = "the document has other text around it";
    let mut problem = Diagnostic::new(Code::TextAroundDocument, message);
    problem.labels = around
        .iter()
        .map(|span| {
            let part = span.of(whole);
            let start = span.start as usize + part.len() - part.trim_start().len();
            let shown = Span::new(start, start + part.trim().len());
            Label::new(text.place(shown), "not part of the document")
        })
        .collect();
    let edits = around.into_iter().map(|span| Edit {
        place: text.place(span),
        replacement: String::new(),
    });
    problem.fixes.push(Fix {
        title: "remove the text around the document".to_owned(),
        applicability: Applicability::Safe,
        edits: edits.collect(),
    });
    Some(problem)
}

/// Returns whether a text is a sentence: at least two words, and no comment.
fn is_prose(text: &str) -> bool {
    let is_word =
        |word: &&str| word.len() > 1 && word.chars().filter(|c| c.is_alphabetic()).count() > 1;
    let is_comment = ["//", "/*", "#"]
        .iter()
        .any(|sign| text.trim_start().starts_with(sign));
    !is_comment && text.split_whitespace().filter(is_word).nth(1).is_some()
}

/// Returns the content of the only code fence of a text.
fn fenced(text: &str) -> Option<Span> {
    let is_fence = |line: &str| line.starts_with("```") || line.starts_with("~~~");
    let mut fences = lines(text).filter(|(_, line)| is_fence(line));
    let (first, opening) = fences.next()?;
    let (last, closing) = fences.last()?;
    let start = first + opening.len();
    // The line end of the opening line.
    let start = start + text[start..].find('\n')? + 1;
    (start <= last
        && closing
            .trim_end()
            .bytes()
            .all(|b| b == closing.as_bytes()[0]))
    .then(|| Span::new(start, last))
}

/// Returns the part of a text from the first line that begins a document to the last that ends it.
fn in_prose(text: &Text) -> Option<Span> {
    let whole = text.as_str();
    if text.source() == DocumentKind::Manifest {
        let mut marks = lines(whole).filter(|(_, line)| line.trim_end() == "---");
        let (start, _) = marks.next()?;
        return Some(Span::new(start, whole.len()));
    }
    let open = lines(whole).find(|(_, line)| line.starts_with(['{', '[']));
    let (start, line) = open?;
    let close = if line.starts_with('{') { '}' } else { ']' };
    let end = whole.rfind(close)? + 1;
    (start < end).then(|| Span::new(start, end))
}

/// Returns whether a text is one document of a kind, as far as its notation says.
fn is_document(kind: DocumentKind, text: &str) -> bool {
    let reads = |read: fn(&mut Problems<'_>) -> bool| {
        let text = Text::new(kind, text.to_owned());
        let mut problems = Problems::new(&text);
        read(&mut problems) && !problems.has_errors()
    };
    match kind {
        DocumentKind::Manifest => reads(|problems| {
            agent_syntax::frontmatter(problems)
                .and_then(|parts| yaml::parse(parts.content, problems))
                .is_some()
        }),
        DocumentKind::Task
        | DocumentKind::Tenant
        | DocumentKind::Health
        | DocumentKind::Overlay
            if !text.trim_start().starts_with(['{', '[']) =>
        {
            reads(|problems| {
                let whole = Span::new(0, problems.text().as_str().len());
                let root = yaml::parse(whole, problems);
                root.is_some_and(|it| matches!(it.value, Value::Mapping(_)))
            })
        }
        DocumentKind::Policy | DocumentKind::PolicyTest => text.contains("package "),
        _ => json::parse_strict(text).is_some(),
    }
}

/// A kind of document, with the way to pass it.
struct Recognised {
    /// The kind that a reader expects for it; none if no reader of the engine takes it as it is.
    kind: Option<DocumentKind>,
    /// What it is.
    noun: &'static str,
    /// Where it belongs.
    help: &'static str,
}

const IMPORTABLE: &str = "import it: `agent index import FILE`";

macro_rules! kinds {
    ($($name:ident = $kind:expr, $noun:literal, $help:expr;)*) => {
        $(const $name: Recognised = Recognised { kind: $kind, noun: $noun, help: $help };)*
    };
}

kinds! {
    MANIFEST = Some(DocumentKind::Manifest), "a manifest (`agents.md`)", "give the manifest without an option";
    INDEX = Some(DocumentKind::Index), "an index of servers", "give the index with `--index FILE`";
    LOCK = Some(DocumentKind::Lock), "a lock (`agents.lock`)", "give the lock with `--lock FILE`";
    TASK = Some(DocumentKind::Task), "a task", "give the task with `--task FILE`";
    TENANT = Some(DocumentKind::Tenant), "a configuration of tenants", "give it with `--tenant FILE`";
    POLICY = Some(DocumentKind::Policy), "a policy", "give the policy with `--policy FILE`";
    CALL = Some(DocumentKind::Call), "a one-call plan", "check it with `agent plan check --call FILE`";
    PLAN = Some(DocumentKind::Plan), "a plan of several steps", "check it with `agent plan check FILE`";
    REQUEST = Some(DocumentKind::Request), "a request for a plan", "give the request with `--request FILE`";
    POOL = Some(DocumentKind::ToolPool), "a tool pool", "give the pool with `--tool-pool FILE`";
    PROFILE = Some(DocumentKind::Profile), "an instruction profile", "give the profile with `--profile FILE`";
    PAYLOAD = Some(DocumentKind::Payload), "the result of a tool", "give it with `--payload FILE`";
    CLIENT = None, "the configuration of an MCP client", IMPORTABLE;
    REGISTRY = None, "a `server.json` of a registry", IMPORTABLE;
    CAPTURE = None, "a captured `tools/list`", IMPORTABLE;
    EXPLANATION = None, "an explanation, which `agent resolve --explain` writes", "give the file that it explains";
}

/// Returns the problem of a document of another kind.
fn other_kind(text: &Text) -> Option<Diagnostic> {
    if text.as_str().len() > KIND_LIMIT {
        return None;
    }
    instead_of(text, kind_of(text.as_str())?)
}

/// Returns the problem of a JSON document of another kind.
pub(super) fn recognised_tree(text: &Text, root: &Node<'_>) -> Option<Diagnostic> {
    instead_of(text, kind_of_json(root)?)
}

fn instead_of(text: &Text, (found, span, key): Shown) -> Option<Diagnostic> {
    let expected = text.source();
    // An overlay may have a member `servers`, and what is imported has its own recognition.
    let is_open = matches!(
        expected,
        DocumentKind::Import
            | DocumentKind::Overlay
            | DocumentKind::Document
            | DocumentKind::Context
    );
    if found.kind == Some(expected) || is_open {
        return None;
    }
    let name = expected.usual_name();
    let message = format!("this is {}, where `{name}` belongs", found.noun);
    let problem = Diagnostic::new(Code::WrongDocument, message);
    let mut problem = problem.help(found.help);
    problem.labels.push(Label {
        pointer: key.map(|key| format!("/{key}")),
        ..Label::new(text.place(span), "by this")
    });
    Some(problem)
}

/// A kind, the part of the text that shows it, and its key in JSON.
type Shown = (Recognised, Span, Option<&'static str>);

/// Returns the kind of a text.
fn kind_of(text: &str) -> Option<Shown> {
    let start = if text.starts_with('\u{feff}') { 3 } else { 0 };
    let content = &text[start..];
    if content.trim_start().starts_with(['{', '[']) {
        return kind_of_json(&json::parse_strict(text)?);
    }
    let first = lines(content).find(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    let (at, line) = first?;
    let shown = Span::new(start + at, start + at + line.len());
    if line.trim_end() == "---" && content.contains("requires:") {
        return Some((MANIFEST, shown, None));
    }
    if line.starts_with("package ") {
        return Some((POLICY, shown, None));
    }
    let keys = [("task_id:", TASK), ("tenants:", TENANT)];
    keys.into_iter().find_map(|(key, kind)| {
        let (at, line) = lines(content).find(|(_, line)| line.starts_with(key))?;
        Some((kind, Span::new(start + at, start + at + line.len()), None))
    })
}

/// Returns the kind of a JSON value by the members that only documents of this kind have.
fn kind_of_json(root: &Node<'_>) -> Option<Shown> {
    let entries = match &root.value {
        Value::Mapping(entries) => entries,
        Value::Sequence(items) => {
            let first = items.first()?;
            member(first, "endpoint")?;
            let id = member(first, "id")?;
            return Some((INDEX, id.span, None));
        }
        _ => return None,
    };
    let is = |name: &str, kind: fn(&Value<'_>) -> bool| {
        member(root, name).is_some_and(|it| kind(&it.value))
    };
    let list: fn(&Value<'_>) -> bool = |it| matches!(it, Value::Sequence(_));
    for entry in entries {
        let found = match (&*entry.key, string(&entry.value)) {
            ("lockVersion", _) => LOCK,
            ("mcpServers", _) => CLIENT,
            ("servers", _) if is_client(&entry.value) => CLIENT,
            ("servers", _) if list(&entry.value.value) => INDEX,
            ("envelope_id", Some("env.mova_agent_plan_v1")) => {
                return Some((PLAN, entry.value.span, Some("envelope_id")));
            }
            ("envelope_id", Some("env.mova_agent_request_v1")) => {
                return Some((REQUEST, entry.value.span, Some("envelope_id")));
            }
            ("steps", _) if is("plan_id", |_| true) => PLAN,
            ("bindings", _) if list(&entry.value.value) => POOL,
            ("rules", _) if list(&entry.value.value) && is("profile_id", |_| true) => PROFILE,
            ("type", Some("call_tool" | "final_answer")) => CALL,
            ("task_id", _) => TASK,
            ("tenants", _) if list(&entry.value.value) => TENANT,
            ("tools", _) if list(&entry.value.value) => CAPTURE,
            ("packages" | "remotes", _) if list(&entry.value.value) => REGISTRY,
            ("satisfied", _) if is("requirements", list) => EXPLANATION,
            ("content", _) if list(&entry.value.value) => PAYLOAD,
            _ => continue,
        };
        return Some((found, entry.key_span, None));
    }
    None
}

/// Returns whether a value has servers by name, each with a command or a URL.
fn is_client(servers: &Node<'_>) -> bool {
    let Value::Mapping(servers) = &servers.value else {
        return false;
    };
    let starts = |server: &Node<'_>| {
        ["command", "url"]
            .iter()
            .any(|key| member(server, key).is_some())
    };
    servers.first().is_some_and(|it| starts(&it.value))
}
