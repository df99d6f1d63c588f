//! What a host captured from a live server, as a document to import.

use super::capture::{at, server_info};
use super::endpoint::{GENERIC, encode};
use agent_model::Index;
use agent_syntax::json::{Reader, parse_strict, parse_value};
use agent_syntax::{Value, json_string};
use agent_text::Span;

/// The capture of a server.
#[derive(Debug, Clone)]
pub struct LiveServer {
    /// Its id in the index.
    pub id: String,
    /// The version of its entry in the index, or that of a new one; `None` for the version that it reports.
    pub version: Option<String>,
    /// Where it was reached; `None` for a server that is started and is no package.
    pub endpoint: Option<String>,
    /// The result of `initialize` or of `server/discover`.
    pub handshake: Vec<u8>,
    /// The result of `tools/list`, all pages joined.
    pub tools: Vec<u8>,
}

/// An entry of an index that gets another version.
#[derive(Debug, Clone, Copy)]
pub struct Renamed<'r> {
    /// The id.
    pub id: &'r str,
    /// The version until now.
    pub from: &'r str,
    /// The version from now on.
    pub to: &'r str,
}

impl LiveServer {
    /// Returns the capture as a document. The entry of a server that has one already keeps its endpoint.
    pub fn document(&self, version: Option<&str>, has_entry: bool) -> Vec<u8> {
        let mut members = vec![
            ("package", json_string(&self.id)),
            ("initialize", strict(&self.handshake)),
            ("tools/list", strict(&self.tools)),
        ];
        members.extend(version.map(|version| ("version", json_string(version))));
        if !has_entry {
            let endpoint = match &self.endpoint {
                Some(endpoint) => endpoint.clone(),
                None => {
                    let version = encode(version.unwrap_or_default(), "");
                    format!("{GENERIC}{}@{version}", encode(&self.id, ""))
                }
            };
            members.push(("endpoint", json_string(&endpoint)));
        }
        let members = members
            .iter()
            .map(|(key, value)| format!("{}:{value}", json_string(key)));
        let members: Vec<_> = members.collect();
        format!("{{{}}}", members.join(",")).into_bytes()
    }

    /// Returns the version that the server says it has.
    pub fn reported_version(&self) -> Option<String> {
        let text = std::str::from_utf8(&self.handshake).ok()?;
        let root = parse_strict(text)?;
        let version = at(&server_info(&root)?.value, &["version"])?;
        match &version.value.value {
            Value::String(version) => Some(version.clone().into_owned()),
            _ => None,
        }
    }

    /// Returns the version that the server reports instead of that of its entry. An entry of a package
    /// keeps the version of the package.
    pub fn other_version(&self, version: &str, endpoint: &str) -> Option<String> {
        let is_package = endpoint.starts_with("pkg:") && !endpoint.starts_with(GENERIC);
        let reported = self.reported_version().filter(|_| !is_package)?;
        (!reported.is_empty() && reported != version).then_some(reported)
    }
}

/// Returns a text as it is if it is strict JSON. Any other becomes a string, which the import refuses at its
/// place.
fn strict(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) if parse_strict(text).is_some() => text.to_owned(),
        _ => json_string(&String::from_utf8_lossy(bytes)),
    }
}

/// Returns the text of an index whose entries have other versions. The endpoint of a server that is no
/// package contains its version too.
pub fn renamed(index: &Index, renames: &[Renamed<'_>]) -> String {
    let mut edits: Vec<(Span, String)> = Vec::new();
    for rename in renames {
        let Some(server) = index.find(rename.id, rename.from) else {
            continue;
        };
        let Ok(entry) = parse_value(&mut Reader::new(server.entry())) else {
            continue;
        };
        let mut put = |key: &str, value: &str| {
            if let Some(old) = at(&entry, &[key]) {
                let span = server.place_of(old.value.span).span;
                edits.push((span, json_string(value)));
            }
        };
        put("version", rename.to);
        let from = encode(rename.from, "");
        let versioned = server.endpoint().strip_suffix(&*from);
        if let Some(name) = versioned.filter(|it| it.starts_with(GENERIC) && it.ends_with('@')) {
            put("endpoint", &format!("{name}{}", encode(rename.to, "")));
        }
    }
    edits.sort_by_key(|(span, _)| span.start);
    let text = index.text().as_str();
    let (mut out, mut end) = (String::with_capacity(text.len()), 0);
    for (span, value) in edits {
        out.push_str(&text[end..span.start as usize]);
        out.push_str(&value);
        end = span.end as usize;
    }
    out.push_str(&text[end..]);
    out
}
