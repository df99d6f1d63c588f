//! The situation behind a refused text: what it is, if it is not what was expected.
//!
//! Each situation is one problem, which replaces every follow-up.

use agent_diagnostic::{Applicability, Code, Diagnostic, Edit, Fix, Label, Problems};
use agent_model::{HealthStatus, Keyword as _};
use agent_syntax::json::{Reader, parse_value};
use agent_syntax::{Entry, Node, Value, yaml};
use agent_text::{DocumentKind, Span, Text};

/// Returns the situation of bytes that are not UTF-8, or of a text with NUL characters.
pub(super) fn of_bytes(source: DocumentKind, bytes: &[u8]) -> Option<Diagnostic> {
    let head = &bytes[..bytes.len().min(4096)];
    let nuls = |parity: usize| {
        let odd = head.iter().skip(parity).step_by(2);
        odd.filter(|byte| **byte == 0).count() * 3 > head.len()
    };
    let encoding = match head {
        [0xff, 0xfe, 0, 0, ..]
        | [0, 0, 0xfe, 0xff, ..]
        | [0, 0, 0, 1..=0x7f, ..]
        | [1..=0x7f, 0, 0, 0, ..] => "UTF-32",
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => "UTF-16",
        _ if nuls(0) != nuls(1) => "UTF-16",
        _ => "",
    };
    let text = Text::new(source, String::new());
    let start = text.place(Span::default());
    if !encoding.is_empty() {
        let message = format!("the file is {encoding}, not UTF-8");
        let mut problem = Diagnostic::new(Code::WrongEncoding, message).label(start, encoding);
        let Some(decoded) = utf_16(bytes) else {
            return Some(problem.help(format!(
                "save the file as UTF-8, for example: `iconv -f {encoding} -t UTF-8`"
            )));
        };
        // Nothing was read, so the fix replaces nothing.
        problem.fixes.push(Fix {
            title: "save the file as UTF-8".to_owned(),
            applicability: Applicability::Safe,
            edits: vec![Edit {
                place: start,
                replacement: decoded,
            }],
        });
        return Some(problem);
    }
    let known: [(&[u8], &str); 8] = [
        (b"PK\x03\x04", "a ZIP archive"),
        (b"\x1f\x8b", "gzip data"),
        (b"\x7fELF", "a program"),
        (b"\0asm", "a WebAssembly module"),
        (b"\x89PNG", "an image"),
        (b"\xff\xd8\xff", "an image"),
        (b"%PDF", "a PDF document"),
        (b"MZ", "a program"),
    ];
    let kind = known.iter().find(|(magic, _)| head.starts_with(magic));
    let is_text_magic = kind.is_some_and(|(magic, _)| magic.iter().all(u8::is_ascii_alphabetic));
    let is_binary = head.contains(&0) || kind.is_some_and(|_| !is_text_magic);
    is_binary.then(|| {
        let what = kind.map_or("binary data", |(_, what)| what);
        let message = match kind {
            Some(_) => format!("the file is binary ({what}), not text"),
            None => "the file is binary, not text".to_owned(),
        };
        let problem = Diagnostic::new(Code::BinaryDocument, message).label(start, what);
        problem.help("check that the path names the intended file")
    })
}

/// Maximum size of a text in UTF-16 that a fix writes as UTF-8, in bytes.
const UTF_16_LIMIT: usize = 1 << 20;

/// Returns the text of bytes in UTF-16 behind a byte order mark.
fn utf_16(bytes: &[u8]) -> Option<String> {
    let (mark, units) = bytes.split_at_checked(2)?;
    let unit: fn([u8; 2]) -> u16 = match mark {
        [0xff, 0xfe] => u16::from_le_bytes,
        [0xfe, 0xff] => u16::from_be_bytes,
        _ => return None,
    };
    let (pairs, rest) = units.as_chunks::<2>();
    let is_whole = rest.is_empty() && units.len() <= UTF_16_LIMIT;
    let units: Vec<_> = pairs.iter().map(|it| unit(*it)).collect();
    String::from_utf16(&units)
        .ok()
        .filter(|it| is_whole && !it.contains('\0'))
}

/// Returns the situation that the characters of a text show.
pub(super) fn of_text(text: &Text) -> Vec<Diagnostic> {
    let content = text.as_str();
    if content.trim_start_matches('\u{feff}').trim().is_empty() {
        let message = format!("the file is empty; `{}` is expected", usual_name(text));
        let place = text.place(Span::default());
        let problem = Diagnostic::new(Code::EmptyDocument, message).label(place, "nothing here");
        let help = match text.source() {
            DocumentKind::Lock => "run `agent resolve` to write the lock",
            _ => "write the document, or check that the path names the intended file",
        };
        return vec![problem.help(help)];
    }
    // A single NUL in a text has a place.
    let head = &content.as_bytes()[..content.len().min(4096)];
    if head.iter().filter(|byte| **byte == 0).count() * 8 > head.len() {
        return Vec::from_iter(of_bytes(text.source(), content.as_bytes()));
    }
    conflicts(text)
}

fn usual_name(text: &Text) -> &'static str {
    text.source().usual_name()
}

/// Returns the problem of each merge conflict: its marker lines.
fn conflicts(text: &Text) -> Vec<Diagnostic> {
    let mut markers: Vec<(Span, u8)> = Vec::new();
    let mut at = 0;
    for line in text.as_str().split_inclusive('\n') {
        let marked = line.trim_end();
        let first = marked.as_bytes().first().copied().unwrap_or_default();
        let len = marked.bytes().take_while(|byte| *byte == first).count();
        let is_marker = len == 7
            && matches!(first, b'<' | b'=' | b'>' | b'|')
            && marked.as_bytes().get(7).is_none_or(|byte| *byte == b' ');
        // A line of equals signs alone underlines a heading.
        let is_open = markers.last().is_some_and(|(_, kind)| *kind != b'>');
        // What follows the frontmatter is not read.
        let is_end = at > 0 && !is_open && matches!(marked, "---" | "...");
        if is_end && text.source() == DocumentKind::Manifest {
            break;
        }
        if is_marker && (first == b'<' || is_open) && markers.len() < Problems::LIMIT {
            markers.push((Span::new(at, at + marked.len()), first));
        }
        at += line.len();
    }
    let help = match text.source() {
        DocumentKind::Lock => "run `agent resolve` to write the lock again",
        _ => "keep one side of the conflict, and remove the marker lines",
    };
    let mut conflicts: Vec<Diagnostic> = Vec::new();
    for (span, kind) in markers {
        let label = match kind {
            b'<' => "one side begins here",
            b'|' => "the common ancestor begins here",
            b'=' => "the other side begins here",
            _ => "the conflict ends here",
        };
        if kind == b'<' {
            let message = "the file contains a merge conflict";
            conflicts.push(Diagnostic::new(Code::ConflictMarkers, message).help(help));
        }
        // Behind another mark the conflict is damaged itself.
        if let Some(last) = conflicts.last_mut() {
            last.labels.push(Label::new(text.place(span), label));
        }
    }
    conflicts
}

/// A document with other text around it.
pub(super) struct Surrounded {
    /// What surrounds it.
    pub(super) what: &'static str,
    /// The document.
    pub(super) within: Span,
    /// The edits that leave the document alone.
    pub(super) edits: Vec<(Span, String)>,
    /// The instruction.
    pub(super) title: &'static str,
}

/// Returns the document in a code fence or in prose.
pub(super) fn surrounded(text: &Text) -> Option<Surrounded> {
    let content = text.as_str();
    let mut fences = Vec::new();
    let mut at = 0;
    for line in content.split_inclusive('\n') {
        if line.starts_with("```") || line.starts_with("~~~") {
            fences.push((at, at + line.len()));
        }
        at += line.len();
    }
    let is_manifest = text.source() == DocumentKind::Manifest;
    let is_blank = |it: &str| it.trim_start_matches('\u{feff}').trim().is_empty();
    let (what, title, start, end) = match fences[..] {
        // The body of a manifest may contain fences.
        [first, .., last] if fences.len() == 2 || (is_manifest && fences.len() % 2 == 0) => {
            if is_manifest && !content[..first.0].trim().is_empty() {
                return before_frontmatter(content);
            }
            if is_manifest && !content[last.1..].trim().is_empty() {
                return None;
            }
            (
                "a code fence",
                "remove what surrounds the document",
                first.1,
                last.0,
            )
        }
        [only] if content[..only.0].trim().is_empty() && !is_manifest => (
            "a code fence",
            "remove the code fence",
            only.1,
            content.len(),
        ),
        _ if is_manifest => return before_frontmatter(content),
        _ => {
            let start = content.find(['{', '['])?;
            let end = content.rfind(['}', ']'])? + 1;
            if end <= start || !is_prose(&content[..start]) || !is_prose(&content[end..]) {
                return None;
            }
            if is_blank(&content[..start]) && is_blank(&content[end..]) {
                return None;
            }
            // What is only white space stays, and so does the end of the last line.
            let behind = &content[end..];
            let break_len = match behind.trim_start_matches([' ', '\t']) {
                rest if is_blank(rest) => behind.len(),
                rest if rest.starts_with(['\n', '\r']) => behind.find('\n').map_or(0, |at| at + 1),
                _ => 0,
            };
            let end = end + break_len;
            ("prose", "remove the text around the document", start, end)
        }
    };
    if is_manifest && !content[start..end].starts_with("---") {
        return None;
    }
    let edits = [Span::new(0, start), Span::new(end, content.len())];
    let edits = edits.into_iter().filter(|span| span.start < span.end);
    Some(Surrounded {
        what,
        within: Span::new(start, end),
        edits: edits.map(|span| (span, String::new())).collect(),
        title,
    })
}

/// Returns the frontmatter behind other lines, which move into the body.
fn before_frontmatter(content: &str) -> Option<Surrounded> {
    let start = content.find("\n---").map(|at| at + 1)?;
    let opening = content[start..].find('\n').map(|at| start + at + 1)?;
    if content[start..opening].trim_end() != "---" {
        return None;
    }
    let mut at = opening;
    let mut has_name = false;
    for line in content[opening..].split_inclusive('\n') {
        at += line.len();
        has_name |= line.starts_with("name");
        if matches!(line.trim_end(), "---" | "...") {
            break;
        }
    }
    if !has_name {
        return None;
    }
    let before = &content[..start];
    let mut edits = vec![(Span::new(0, start), String::new())];
    let is_blank = before.trim_start_matches('\u{feff}').trim().is_empty();
    if !is_blank {
        let line_end = if content[..at].ends_with('\n') {
            ""
        } else {
            "\n"
        };
        let moved = before.trim_start_matches('\u{feff}');
        edits.push((Span::new(at, at), format!("{line_end}{moved}")));
    }
    Some(Surrounded {
        what: if is_blank {
            "a blank line"
        } else {
            "other text"
        },
        within: Span::new(start, at),
        edits,
        title: match is_blank {
            true => "remove the lines before `---`",
            false => "move the text before `---` behind the frontmatter",
        },
    })
}

/// Returns whether a text is words rather than a part of a document.
fn is_prose(text: &str) -> bool {
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        return true;
    }
    let is_comment = ["//", "/*", "#"].iter().any(|it| text.starts_with(it));
    let letters = text.chars().filter(|c| c.is_alphabetic()).count();
    let is_key = |line: &str| {
        let first = line.split_whitespace().next().unwrap_or_default();
        first.ends_with(':') && first.starts_with(|c: char| c.is_ascii_lowercase())
    };
    !is_comment
        && letters > 1
        && !text.lines().any(is_key)
        && !text.contains('"')
        && !text.contains(['{', '}', '[', ']'])
}

/// A kind of document that a text may be.
struct Kind {
    what: &'static str,
    /// The inputs that take it.
    of: &'static [DocumentKind],
    help: &'static str,
}

macro_rules! kinds {
    ($($name:ident $what:literal [$($of:ident)*] $help:literal)*) => {
        $(const $name: Kind = Kind { what: $what, of: &[$(DocumentKind::$of),*], help: $help };)*
    };
}

kinds! {
    PLAN "a plan of several steps" [Plan] "check it with `agent plan check plan.json`"
    CALL "a plan of one call" [Call] "check it with `agent plan check --call call.json`"
    REQUEST "a request" [Request] "pass it with `--request request.json`"
    POOL "a tool pool" [ToolPool] "pass it with `--tool-pool tool-pool.json`"
    PROFILE "an instruction profile" [Profile] "pass it with `--profile profile.json`"
    LOCK "a lock" [Lock] "pass it with `--lock agents.lock`"
    INDEX "an index" [Index] "pass it with `--index mcp.index.json`"
    CLIENT "the configuration of an MCP client" [] "make an index of it with `agent index import .mcp.json`"
    PACKAGE "a package.json of npm" [] "pass the index with `--index mcp.index.json`"
    PACKAGES "a list of packages" [] "write `name`, `version` and `requires` at the top, or a first manifest with `agent init`"
    KUBERNETES "an object of Kubernetes" [] "write `name`, `version` and `requires` at the top, or a first manifest with `agent init`"
    COMPOSE "a file of Compose" [] "write `name`, `version` and `requires` at the top, or a first manifest with `agent init`"
    RESULT "the result of a tool" [] "pass it as the payload: `agent ground --payload payload.json summary.json`"
    SERVER "a server.json of a registry" [] "make an index of it with `agent index import server.json`"
    CAPTURE "a capture of a server's tools" [] "make an index of it with `agent index import capture.json`"
    LISTED "a capture of one server's tools" [] "write it as the value of the server's id: { \"ID\": { \"tools\": [] } }"
    TASK "a task" [Task] "pass it with `--task task.yaml`"
    TENANT "a configuration of tenants" [Tenant] "pass it with `--tenant tenant.yaml`"
    HEALTH "a health snapshot" [Health] "pass it with `--health health.yaml`"
    MANIFEST "a manifest" [Manifest] "pass it as the manifest: `agent resolve agents.md`"
    POLICY "a policy" [Policy PolicyTest] "pass it with `--policy policy.rego`"
}

/// Returns the problem of a document that is of another kind than expected.
pub(super) fn of_kind(text: &Text) -> Option<Diagnostic> {
    let source = text.source();
    let expected = match source {
        DocumentKind::Manifest => "a manifest",
        DocumentKind::Index => "an index",
        DocumentKind::Lock => "a lock",
        DocumentKind::Task => "a task",
        DocumentKind::Tenant => "a configuration of tenants",
        DocumentKind::Health => "a health snapshot",
        DocumentKind::Policy | DocumentKind::PolicyTest => "a policy",
        DocumentKind::Call => "a plan of one call",
        DocumentKind::Plan => "a plan of several steps",
        DocumentKind::Catalogue => "a catalogue of tools",
        DocumentKind::Request => "a request",
        DocumentKind::ToolPool => "a tool pool",
        DocumentKind::Profile => "an instruction profile",
        DocumentKind::Summary => "a summary",
        DocumentKind::Overlay => "an overlay",
        // Other inputs may contain anything.
        _ => return None,
    };
    let (kind, span) = recognise(text)?;
    if kind.of.contains(&source) {
        return None;
    }
    let message = format!("this is {}, not {expected}", kind.what);
    let label = format!("{} begins like this", kind.what);
    let problem = Diagnostic::new(Code::WrongDocument, message).label(text.place(span), label);
    Some(Diagnostic {
        belongs_in: kind.of.first().copied(),
        ..problem.help(kind.help)
    })
}

/// Returns the kind of a document, and the characters that show it.
fn recognise(text: &Text) -> Option<(Kind, Span)> {
    let content = text.as_str();
    let start = content.len() - content.trim_start_matches('\u{feff}').len();
    let rest = &content[start..];
    let line = |from: usize, len: usize| Span::new(from, from + len);
    if let Some(fields) = rest.strip_prefix("---") {
        let block = fields.split_once("\n---").map(|(block, _)| block);
        let is_manifest = block.is_some_and(|it| it.contains("\nrequires:"));
        if is_manifest || text.source() != DocumentKind::Manifest {
            return is_manifest.then_some((MANIFEST, line(start, 3)));
        }
        let scratch = Text::new(text.source(), content.to_owned());
        let within = line(start + 3, block.unwrap_or(fields).len());
        let root = yaml::parse(within, &mut Problems::new(&scratch))?;
        return of_others(&root).or_else(|| packages(&root));
    }
    let mut at = start;
    for found in rest.split_inclusive('\n') {
        let code = found.trim_end();
        if !code.is_empty() && !code.starts_with('#') {
            let mut words = code.split_ascii_whitespace();
            let is_package = words.next() == Some("package")
                && words.next().is_some_and(|it| !it.contains(':'))
                && words.next().is_none_or(|it| it.starts_with('#'));
            if is_package {
                return Some((POLICY, line(at, 7)));
            }
            break;
        }
        at += found.len();
    }
    let scratch = Text::new(text.source(), content.to_owned());
    let whole = Span::new(start, content.len());
    let root = match rest.trim_start().starts_with(['{', '[']) {
        true => parse_value(&mut Reader::new(scratch.as_str())).ok(),
        // A manifest without its marks is not a document of these kinds.
        false
            if matches!(
                text.source(),
                DocumentKind::Policy | DocumentKind::PolicyTest
            ) =>
        {
            None
        }
        false => yaml::parse(whole, &mut Problems::new(&scratch)),
    }?;
    let is_catalogue = text.source() == DocumentKind::Catalogue;
    shape(&root, is_catalogue, text.source() == DocumentKind::Summary)
}

fn entries<'n, 'a>(node: &'n Node<'a>) -> &'n [Entry<'a>] {
    match &node.value {
        Value::Mapping(entries) => entries,
        _ => &[],
    }
}

fn items<'n, 'a>(node: &'n Node<'a>) -> &'n [Node<'a>] {
    match &node.value {
        Value::Sequence(items) => items,
        _ => &[],
    }
}

fn has(node: &Node<'_>, key: &str) -> bool {
    entries(node).iter().any(|entry| entry.key == key)
}

fn entry<'n, 'a>(node: &'n Node<'a>, key: &str) -> Option<&'n Entry<'a>> {
    entries(node).iter().find(|entry| entry.key == key)
}

/// Returns the kind of a description of services that another program runs.
fn of_others(root: &Node<'_>) -> Option<(Kind, Span)> {
    if let (Some(version), true) = (entry(root, "apiVersion"), has(root, "kind")) {
        return Some((KUBERNETES, version.key_span));
    }
    let services = entry(root, "services")?;
    let first = entries(&services.value).first()?;
    let is_service = has(&first.value, "image") || has(&first.value, "build");
    is_service.then_some((COMPOSE, services.key_span))
}

/// Returns the kind of a frontmatter that lists versions of packages: as `name: version`, or as `name@version`.
fn packages(root: &Node<'_>) -> Option<(Kind, Span)> {
    let listed = entry(root, "dependencies")?;
    let text = |it: &Node<'_>| match &it.value {
        Value::String(text) | Value::Plain(text) => Some(text.to_string()),
        _ => None,
    };
    // A scope of npm begins with an `@`.
    let is_versioned = |it: &Node<'_>| text(it).is_some_and(|it| it.rfind('@') > Some(0));
    let lists_versions = match &listed.value.value {
        Value::Mapping(entries) if !entries.is_empty() => {
            entries.iter().all(|it| text(&it.value).is_some())
        }
        Value::Sequence(items) if !items.is_empty() => items.iter().all(is_versioned),
        _ => false,
    };
    lists_versions.then_some((PACKAGES, listed.key_span))
}

/// Returns the kind that the characteristic keys of a tree show.
fn shape(root: &Node<'_>, is_catalogue: bool, has_result: bool) -> Option<(Kind, Span)> {
    let at = |name: &str| {
        let mut all = entries(root).iter();
        all.find(|entry| entry.key == name)
    };
    let text = |name: &str| match at(name).map(|entry| &entry.value.value) {
        Some(Value::String(text) | Value::Plain(text)) => Some(&**text),
        _ => None,
    };
    let key = |kind: Kind, name: &str| at(name).map(|entry| (kind, entry.key_span));
    let first = |name: &str| at(name).and_then(|entry| items(&entry.value).first());
    if let Some(item) = items(root).first() {
        let open = Span::new(root.span.start as usize, root.span.start as usize + 1);
        return (has(item, "id") && has(item, "endpoint")).then_some((INDEX, open));
    }
    if text("envelope_id").is_some_and(|it| it.contains("_plan_"))
        || has(root, "plan") && has(root, "verb")
    {
        return key(PLAN, "envelope_id").or_else(|| key(PLAN, "plan"));
    }
    if text("envelope_id").is_some_and(|it| it.contains("_request_"))
        || has(root, "request") && has(root, "verb")
    {
        return key(REQUEST, "envelope_id").or_else(|| key(REQUEST, "request"));
    }
    if text("type").is_some_and(|it| matches!(it, "call_tool" | "final_answer")) {
        return key(CALL, "type");
    }
    if has(root, "bindings") && has(root, "connectors") || has(root, "pool_id") {
        return key(POOL, "bindings").or_else(|| key(POOL, "pool_id"));
    }
    if has(root, "profile_id") || has(root, "caps") && has(root, "rules") {
        return key(PROFILE, "profile_id").or_else(|| key(PROFILE, "caps"));
    }
    if has(root, "lockVersion") {
        return key(LOCK, "lockVersion");
    }
    if has(root, "mcpServers") {
        return key(CLIENT, "mcpServers");
    }
    if let Some(servers) = at("servers") {
        if items(&servers.value)
            .first()
            .is_some_and(|it| has(it, "id"))
        {
            return key(INDEX, "servers");
        }
        if first("servers").is_some_and(|it| has(it, "server")) {
            return key(SERVER, "servers");
        }
        let one = entries(&servers.value).first();
        let is_client = one.is_some_and(|it| {
            !has(&it.value, "endpoint") && (has(&it.value, "command") || has(&it.value, "url"))
        });
        return if is_client {
            key(CLIENT, "servers")
        } else {
            None
        };
    }
    if text("$schema").is_some_and(|it| it.ends_with("/server.schema.json")) {
        return key(SERVER, "$schema");
    }
    if has(root, "name") && (has(root, "packages") || has(root, "remotes")) {
        return key(SERVER, "packages").or_else(|| key(SERVER, "remotes"));
    }
    // Only a summary is confused with what it is about.
    if has_result
        && let Some(found) = key(RESULT, "structuredContent").or_else(|| key(RESULT, "content"))
    {
        return Some(found);
    }
    if let Some(found) = of_others(root) {
        return Some(found);
    }
    let of_npm = ["dependencies", "devDependencies", "scripts"];
    if let Some(found) = of_npm.iter().find_map(|name| key(PACKAGE, name)) {
        return Some(found);
    }
    if let Some(found) = key(CAPTURE, "tools/list").or_else(|| key(CAPTURE, "initialize")) {
        return Some(found);
    }
    let listed = at("result").map_or(root, |result| &result.value);
    let tools = entries(listed).iter().find(|entry| entry.key == "tools");
    if let Some(tools) = tools
        && items(&tools.value)
            .first()
            .is_some_and(|it| has(it, "inputSchema"))
    {
        return Some((if is_catalogue { LISTED } else { CAPTURE }, tools.key_span));
    }
    if let Some(found) = key(TASK, "required_capabilities").or_else(|| key(TENANT, "tenants")) {
        return Some(found);
    }
    let is_health = |entry: &Entry<'_>| match &entry.value.value {
        Value::String(text) | Value::Plain(text) => HealthStatus::parse(text).is_some(),
        _ => false,
    };
    let all = entries(root);
    let open = all.first().filter(|_| all.iter().all(is_health))?;
    Some((HEALTH, open.key_span))
}
