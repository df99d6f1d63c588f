//! Diagnostics for machines: JSON, SARIF, GitHub.

use super::json::{ObjectMembers, write_place};
use agent_diagnostic::{Code, Diagnostic, Edit, Fix, Label, Severity};
use agent_syntax::json::Writer;
use agent_text::{DocumentKind, Place};

/// The version of the engine and of its WIT package.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The path of an input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// The input.
    pub source: DocumentKind,
    /// Its number among the inputs of its kind, from 0.
    pub number: u32,
    /// Its path, as the user named it.
    pub path: String,
}

/// A machine-readable form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// `{"diagnostics": [...], "valid": bool}`.
    Json,
    /// SARIF 2.1.0.
    Sarif,
    /// GitHub workflow commands, a line each.
    Github,
}

/// Renders diagnostics. A source that `files` does not name is named by its usual file name.
pub fn report(format: Format, diagnostics: &[Diagnostic], files: &[File]) -> String {
    let files = Files(files);
    match format {
        Format::Json => json(diagnostics, files),
        Format::Sarif => sarif(diagnostics, files),
        Format::Github => github(diagnostics, files),
    }
}

#[derive(Clone, Copy)]
pub(super) struct Files<'f>(pub(super) &'f [File]);

impl<'f> Files<'f> {
    fn path(self, place: &Place) -> &'f str {
        self.0
            .iter()
            .find(|file| (file.source, file.number) == (place.source, place.number))
            .map_or(place.source.usual_name(), |file| &file.path)
    }

    /// Returns a place as people and editors write it: `agents.md:6:17`.
    pub(super) fn at(self, place: &Place) -> String {
        let path = self.path(place);
        format!("{path}:{}:{}", place.start.line, place.start.column)
    }
}

fn json(diagnostics: &[Diagnostic], files: Files<'_>) -> String {
    let mut w = Writer::pretty();
    w.object(|w| {
        w.objects("diagnostics", diagnostics, |w, it| json_one(w, it, files));
        let mut severities = diagnostics.iter().map(|it| it.severity);
        w.key("valid")
            .bool(severities.all(|severity| severity != Severity::Error));
    });
    w.finish()
}

fn json_one(w: &mut Writer, diagnostic: &Diagnostic, files: Files<'_>) {
    w.key("code").string(diagnostic.code.name());
    w.objects("fixes", edited(diagnostic), |w, fix| {
        json_fix(w, fix, files)
    });
    w.key("help").strings(titles(diagnostic));
    w.objects("labels", &diagnostic.labels, |w, label| {
        w.key("path").string(files.path(&label.place));
        w.key("place").object(|w| write_place(w, &label.place));
        if let Some(pointer) = &label.pointer {
            w.key("pointer").string(pointer);
        }
        w.key("text").string(&label.text);
    });
    w.key("message").string(&diagnostic.message);
    w.key("notes")
        .strings(diagnostic.notes.iter().map(String::as_str));
    if let Some(reason) = diagnostic.reason {
        w.key("reason").string(reason.name());
    }
    if let Some(rule) = &diagnostic.rule {
        w.key("rule").string(rule);
    }
    w.key("severity").string(diagnostic.severity.name());
}

/// Returns the titles of all fixes.
fn titles(diagnostic: &Diagnostic) -> impl Iterator<Item = &str> {
    diagnostic.fixes.iter().map(|fix| &*fix.title)
}

/// Returns the fixes that a program can carry out.
fn edited(diagnostic: &Diagnostic) -> impl Iterator<Item = &Fix> {
    let fixes = diagnostic.fixes.iter();
    fixes.filter(|fix| !fix.edits.is_empty())
}

/// Returns the message of a view that has one text for each diagnostic.
fn whole_message(diagnostic: &Diagnostic) -> String {
    let mut message = diagnostic.message.clone();
    let mut add = |kind: &str, text: &str| {
        for text in ["\n", kind, ": ", text] {
            message.push_str(text);
        }
    };
    if let Some(reason) = diagnostic.reason {
        add("reason", reason.name());
    }
    if let Some(rule) = &diagnostic.rule {
        add("rule", rule);
    }
    diagnostic.notes.iter().for_each(|note| add("note", note));
    titles(diagnostic).for_each(|title| add("help", title));
    message
}

fn json_fix(w: &mut Writer, fix: &Fix, files: Files<'_>) {
    w.key("applicability").string(fix.applicability.name());
    w.objects("edits", &fix.edits, |w, edit| {
        w.key("path").string(files.path(&edit.place));
        w.key("place").object(|w| write_place(w, &edit.place));
        w.key("replacement").string(&edit.replacement);
    });
    w.key("title").string(&fix.title);
}

fn sarif(diagnostics: &[Diagnostic], files: Files<'_>) -> String {
    let mut w = Writer::pretty();
    w.object(|w| {
        w.key("$schema").string(
            "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        );
        w.objects("runs", [diagnostics], |w, diagnostics| {
            w.key("columnKind").string("unicodeCodePoints");
            w.objects("results", diagnostics, |w, it| sarif_result(w, it, files));
            w.key("tool").object(|w| {
                w.key("driver").object(|w| {
                    w.key("name").string("agent");
                    w.objects("rules", Code::ALL, |w, code| sarif_rule(w, *code));
                    w.key("version").string(VERSION);
                });
            });
        });
        w.key("version").string("2.1.0");
    });
    w.finish()
}

fn sarif_rule(w: &mut Writer, code: Code) {
    let (title, help) = (code.title(), code.help());
    w.key("defaultConfiguration")
        .object(|w| w.key("level").string(code.severity().name()));
    sarif_text(w, "fullDescription", &format!("{title}. {help}"));
    let help = format!("{help} More: agent explain {}", code.name());
    sarif_text(w, "help", &help);
    w.key("id").string(code.name());
    sarif_text(w, "shortDescription", title);
}

fn sarif_text(w: &mut Writer, key: &str, text: &str) {
    w.key(key).object(|w| w.key("text").string(text));
}

fn sarif_result(w: &mut Writer, diagnostic: &Diagnostic, files: Files<'_>) {
    let location = |w: &mut Writer, label: &Label| {
        if !label.text.is_empty() {
            sarif_text(w, "message", &label.text);
        }
        w.key("physicalLocation").object(|w| {
            artifact_location(w, &label.place, files);
            region(w, "region", &label.place);
        });
    };
    if edited(diagnostic).next().is_some() {
        w.objects("fixes", edited(diagnostic), |w, it| sarif_fix(w, it, files));
    }
    w.key("level").string(diagnostic.severity.name());
    if let Some(first) = diagnostic.labels.first() {
        w.objects("locations", [first], location);
    }
    sarif_text(w, "message", &whole_message(diagnostic));
    if diagnostic.labels.len() > 1 {
        let related = (1..).zip(&diagnostic.labels[1..]);
        w.objects("relatedLocations", related, |w, (id, label)| {
            w.key("id").number(id);
            location(w, label);
        });
    }
    w.key("ruleId").string(diagnostic.code.name());
    let rule = Code::ALL.iter().position(|code| *code == diagnostic.code);
    if let Some(rule) = rule {
        w.key("ruleIndex").number(rule as u32);
    }
}

/// Writes a fix by SARIF 2.1.0, 3.55: the edits of each document together.
fn sarif_fix(w: &mut Writer, fix: &Fix, files: Files<'_>) {
    let document = |edit: &Edit| (edit.place.source, edit.place.number);
    let of_one_document = |a: &Edit, b: &Edit| document(a) == document(b);
    let documents = fix.edits.chunk_by(of_one_document);
    w.objects("artifactChanges", documents, |w, edits| {
        artifact_location(w, &edits[0].place, files);
        w.objects("replacements", edits, |w, edit| {
            region(w, "deletedRegion", &edit.place);
            sarif_text(w, "insertedContent", &edit.replacement);
        });
    });
    sarif_text(w, "description", &fix.title);
}

fn artifact_location(w: &mut Writer, place: &Place, files: Files<'_>) {
    w.key("artifactLocation")
        .object(|w| w.key("uri").string(&uri(files.path(place))));
}

fn region(w: &mut Writer, key: &str, place: &Place) {
    let Place { start, end, .. } = place;
    w.key(key).object(|w| {
        w.key("byteLength")
            .number(place.span.end - place.span.start);
        w.key("byteOffset").number(place.span.start);
        w.key("endColumn").number(end.column);
        w.key("endLine").number(end.line);
        w.key("startColumn").number(start.column);
        w.key("startLine").number(start.line);
    });
}

/// Returns a path as a relative URI reference, percent-encoded where needed.
fn uri(path: &str) -> String {
    let path = path.replace('\\', "/");
    let mut uri = String::new();
    if path.starts_with('/') {
        uri.push_str("file://");
    }
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(char::from(byte));
            }
            other => uri.push_str(&format!("%{other:02X}")),
        }
    }
    uri
}

/// Renders one command for each diagnostic; see GitHub's «Workflow commands».
fn github(diagnostics: &[Diagnostic], files: Files<'_>) -> String {
    let mut out = String::new();
    for diagnostic in diagnostics {
        out.push_str("::");
        out.push_str(match diagnostic.severity {
            Severity::Note => "notice",
            other => other.name(),
        });
        let mut separator = ' ';
        let mut property = |name: &str, value: &str| {
            out.push(separator);
            separator = ',';
            out.push_str(name);
            out.push('=');
            out.push_str(&escape_property(value));
        };
        if let Some(Label { place, .. }) = diagnostic.labels.first() {
            property("file", files.path(place));
            property("line", &place.start.line.to_string());
            property("endLine", &place.end.line.to_string());
            // Columns are only allowed within one line.
            if place.start.line == place.end.line {
                property("col", &place.start.column.to_string());
                property("endColumn", &place.end.column.to_string());
            }
        }
        property("title", diagnostic.code.name());
        out.push_str("::");
        out.push_str(&escape_data(&whole_message(diagnostic)));
        out.push('\n');
    }
    out
}

fn escape_data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

fn escape_property(text: &str) -> String {
    escape_data(text).replace(':', "%3A").replace(',', "%2C")
}
