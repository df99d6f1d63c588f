//! The documents of an answer to a plan, with their trees.

use super::edit::{apply, document_patches};
use agent_decide::PlanPolicy;
use agent_diagnostic::{Change, ChangeSet, Edit};
use agent_lower::Validated;
use agent_model::Plan;
use agent_syntax::Node;
use agent_syntax::json::{Reader, parse_value};
use agent_text::{DocumentKind, Text};
use std::cell::OnceCell;
use std::sync::Arc;

/// The documents of an answer that a fix may change: the plan, the pool and the profile. The tree of
/// each is parsed once, when it is needed.
#[derive(Debug)]
pub struct PlanDocuments<'t> {
    /// The plan.
    pub plan: &'t Arc<Validated<Plan>>,
    /// The pool and the profile.
    pub rules: &'t Arc<PlanPolicy>,
    pub(super) texts: [&'t Text; 3],
    /// The tree of each text, if it can be read.
    roots: [OnceCell<Option<Node<'t>>>; 3],
}

impl<'t> PlanDocuments<'t> {
    /// Returns the documents of a plan that is decided by these rules.
    pub fn new(plan: &'t Arc<Validated<Plan>>, rules: &'t Arc<PlanPolicy>) -> Self {
        Self {
            plan,
            rules,
            texts: [&plan.text, &rules.pool.text, &rules.profile.text],
            roots: Default::default(),
        }
    }

    /// Returns the tree of a document, if its text can be read.
    pub(super) fn root(&self, source: DocumentKind) -> Option<&Node<'t>> {
        let mut documents = self.texts.iter().zip(&self.roots);
        let (text, root) = documents.find(|(text, _)| text.source() == source)?;
        let root = root.get_or_init(|| parse_value(&mut Reader::new(text.as_str())).ok());
        root.as_ref()
    }

    /// Returns the edits that carry out a fix, ordered by document and place.
    pub fn edits(&self, fix: &ChangeSet) -> Vec<Edit> {
        let texts = self.texts.into_iter();
        let edits = texts.filter_map(|text| self.edits_of(text, &fix.changes));
        edits.flatten().collect()
    }

    /// Returns the edits of one document, or `None` if a change of it has no place.
    fn edits_of(&self, text: &Text, changes: &[Change]) -> Option<Vec<Edit>> {
        let changes = changes.iter();
        let changes: Vec<_> = changes.filter(|it| it.source == text.source()).collect();
        if changes.is_empty() {
            return Some(Vec::new());
        }
        let patches = document_patches(text.as_str(), self.root(text.source())?, &changes)?;
        Some(patches.into_iter().map(|it| it.edit(text)).collect())
    }

    /// Returns the text of each document that changes, or `None` if a change has no place.
    pub(super) fn changed(&self, changes: &[Change]) -> Option<[Option<Vec<u8>>; 3]> {
        let mut changed = [const { None }; 3];
        for (changed, text) in changed.iter_mut().zip(self.texts) {
            let edits = self.edits_of(text, changes)?;
            *changed = (!edits.is_empty()).then(|| apply(text.as_str(), &edits).into_bytes());
        }
        Some(changed)
    }
}
