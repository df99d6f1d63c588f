//! The problems of all inputs of an import.

use super::field::Field;
use super::notation::Document;
use super::output::Origin;
use agent_diagnostic::{Code, Diagnostic, Problems, Report};
use agent_text::{DocumentKind, Place, Text};
use std::collections::BTreeMap;

/// The problems of each input.
pub(super) struct ImportProblems<'t> {
    /// Problems of each document.
    pub(super) import: Vec<Problems<'t>>,
    /// Problems of the overlay.
    pub(super) overlay: Problems<'t>,
    /// Problems of the existing index.
    pub(super) index: Problems<'t>,
    /// What the overlay has to set: the key of a server, the field, and a value or a placeholder in
    /// JSON.
    pub(super) blanks: BTreeMap<(String, Field), String>,
    /// The servers without a required field.
    pub(super) missing: BTreeMap<Field, Missing>,
    /// The ids of the servers of which nothing rates the data, each with its place.
    pub(super) unrated: Vec<(String, Origin)>,
}

/// Servers without a required field.
pub(super) struct Missing {
    /// The names of the first servers.
    pub(super) named: Vec<String>,
    /// The number of the others.
    pub(super) others: usize,
    /// The place of the first one.
    pub(super) at: Origin,
    /// The lines to paste into the overlay for the first one.
    pub(super) own: String,
    /// Those for all servers, if the field can have a default.
    pub(super) shared: Option<String>,
}

impl Missing {
    /// Adds a server.
    pub(super) fn add(&mut self, server: &str) {
        match self.named.len() < NAMED_LIMIT {
            true => self.named.push(server.to_owned()),
            false => self.others += 1,
        }
    }
}

/// Maximum number of names in a message.
pub(super) const NAMED_LIMIT: usize = 5;

impl<'t> ImportProblems<'t> {
    /// Returns an empty collection.
    pub(super) fn new(import: &'t [Document], overlay: &'t Text, index: &'t Text) -> Self {
        Self {
            import: import.iter().map(|it| Problems::new(&it.text)).collect(),
            overlay: Problems::new(overlay),
            index: Problems::new(index),
            blanks: BTreeMap::new(),
            missing: BTreeMap::new(),
            unrated: Vec::new(),
        }
    }

    fn of(&mut self, origin: Origin) -> &mut Problems<'t> {
        match origin.source {
            DocumentKind::Overlay => &mut self.overlay,
            DocumentKind::Index => &mut self.index,
            _ => &mut self.import[origin.number as usize],
        }
    }

    /// Reports a problem at an origin.
    pub(super) fn report(
        &mut self,
        code: Code,
        origin: Origin,
        label: impl Into<String>,
        message: impl Into<String>,
    ) -> Report<'_, 't> {
        self.of(origin).report(code, origin.span, label, message)
    }

    /// Reports a problem at an origin as a warning, whatever the severity of its code.
    pub(super) fn warn(
        &mut self,
        code: Code,
        origin: Origin,
        label: impl Into<String>,
        message: impl Into<String>,
    ) -> Report<'_, 't> {
        self.of(origin).warn(code, origin.span, label, message)
    }

    /// Returns the input of an origin.
    pub(super) fn text(&mut self, origin: Origin) -> &'t Text {
        self.of(origin).text()
    }

    /// Adds a field that the overlay has to set, up to [`Problems::LIMIT`].
    pub(super) fn blank(&mut self, key: &str, field: Field, value: String) {
        if self.blanks.len() < Problems::LIMIT {
            self.blanks.insert((key.to_owned(), field), value);
        }
    }

    /// Reports each missing field once, with the servers without it.
    pub(super) fn report_missing(&mut self) {
        for (field, missing) in std::mem::take(&mut self.missing) {
            let what = field.name();
            let named: Vec<_> = missing.named.iter().map(|it| format!("`{it}`")).collect();
            let named = named.join(", ");
            let of = match (&missing.named[..], missing.others) {
                ([_], _) => format!("the server {named}"),
                (_, 0) => format!("the servers {named}"),
                (_, others) => format!("the servers {named} and {others} more"),
            };
            let label = format!("`{what}` is missing here");
            let message = format!("neither the document nor the overlay sets `{what}` of {of}");
            let shared = missing.shared.filter(|_| missing.named.len() > 1);
            self.report(Code::MissingField, missing.at, label, message)
                .help(shared.unwrap_or(missing.own));
        }
    }

    /// Returns the place of an origin, and the text of its input.
    pub(super) fn place(&mut self, origin: Origin) -> (Place, &'t str) {
        let text = self.of(origin).text();
        (text.place(origin.span), text.as_str())
    }

    /// Returns all problems, ordered by place within each text.
    pub(super) fn finish(self) -> Vec<Diagnostic> {
        let all = self.import.into_iter().chain([self.overlay, self.index]);
        all.flat_map(Problems::finish).collect()
    }
}
