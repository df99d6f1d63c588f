//! Edits of texts that have no places yet.

use agent_diagnostic::Edit;
use agent_text::{Span, Text};

/// An edit of a text: the replaced bytes, and their replacement.
pub(crate) struct Patch {
    pub(crate) span: Span,
    pub(crate) text: String,
}

impl Patch {
    /// Returns the patch as an edit of the text that it is about.
    pub(crate) fn edit(self, text: &Text) -> Edit {
        Edit {
            place: text.place(self.span),
            replacement: self.text,
        }
    }
}

/// Returns a text after patches of it, which are ordered and don't overlap.
pub(super) fn patched(text: &str, patches: &[Patch]) -> String {
    let patches = patches.iter();
    replace(text, patches.map(|patch| (patch.span, &*patch.text)))
}

/// Returns a text after ordered replacements. One that does not fit, behind the end of the text or
/// inside a character or another one, is skipped.
pub(super) fn replace<'e>(text: &str, edits: impl Iterator<Item = (Span, &'e str)>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = 0;
    for (span, replacement) in edits {
        let (start, end) = (span.start as usize, span.end as usize);
        if let (Some(kept), Some(_)) = (text.get(rest..start), text.get(start..end)) {
            out.push_str(kept);
            out.push_str(replacement);
            rest = end;
        }
    }
    out.push_str(&text[rest..]);
    out
}
