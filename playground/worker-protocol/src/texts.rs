//! The documents of a page.

use agent_answer::DocumentKind;

/// The texts that changed since the last question, by the numbers of their [`DocumentKind`]. They cross
/// apart from the bytes of the request, as JavaScript's strings: a large one is not copied once more.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Texts(pub Vec<(u32, String)>);

impl Texts {
    /// The number of the tenant's id, which is no document. A blank id means the only tenant.
    pub const TENANT_ID: u32 = DocumentKind::ALL.len() as u32;

    /// Adds a text, in the place of an earlier one.
    pub fn set(&mut self, number: u32, text: String) {
        self.take(number);
        self.0.push((number, text));
    }

    /// Adds a text by its kind.
    #[must_use]
    pub fn with(mut self, kind: DocumentKind, text: impl Into<String>) -> Self {
        self.set(kind as u32, text.into());
        self
    }

    /// Removes a text, and returns it.
    pub fn take(&mut self, number: u32) -> Option<String> {
        let at = self.0.iter().position(|(each, _)| *each == number)?;
        Some(self.0.remove(at).1)
    }

    /// Returns whether a text of the kind changed.
    pub fn has(&self, kind: DocumentKind) -> bool {
        self.0.iter().any(|(number, _)| *number == kind as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::Texts;
    use agent_answer::DocumentKind;

    #[test]
    fn a_text_is_found_by_its_number_and_replaces_an_earlier_one() {
        let mut texts = Texts::default();
        for kind in DocumentKind::ALL {
            texts = texts.with(kind, "earlier").with(kind, kind.usual_name());
        }
        texts.set(Texts::TENANT_ID, "acme".to_owned());
        for kind in DocumentKind::ALL {
            assert!(texts.has(kind));
            let text = texts.take(kind as u32);
            assert_eq!(text.as_deref(), Some(kind.usual_name()));
            assert!(!texts.has(kind));
        }
        assert_eq!(texts.take(Texts::TENANT_ID).as_deref(), Some("acme"));
        assert_eq!(texts, Texts::default());
    }
}
