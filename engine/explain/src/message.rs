//! The message about one denial, before its text has a place.

use agent_diagnostic::{Code, Diagnostic, Fix, Label};
use agent_json_schema::Correction;
use agent_syntax::json_string;
use agent_text::{Span, Text, hidden_difference, misspelt};

/// Returns the only one of similar names that a name is a slip of. Another number is another thing.
pub(super) fn slip_of<'k>(name: &str, near: &[&'k str]) -> Option<&'k str> {
    let digits = |text: &str| {
        let digits = text.chars().filter(char::is_ascii_digit);
        digits.collect::<String>()
    };
    let is_prefixed = |it: &str| {
        let before = name.strip_suffix(it);
        near.len() == 1
            && before.is_some_and(|it| ["__", ".", ":"].iter().any(|sign| it.ends_with(sign)))
    };
    if let [only] = near
        && is_prefixed(only)
    {
        return Some(only);
    }
    let mut slips = near.iter().filter(|it| misspelt(name, &[**it]).is_some());
    let only = slips.next().filter(|_| slips.next().is_none())?;
    (digits(only) == digits(name) && *only != name).then_some(*only)
}

/// A message about a value of a document.
pub(super) struct Message {
    pub(super) code: Code,
    pub(super) reason: Option<Code>,
    pub(super) pointer: String,
    pub(super) span: Span,
    pub(super) label: &'static str,
    pub(super) text: String,
    pub(super) rule: String,
    pub(super) help: String,
    /// The obvious correction of the value.
    pub(super) correction: Option<Correction>,
    /// A difference that a reader may not see.
    pub(super) difference: Option<String>,
}

impl Message {
    /// Creates a message about a whole value, with the usual help of its code.
    pub(super) fn new(code: Code, span: Span, label: &'static str, text: String) -> Self {
        Self {
            code,
            reason: None,
            pointer: String::new(),
            span,
            label,
            text,
            rule: String::new(),
            help: code.help().to_owned(),
            correction: None,
            difference: None,
        }
    }

    /// Adds the exact reason.
    pub(super) fn reason(self, reason: Code) -> Self {
        let reason = Some(reason);
        Self { reason, ..self }
    }

    /// Sets the pointer to the value.
    pub(super) fn at(self, pointer: impl Into<String>) -> Self {
        let pointer = pointer.into();
        Self { pointer, ..self }
    }

    /// Adds the rule that decided.
    pub(super) fn rule(self, rule: impl Into<String>) -> Self {
        let rule = rule.into();
        Self { rule, ..self }
    }

    /// Adds the obvious correction, which says more than any help.
    pub(super) fn corrected(self, correction: Option<&Correction>) -> Self {
        let correction = correction.cloned();
        Self { correction, ..self }
    }

    /// Adds the name that was meant as a correction.
    pub(super) fn named(self, meant: Option<&str>) -> Self {
        self.corrected(
            meant
                .map(|name| Correction::Value(json_string(name)))
                .as_ref(),
        )
    }

    /// Adds how a name differs from the nearest known one, if a reader may not see it.
    pub(super) fn differing(self, name: &str, nearest: &[&str]) -> Self {
        let difference = nearest.first().and_then(|it| hidden_difference(name, it));
        Self { difference, ..self }
    }

    /// Replaces the usual help.
    pub(super) fn help(self, help: impl Into<String>) -> Self {
        let help = help.into();
        Self { help, ..self }
    }

    /// Returns the diagnostic of a step of a plan, or of a plan as a whole.
    pub(super) fn diagnostic(self, text: &Text, step: Option<usize>) -> Diagnostic {
        let mut diagnostic = Diagnostic::new(self.code, self.text);
        match self.correction {
            Some(correction) => {
                let (span, replacement) = correction.edit(text.as_str(), self.span);
                let (old, new) = (span.of(text.as_str()), &replacement);
                let difference = hidden_difference(old.trim_matches('"'), new.trim_matches('"'));
                diagnostic.notes.extend(difference);
                diagnostic
                    .fixes
                    .push(Fix::write(text.place(span), replacement));
            }
            None => diagnostic = diagnostic.help(self.help),
        }
        diagnostic.notes.extend(self.difference);
        diagnostic.labels.push(Label {
            pointer: Some(self.pointer),
            ..Label::new(text.place(self.span), self.label)
        });
        diagnostic.reason = self.reason;
        diagnostic.rule = Some(self.rule);
        diagnostic.step = step;
        diagnostic
    }
}
