//! The existing index.

use super::field::Scalars;
use super::output::{Base, NewObject, Printer};
use agent_diagnostic::Problems;
use agent_model::{Index, ServerView};
use agent_syntax::json::{Kind, Reader, SyntaxError, parse_value, report};
use agent_syntax::{Entry, Node};
use agent_text::DocumentKind;

/// An index, which may be absent.
pub(super) struct ExistingIndex<'i> {
    index: Option<&'i Index>,
    /// The members other than `servers`; `None` if the index is a list.
    beside: Option<Vec<Entry<'i>>>,
}

/// An existing entry.
pub(super) struct ExistingEntry<'i> {
    pub(super) server: ServerView<'i>,
    /// The unchanged entry.
    pub(super) node: Node<'i>,
}

impl<'i> ExistingIndex<'i> {
    /// Reads the members of an index. Reports a problem and returns `None` if that fails.
    pub(super) fn read(index: Option<&'i Index>, problems: &mut Problems<'_>) -> Option<Self> {
        let beside = match index {
            None => Ok(Some(Vec::new())),
            Some(index) => beside(&mut Reader::new(index.text().as_str())),
        };
        match beside {
            Ok(beside) => Some(Self { index, beside }),
            Err(syntax) => {
                report(*syntax, problems);
                None
            }
        }
    }

    /// Returns every server, in no particular order.
    pub(super) fn servers(&self) -> impl Iterator<Item = ServerView<'i>> + use<'i> {
        self.index.into_iter().flat_map(Index::servers)
    }

    /// Returns whether the index contains the id.
    pub(super) fn has_id(&self, id: &str) -> bool {
        self.index
            .is_some_and(|index| index.versions(id).next().is_some())
    }

    /// Returns whether the index contains the server.
    pub(super) fn has(&self, id: &str, version: &str) -> bool {
        self.index
            .is_some_and(|index| index.find(id, version).is_some())
    }

    /// Returns the entry of a server.
    pub(super) fn find(&self, id: &str, version: &str) -> Option<ExistingEntry<'i>> {
        let server = self.index?.find(id, version)?;
        // The entry was parsed before, so parsing it again succeeds.
        let node = parse_value(&mut Reader::new(server.entry())).ok()?;
        Some(ExistingEntry { server, node })
    }

    /// Writes an index of the same form around `servers`. A new index is an object.
    pub(super) fn print(&self, printer: &mut Printer, servers: impl FnOnce(&mut Printer)) {
        let Some(beside) = &self.beside else {
            printer.list(servers);
            return;
        };
        let mut members: Vec<_> = beside
            .iter()
            .map(|entry| (&*entry.key, Some(entry)))
            .collect();
        members.push(("servers", None));
        members.sort_unstable_by_key(|(key, _)| *key);
        let mut servers = Some(servers);
        printer.object(members, |printer, key, entry| {
            printer.key(key, None);
            match (entry, servers.take()) {
                (None, Some(servers)) => printer.list(servers),
                (entry, left) => {
                    servers = left;
                    if let Some(entry) = entry {
                        printer.tree(&entry.value, None, Scalars::Strings);
                    }
                }
            }
        });
    }
}

impl<'i> ExistingEntry<'i> {
    /// Returns the base of the entry's spans.
    pub(super) fn base(&self) -> Base {
        Base {
            source: DocumentKind::Index,
            number: 0,
            offset: self.server.entry_span().start,
        }
    }

    /// Returns whether an entry would be written with the same bytes.
    pub(super) fn prints_as(&self, value: &NewObject<'_>) -> bool {
        let [mut before, mut after] = [Printer::new(), Printer::new()];
        before.tree(&self.node, None, Scalars::Strings);
        after.new_object(value);
        match (before.finish(), after.finish()) {
            (Some((before, _)), Some((after, _))) => before == after,
            _ => false,
        }
    }
}

/// Returns the members of an index other than its servers.
fn beside<'i>(reader: &mut Reader<'i>) -> Result<Option<Vec<Entry<'i>>>, Box<SyntaxError>> {
    if reader.kind()? != Kind::Object {
        return Ok(None);
    }
    reader.enter_object()?;
    let (mut entries, mut first) = (Vec::new(), true);
    while let Some(key) = reader.key(&mut first)? {
        if key.value == "servers" {
            reader.skip()?;
        } else {
            entries.push(Entry {
                key: key.value,
                key_span: key.span,
                value: parse_value(reader)?,
            });
        }
    }
    Ok(Some(entries))
}
