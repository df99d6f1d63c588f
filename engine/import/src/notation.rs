//! The notation of a document: JSON, what clients read as JSON, TOML, YAML, or a stream of events.

use super::document::is_client;
use agent_diagnostic::{Code, Problems};
use agent_syntax::json::{self, blank_comments, parse_blanked};
use agent_syntax::{Node, toml, yaml};
use agent_text::{DocumentKind, Span, Text};
use std::ops::Range;
use std::slice;

/// The help for a document that is not JSON.
pub(super) const STRICT: &str = "write strict JSON: remove comments and trailing commas";

/// A document to import.
#[derive(Debug, Clone)]
pub(super) struct Document {
    /// The text.
    pub(super) text: Text,
    notation: Notation,
}

/// The notation of a document.
#[derive(Debug, Clone)]
enum Notation {
    /// Strict JSON.
    Json,
    /// The JSON of a client's configuration, with its comments and trailing commas as blanks.
    Relaxed(String),
    Toml,
    Yaml,
}

impl Document {
    /// Detects the notation of a text. Of a stream of events, only the data of an answer is kept.
    pub(super) fn new(text: Text) -> Self {
        if let Some(stream) = event_stream(text.as_str()) {
            let text = Text::new(text.source(), stream).numbered(text.number());
            let notation = Notation::Json;
            return Self { text, notation };
        }
        let notation = detect(text.as_str());
        Self { text, notation }
    }

    /// Does the same for the configuration of a client, which may have comments even without a server.
    pub(super) fn of_client(text: Text) -> Self {
        let mut document = Self::new(text);
        if let (Notation::Json, Some(blanked)) =
            (&document.notation, blank_comments(document.text.as_str()))
        {
            document.notation = Notation::Relaxed(blanked);
        }
        document
    }

    /// Returns whether the notation is JSON.
    pub(super) fn is_json(&self) -> bool {
        matches!(self.notation, Notation::Json | Notation::Relaxed(_))
    }

    /// Returns whether the notation is TOML.
    pub(super) fn is_toml(&self) -> bool {
        matches!(self.notation, Notation::Toml)
    }

    /// Parses the document. Reports a problem and returns `None` if that fails.
    pub(super) fn parse<'t>(&'t self, problems: &mut Problems<'t>) -> Option<Node<'t>> {
        let text = self.text.as_str();
        let root = match &self.notation {
            Notation::Json => json::parse(problems),
            Notation::Relaxed(blanked) => parse_blanked(blanked, problems),
            Notation::Yaml => {
                let mark = text.len() - without_mark(text).len();
                yaml::parse(Span::new(mark, text.len()), problems)
            }
            Notation::Toml => toml::parse(text)
                .map_err(|error| {
                    let message = "the document is not TOML";
                    problems
                        .report(Code::ImportFormat, error.span, error.message, message)
                        .help("correct the TOML at this place");
                })
                .ok(),
        };
        if root.is_none() {
            problems.help(Code::JsonSyntax, STRICT);
        }
        root
    }

    /// Returns the text in which a refused document is looked at for further problems; `None` if it can't be.
    pub(super) fn to_repair(&self) -> Option<Text> {
        match &self.notation {
            Notation::Json | Notation::Yaml => Some(self.text.clone()),
            Notation::Relaxed(blanked) => {
                let text = Text::new(self.text.source(), blanked.clone());
                Some(text.numbered(self.text.number()))
            }
            Notation::Toml => None,
        }
    }

    /// Returns a document of the same notation with the text of a repair.
    pub(super) fn repaired(&self, text: &Text) -> Self {
        let notation = match self.notation {
            Notation::Yaml => Notation::Yaml,
            _ => Notation::Json,
        };
        Self {
            text: text.clone().numbered(self.text.number()),
            notation,
        }
    }
}

fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

fn detect(text: &str) -> Notation {
    let first = first_line(without_mark(text));
    if is_toml(first) {
        return Notation::Toml;
    }
    let is_json = first.starts_with(['{', '[', '/']);
    if !is_json && is_yaml(first) {
        return Notation::Yaml;
    }
    match blank_comments(text) {
        Some(blanked) if is_json && !is_of_others(&blanked) => Notation::Relaxed(blanked),
        _ => Notation::Json,
    }
}

/// Returns whether a text without comments is a document that no client reads with them.
fn is_of_others(blanked: &str) -> bool {
    // A problem quotes its place, and is not kept.
    let scratch = Text::new(DocumentKind::Import, blanked.to_owned());
    let root = parse_blanked(blanked, &mut Problems::new(&scratch));
    root.is_some_and(|root| !is_client(&root))
}

/// Returns the first line with a value.
fn first_line(text: &str) -> &str {
    let mut lines = text.lines().map(str::trim);
    let is_blank = |line: &&str| line.is_empty() || line.starts_with('#');
    lines.find(|line| !is_blank(line)).unwrap_or_default()
}

/// Returns whether a line is a header or a member of TOML.
fn is_toml(line: &str) -> bool {
    let is_bare = |key: &str| {
        let is_inner = |c: char| c.is_ascii_alphanumeric() || "_-.\"' ".contains(c);
        key.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && key.chars().all(is_inner)
    };
    let header = line.strip_prefix("[[").or_else(|| line.strip_prefix('['));
    match (header, line.split_once('=')) {
        (Some(header), _) => is_bare(header.split(']').next().unwrap_or_default()),
        (None, Some((key, _))) => is_bare(key),
        (None, None) => false,
    }
}

/// Returns whether a line begins a mapping or a list of YAML.
fn is_yaml(line: &str) -> bool {
    let is_key = |(key, _): (&str, &str)| !key.contains(['{', '[', '<', '`']);
    line == "---"
        || line.starts_with("- ")
        || format!("{line} ").split_once(": ").is_some_and(is_key)
}

/// Returns a stream of server-sent events, as `curl` prints it, with everything but the data of one event as
/// blanks: of the last one with a result. `None` if the text is not a stream.
fn event_stream(text: &str) -> Option<String> {
    // `curl -i` prints a header first.
    let header = match text.starts_with("HTTP/") {
        true => {
            let end = ["\r\n\r\n", "\n\n"].map(|end| Some(text.find(end)? + end.len()));
            end.into_iter().flatten().min()?
        }
        false => 0,
    };
    let (mut events, mut at) = (vec![Vec::<Range<usize>>::new()], header);
    for line in text[header..].split_inclusive('\n') {
        let content = line.trim_end_matches(['\r', '\n']);
        let (field, value) = content.split_once(':').unwrap_or((content, ""));
        match field {
            "data" => {
                let start = at + content.len() - value.len();
                events.last_mut()?.push(start..at + content.len());
            }
            "" if content.is_empty() => events.push(Vec::new()),
            "" | "event" | "id" | "retry" => {}
            // The body behind a header may be JSON itself.
            _ if header > 0 => return Some(kept(text, slice::from_ref(&(header..text.len())))),
            _ => return None,
        }
        at += line.len();
    }
    let has = |event: &[Range<usize>], key: &str| {
        event.iter().any(|line| text[line.clone()].contains(key))
    };
    let answer = events.iter().rev().find(|it| has(it, "\"result\""));
    let any = || events.iter().rev().find(|it| !it.is_empty());
    Some(kept(text, answer.or_else(any)?))
}

/// Returns a text of which only some ranges are kept, and everything else is blank.
fn kept(text: &str, ranges: &[Range<usize>]) -> String {
    let mut blanked = String::with_capacity(text.len());
    let blank = |part: &str| {
        part.bytes()
            .map(|byte| if byte == b'\n' { '\n' } else { ' ' })
            .collect::<String>()
    };
    let mut at = 0;
    for range in ranges {
        blanked.push_str(&blank(&text[at..range.start]));
        blanked.push_str(&text[range.clone()]);
        at = range.end;
    }
    blanked.push_str(&blank(&text[at..]));
    blanked
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notation(text: &str) -> &'static str {
        match detect(text) {
            Notation::Json => "json",
            Notation::Relaxed(_) => "relaxed",
            Notation::Toml => "toml",
            Notation::Yaml => "yaml",
        }
    }

    #[test]
    fn a_notation_is_found_by_the_first_line() {
        for (text, expected) in [
            ("", "json"),
            ("\u{feff}{}", "json"),
            ("{ // a\n \"mcpServers\": {} }", "relaxed"),
            (
                "// a\n{ \"servers\": { \"a\": { \"url\": \"u\" }, } }",
                "relaxed",
            ),
            ("{ // a\n \"tools\": [] }", "json"),
            ("{ // a\n \"mcpServers\": }", "relaxed"),
            (
                "{ // a\n \"mcpServers\": { \"a\": 1, \"a\": 2 } }",
                "relaxed",
            ),
            ("[\"a\"]", "json"),
            ("[1]", "json"),
            ("[]", "json"),
            ("# a\n\n[mcp_servers.a]\n", "toml"),
            ("[[a]]", "toml"),
            ("model = \"x\"", "toml"),
            ("name: a\nmcpServers:\n", "yaml"),
            ("mcpServers:\n- name: a", "yaml"),
            ("---\na: 1", "yaml"),
            ("\"a\": { \"command\": \"x\" }", "yaml"),
            ("- name: a", "yaml"),
            ("<html>", "json"),
            ("a sentence", "json"),
        ] {
            assert_eq!(notation(text), expected, "{text:?}");
        }
    }

    #[test]
    fn of_a_stream_the_answer_is_kept_where_it_stands() {
        let stream = "id: 1\ndata: {\"method\":\"x\"}\n\nevent: message\ndata: {\"result\":\ndata:  1}\n\n: end\n";
        let blanked = event_stream(stream).expect("a stream");
        assert_eq!(blanked.trim(), "{\"result\":\n       1}");
        assert_eq!(blanked.find("{\"result"), stream.find("{\"result"));
        for (stream, data) in [
            (": ping\nevent: message\r\ndata: {}\r\n\r\n", Some("{}")),
            ("HTTP/1.1 200 OK\r\nA: b\r\n\r\n{}", Some("{}")),
            ("HTTP/1.1 200 OK\nA: b\n\ndata: 1\n", Some("1")),
            ("event: message\nother: 1", None),
            ("event: message\n", None),
            ("", None),
        ] {
            let blanked = event_stream(stream);
            assert_eq!(blanked.as_deref().map(str::trim), data, "{stream}");
        }
    }
}
