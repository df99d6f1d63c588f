//! Where the entries of servers stand in a configuration: between commas, or in whole lines.

use super::form;
use crate::client::{Installation, ServersPlace};
use crate::document::installations;
use crate::notation::Document;
use agent_syntax::members::{entries, entry, items};
use agent_syntax::{Node, Value};
use std::ops::Range;

/// A document that was read.
pub(super) struct Parsed<'d> {
    pub(super) text: &'d str,
    pub(super) is_toml: bool,
    pub(super) root: &'d Node<'d>,
    pub(super) servers: Vec<Installation<'d>>,
}

impl<'d> Parsed<'d> {
    pub(super) fn new(document: &'d Document, root: &'d Node<'d>) -> Self {
        Self {
            text: document.text.as_str(),
            is_toml: document.is_toml(),
            root,
            servers: installations(root).unwrap_or_default(),
        }
    }

    /// Returns the object or list at a place, with its servers.
    pub(super) fn place(
        &self,
        keys: &[String],
    ) -> Option<(ServersPlace<'d>, Vec<&Installation<'d>>)> {
        let path = keys.join(".");
        let is_in = |it: &&Installation<'_>| {
            let rest = it.path.strip_prefix(&path);
            let name = it.name.map_or("", |(name, _)| name);
            rest.is_some_and(|rest| rest.starts_with('[') || rest.strip_prefix('.') == Some(name))
        };
        let within: Vec<_> = self.servers.iter().filter(is_in).collect();
        let found = within.first().and_then(|it| it.place);
        // One without servers.
        let empty = || {
            let servers = keys
                .iter()
                .try_fold(self.root, |node, key| Some(&entry(node, key)?.value))?;
            let is_one = matches!(servers.value, Value::Mapping(_) | Value::Sequence(_));
            let form = form(keys);
            is_one.then_some(ServersPlace { form, servers })
        };
        Some((found.or_else(empty)?, within))
    }

    /// Returns whether the members of a node stand between brackets, and commas between them.
    pub(super) fn is_flow(&self, node: &Node<'_>) -> bool {
        let start = &self.text[node.span.start as usize..];
        start.starts_with('{') || start.starts_with('[') && !self.is_header(node)
    }

    /// Returns whether a table of TOML begins with a header.
    fn is_header(&self, node: &Node<'_>) -> bool {
        let start = node.span.start as usize;
        let is_table = self.is_toml && matches!(node.value, Value::Mapping(_));
        is_table && self.text[start..].starts_with('[')
    }

    /// Returns the text of a server's entry.
    pub(super) fn text_of(&self, server: &Installation<'_>) -> Option<String> {
        let mut ranges = self.extent(server)?;
        ranges.sort_by_key(|range| range.start);
        let texts = ranges.into_iter().map(|range| &self.text[range]);
        Some(texts.collect())
    }

    /// Returns where the entry of a server stands: between commas, or in whole lines. Tables of TOML may be apart.
    pub(super) fn extent(&self, server: &Installation<'_>) -> Option<Vec<Range<usize>>> {
        let one = |range| Some([range].to_vec());
        let place = server.place?;
        let start = match &place.servers.value {
            Value::Mapping(_) => server.name?.1.start as usize,
            _ => server.node.span.start as usize,
        };
        let end = server.node.span.end as usize;
        if self.is_flow(place.servers) {
            return one(start..end);
        }
        if !self.is_toml {
            return one(self.lines(start, end.max(start + 1)));
        }
        let mut headers = Vec::new();
        self.headers(server.node, &mut headers);
        match self.text[server.node.span.start as usize..].starts_with('{') {
            true => one(self.lines(start, end)),
            false => (!headers.is_empty()).then_some(headers),
        }
    }

    /// Adds the lines of each table that begins with a header.
    fn headers(&self, node: &Node<'_>, found: &mut Vec<Range<usize>>) {
        if self.is_header(node) {
            found.push(self.lines(node.span.start as usize, node.span.end as usize));
        }
        for inner in entries(node) {
            self.headers(&inner.value, found);
        }
    }

    /// Returns the whole lines of a range.
    pub(super) fn lines(&self, start: usize, end: usize) -> Range<usize> {
        let end = start + self.text[start..end].trim_end().len();
        let start = self.line_start(start);
        let end = self.text[end..]
            .find('\n')
            .map_or(self.text.len(), |at| end + at + 1);
        start..end
    }

    fn line_start(&self, at: usize) -> usize {
        self.text[..at].rfind('\n').map_or(0, |at| at + 1)
    }

    /// Returns the white space before a place in its line; `None` if something else stands there.
    pub(super) fn indentation(&self, at: usize) -> Option<&'d str> {
        let before = &self.text[self.line_start(at)..at];
        before.trim().is_empty().then_some(before)
    }

    /// Returns the white space at the beginning of the line of a place.
    pub(super) fn line_indentation(&self, at: usize) -> &'d str {
        let rest = &self.text[self.line_start(at)..];
        &rest[..rest.len() - rest.trim_start_matches([' ', '\t']).len()]
    }

    /// Returns the white space before a new member of an object.
    pub(super) fn member_indentation(&self, node: &Node<'_>, members: &[Range<usize>]) -> String {
        match members.last() {
            Some(last) => self.line_indentation(last.start).to_owned(),
            None => format!("{}  ", self.line_indentation(node.span.start as usize)),
        }
    }

    /// Returns the end of the comma behind a place, with nothing but white space and comments before it.
    pub(super) fn comma(&self, from: usize) -> Option<usize> {
        let mut at = from;
        loop {
            let rest = &self.text[at..];
            let space = rest.len() - rest.trim_start().len();
            let rest = rest.trim_start();
            at += space;
            let comment = if rest.starts_with("//") || rest.starts_with('#') {
                rest.find('\n')
            } else if rest.starts_with("/*") {
                rest.find("*/").map(|end| end + 2)
            } else {
                return rest.starts_with(',').then_some(at + 1);
            };
            at += comment?;
        }
    }
}

/// Returns where the members of an object or a list stand.
pub(super) fn member_ranges<'n>(node: &'n Node<'_>) -> impl Iterator<Item = Range<usize>> + 'n {
    let members = entries(node).iter();
    let members = members.map(|it| it.key_span.start..it.value.span.end);
    let items = items(node).unwrap_or_default().iter();
    let ranges = members.chain(items.map(|it| it.span.start..it.span.end));
    ranges.map(|range| range.start as usize..range.end as usize)
}
