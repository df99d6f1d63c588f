//! Diagnostics for machines: JSON, SARIF, GitHub.

use crate::VERSION;
use agent_diagnostic::{Code, Diagnostic, Edit, Fix, Label, Severity};
use agent_syntax::json::Writer;
use agent_text::{DocumentKind, Place};

/// The path under which an input is to be named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// The input.
    pub source: DocumentKind,
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

/// Render diagnostics. A source that `files` doesn't name is named by its usual file name.
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
    fn path(self, source: DocumentKind) -> &'f str {
        self.0
            .iter()
            .find(|file| file.source == source)
            .map_or(source.usual_name(), |file| &file.path)
    }

    /// A place as people and editors write it: `agents.md:6:17`.
    pub(super) fn at(self, place: &Place) -> String {
        let path = self.path(place.source);
        format!("{path}:{}:{}", place.start.line, place.start.column)
    }
}

fn json(diagnostics: &[Diagnostic], files: Files<'_>) -> String {
    let mut w = Writer::pretty();
    w.object(|w| {
        w.key("diagnostics").array(|w| {
            for diagnostic in diagnostics {
                w.object(|w| {
                    w.key("code").string(diagnostic.code.name());
                    w.key("fixes").array(|w| {
                        for fix in edited(diagnostic) {
                            w.object(|w| json_fix(w, fix, files));
                        }
                    });
                    w.key("help").strings(titles(diagnostic));
                    w.key("labels").array(|w| {
                        for label in &diagnostic.labels {
                            w.object(|w| {
                                w.key("path").string(files.path(label.place.source));
                                w.key("place").object(|w| write_place(w, &label.place));
                                if let Some(pointer) = &label.pointer {
                                    w.key("pointer").string(pointer);
                                }
                                w.key("text").string(&label.text);
                            });
                        }
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
                });
            }
        });
        let valid = diagnostics
            .iter()
            .all(|diagnostic| diagnostic.severity != Severity::Error);
        w.key("valid").bool(valid);
    });
    w.finish()
}

/// The titles of all fixes.
fn titles(diagnostic: &Diagnostic) -> impl Iterator<Item = &str> {
    diagnostic.fixes.iter().map(|fix| &*fix.title)
}

/// The fixes that a program can carry out.
fn edited(diagnostic: &Diagnostic) -> impl Iterator<Item = &Fix> {
    let fixes = diagnostic.fixes.iter();
    fixes.filter(|fix| !fix.edits.is_empty())
}

/// The message of a view that has one text for each diagnostic.
fn whole_message(diagnostic: &Diagnostic) -> String {
    let mut message = diagnostic.message.clone();
    let mut add = |kind: &str, text: &str| {
        for part in ["\n", kind, ": ", text] {
            message.push_str(part);
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
    w.key("edits").array(|w| {
        for edit in &fix.edits {
            w.object(|w| {
                w.key("path").string(files.path(edit.place.source));
                w.key("place").object(|w| write_place(w, &edit.place));
                w.key("replacement").string(&edit.replacement);
            });
        }
    });
    w.key("title").string(&fix.title);
}

/// The members of a place: lines and columns from 1, columns in code points, offsets in bytes.
pub(super) fn write_place(w: &mut Writer, place: &Place) {
    w.key("column").number(place.start.column);
    w.key("endColumn").number(place.end.column);
    w.key("endLine").number(place.end.line);
    w.key("endOffset").number(place.span.end);
    w.key("line").number(place.start.line);
    w.key("offset").number(place.span.start);
    w.key("source").string(source_name(place.source));
}

fn source_name(source: DocumentKind) -> &'static str {
    match source {
        DocumentKind::Manifest => "manifest",
        DocumentKind::Index => "index",
        DocumentKind::Lock => "lock",
        DocumentKind::Explanation => "explanation",
        DocumentKind::Task => "task",
        DocumentKind::Tenant => "tenant",
        DocumentKind::Health => "health",
        DocumentKind::Context => "context",
        DocumentKind::Policy => "policy",
        DocumentKind::PolicyTest => "policy-test",
        DocumentKind::Import => "import",
        DocumentKind::Overlay => "overlay",
        DocumentKind::Call | DocumentKind::Plan => "plan",
        DocumentKind::Catalogue => "catalogue",
        DocumentKind::Summary => "summary",
        DocumentKind::Payload => "payload",
        DocumentKind::Request => "request",
        DocumentKind::ToolPool => "tool-pool",
        DocumentKind::Profile => "profile",
        DocumentKind::StepInput => "input",
        DocumentKind::StepOutput => "output",
        DocumentKind::Document => "document",
    }
}

fn sarif(diagnostics: &[Diagnostic], files: Files<'_>) -> String {
    let mut w = Writer::pretty();
    w.object(|w| {
        w.key("$schema").string(
            "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        );
        w.key("runs").array(|w| {
            w.object(|w| {
                w.key("columnKind").string("unicodeCodePoints");
                w.key("results").array(|w| {
                    for diagnostic in diagnostics {
                        w.object(|w| sarif_result(w, diagnostic, files));
                    }
                });
                w.key("tool").object(|w| {
                    w.key("driver").object(|w| {
                        w.key("name").string("agent");
                        w.key("rules").array(|w| {
                            for code in Code::ALL {
                                w.object(|w| sarif_rule(w, *code));
                            }
                        });
                        w.key("version").string(VERSION);
                    });
                });
            });
        });
        w.key("version").string("2.1.0");
    });
    w.finish()
}

fn sarif_rule(w: &mut Writer, code: Code) {
    w.key("defaultConfiguration")
        .object(|w| w.key("level").string(code.severity().name()));
    w.key("fullDescription").object(|w| {
        w.key("text")
            .string(&format!("{}. {}", code.title(), code.help()))
    });
    w.key("help").object(|w| {
        w.key("text").string(&format!(
            "{} More: agent explain {}",
            code.help(),
            code.name()
        ))
    });
    w.key("id").string(code.name());
    w.key("shortDescription")
        .object(|w| w.key("text").string(code.title()));
}

fn sarif_result(w: &mut Writer, diagnostic: &Diagnostic, files: Files<'_>) {
    let rule = Code::ALL.iter().position(|code| *code == diagnostic.code);
    let location = |w: &mut Writer, label: &Label, id: Option<u32>| {
        w.object(|w| {
            if let Some(id) = id {
                w.key("id").number(id);
            }
            if !label.text.is_empty() {
                w.key("message")
                    .object(|w| w.key("text").string(&label.text));
            }
            w.key("physicalLocation").object(|w| {
                w.key("artifactLocation")
                    .object(|w| w.key("uri").string(&uri(files.path(label.place.source))));
                w.key("region").object(|w| region(w, &label.place));
            });
        });
    };
    if edited(diagnostic).next().is_some() {
        w.key("fixes").array(|w| {
            for fix in edited(diagnostic) {
                w.object(|w| sarif_fix(w, fix, files));
            }
        });
    }
    w.key("level").string(diagnostic.severity.name());
    if let Some(first) = diagnostic.labels.first() {
        w.key("locations").array(|w| location(w, first, None));
    }
    w.key("message")
        .object(|w| w.key("text").string(&whole_message(diagnostic)));
    if diagnostic.labels.len() > 1 {
        w.key("relatedLocations").array(|w| {
            for (id, label) in (1..).zip(&diagnostic.labels[1..]) {
                location(w, label, Some(id));
            }
        });
    }
    w.key("ruleId").string(diagnostic.code.name());
    if let Some(rule) = rule {
        w.key("ruleIndex").number(rule as u32);
    }
}

/// SARIF 2.1.0, 3.55: the edits of each document together.
fn sarif_fix(w: &mut Writer, fix: &Fix, files: Files<'_>) {
    let of_one_document = |a: &Edit, b: &Edit| a.place.source == b.place.source;
    w.key("artifactChanges").array(|w| {
        for edits in fix.edits.chunk_by(of_one_document) {
            w.object(|w| {
                w.key("artifactLocation")
                    .object(|w| w.key("uri").string(&uri(files.path(edits[0].place.source))));
                w.key("replacements").array(|w| {
                    for edit in edits {
                        w.object(|w| {
                            w.key("deletedRegion").object(|w| region(w, &edit.place));
                            w.key("insertedContent")
                                .object(|w| w.key("text").string(&edit.replacement));
                        });
                    }
                });
            });
        }
    });
    w.key("description")
        .object(|w| w.key("text").string(&fix.title));
}

fn region(w: &mut Writer, place: &Place) {
    let Place { start, end, .. } = place;
    w.key("byteLength")
        .number(place.span.end - place.span.start);
    w.key("byteOffset").number(place.span.start);
    w.key("endColumn").number(end.column);
    w.key("endLine").number(end.line);
    w.key("startColumn").number(start.column);
    w.key("startLine").number(start.line);
}

/// A path as a relative URI reference: what must not stand in one is percent-encoded.
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

/// One command a diagnostic; see GitHub's «Workflow commands».
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
            property("file", files.path(place.source));
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
