//! The state of the run that a user steps through.

use agent_worker_protocol::run::{Form, OutcomeKind, RunRequest, RunView, Turn};
use agent_worker_protocol::{from_bytes, to_bytes};
use std::rc::Rc;

/// Duration of an action unless the user enters another, in milliseconds.
const USUAL_MS: &str = "20";

/// A run, and what the user is about to answer.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Stepping {
    /// The run with the answers so far.
    pub(crate) request: RunRequest,
    /// The run after these answers; `None` until the engine returned one.
    pub(crate) view: Option<Rc<RunView>>,
    /// The next answer.
    draft: Draft,
    /// The path of the file of evidence that is shown.
    pub(crate) file: Option<String>,
}

/// An answer that the user edits.
#[derive(Debug, Clone, Default, PartialEq)]
struct Draft {
    /// The number of answers before it. Another number means another action.
    after: usize,
    /// The number of the example.
    form: usize,
    /// The edited fields; `None` for those of the example.
    fields: Option<Vec<String>>,
    /// The entered duration.
    took: Option<String>,
}

impl Stepping {
    /// Returns the run of a link.
    pub(crate) fn of_link(text: &str) -> Option<Self> {
        let digits = text.as_bytes().chunks(2);
        let bytes: Option<Vec<u8>> = digits
            .map(|pair| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok())
            .collect();
        let request = from_bytes(&bytes?)?;
        Some(Self {
            request,
            ..Self::default()
        })
    }

    /// Returns the run for a link.
    pub(crate) fn link(&self) -> String {
        let bytes = to_bytes(&self.request).into_iter();
        bytes.map(|byte| format!("{byte:02x}")).collect()
    }

    /// Takes the run after the present answers.
    pub(crate) fn returned(&mut self, view: RunView) {
        if self.request.to_the_end {
            self.request.to_the_end = false;
            self.request.turns.clone_from(&view.turns);
        }
        self.view = Some(Rc::new(view));
    }

    fn draft(&self) -> Draft {
        let draft = Some(&self.draft).filter(|draft| draft.after == self.answers().len());
        draft.cloned().unwrap_or_else(|| Draft {
            after: self.answers().len(),
            ..Draft::default()
        })
    }

    /// Returns the answers that the run took.
    pub(crate) fn answers(&self) -> &[Turn] {
        self.view.as_ref().map_or(&[], |view| &view.turns)
    }

    /// Returns the chosen example and its number.
    pub(crate) fn form(&self) -> Option<(usize, &Form)> {
        let forms = &self.view.as_ref()?.wanted.as_ref()?.forms;
        let number = self.draft().form;
        forms.get(number).map(|form| (number, form))
    }

    /// Returns the texts of the fields.
    pub(crate) fn fields(&self) -> Vec<String> {
        let of_example = || {
            let fields = self.form().map(|(_, form)| form.fields.iter());
            let fields = fields.into_iter().flatten();
            fields.map(|field| field.value.clone()).collect()
        };
        self.draft().fields.unwrap_or_else(of_example)
    }

    /// Returns the entered duration.
    pub(crate) fn took(&self) -> String {
        self.draft().took.unwrap_or_else(|| USUAL_MS.to_owned())
    }

    /// Chooses an example.
    pub(crate) fn choose(&mut self, form: usize) {
        let draft = self.draft();
        self.draft = Draft {
            form,
            fields: None,
            ..draft
        };
    }

    /// Edits a field.
    pub(crate) fn edit(&mut self, number: usize, text: String) {
        let mut fields = self.fields();
        if let Some(field) = fields.get_mut(number) {
            *field = text;
        }
        let draft = self.draft();
        self.draft = Draft {
            fields: Some(fields),
            ..draft
        };
    }

    /// Enters a duration.
    pub(crate) fn take(&mut self, took: String) {
        let draft = self.draft();
        self.draft = Draft {
            took: Some(took),
            ..draft
        };
    }

    /// Answers the present action as the fields say.
    pub(crate) fn next(&mut self) {
        if let Some((_, form)) = self.form() {
            let (kind, fields) = (form.kind, self.fields());
            self.answer(kind, fields);
        }
    }

    /// Cancels the run instead of answering.
    pub(crate) fn cancel(&mut self) {
        self.answer(OutcomeKind::Cancelled, Vec::new());
    }

    fn answer(&mut self, kind: OutcomeKind, fields: Vec<String>) {
        let wanted = self.view.as_ref().and_then(|view| view.wanted.as_ref());
        let Some(action) = wanted.map(|wanted| wanted.name.clone()) else {
            return;
        };
        let mut turns = self.answers().to_vec();
        turns.push(Turn {
            action,
            kind,
            fields,
            took_ms: self.took().trim().parse().unwrap_or_default(),
        });
        self.request.turns = turns;
    }

    /// Answers every further action by its first example.
    pub(crate) fn answer_all(&mut self) {
        self.request.turns = self.answers().to_vec();
        self.request.to_the_end = true;
    }

    /// Takes the last answer back.
    pub(crate) fn back(&mut self) {
        let mut turns = self.answers().to_vec();
        turns.pop();
        self.request.turns = turns;
    }

    /// Begins again.
    pub(crate) fn restart(&mut self) {
        self.request.turns.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::Stepping;
    use agent_worker_protocol::run::{
        Field, FieldInput, Form, OutcomeKind, RunView, Turn, WantedAction,
    };

    fn field(value: &str) -> Field {
        Field {
            label: "addresses".to_owned(),
            value: value.to_owned(),
            input: FieldInput::Text,
        }
    }

    fn wanting(turns: Vec<Turn>) -> RunView {
        let form = |value: &str| Form {
            title: value.to_owned(),
            kind: OutcomeKind::Addresses,
            fields: vec![field(value)],
        };
        RunView {
            turns,
            wanted: Some(WantedAction {
                name: "resolve".to_owned(),
                title: "resolve the host".to_owned(),
                facts: vec![],
                forms: vec![form("public"), form("private")],
            }),
            ..RunView::default()
        }
    }

    fn turn(fields: &str) -> Turn {
        Turn {
            action: "resolve".to_owned(),
            kind: OutcomeKind::Addresses,
            fields: vec![fields.to_owned()],
            took_ms: 20,
        }
    }

    #[test]
    fn an_answer_begins_as_an_example_and_ends_with_its_action() {
        let mut run = Stepping::default();
        run.next();
        assert_eq!(run.request.turns, []);
        run.returned(wanting(vec![]));
        assert_eq!(run.fields(), ["public"]);
        run.choose(1);
        run.take("7".to_owned());
        assert_eq!(
            (run.fields(), run.took()),
            (vec!["private".to_owned()], "7".to_owned())
        );
        run.edit(0, "::1".to_owned());
        run.next();
        assert_eq!(
            run.request.turns,
            [Turn {
                took_ms: 7,
                ..turn("::1")
            }]
        );
        run.returned(wanting(run.request.turns.clone()));
        assert_eq!(
            (run.fields(), run.took()),
            (vec!["public".to_owned()], "20".to_owned())
        );
        run.back();
        assert_eq!(run.request.turns, []);
    }

    #[test]
    fn answers_that_the_run_did_not_take_are_replaced_by_the_next_one() {
        let mut run = Stepping::default();
        run.request.turns = vec![turn("a"), turn("b")];
        run.returned(wanting(vec![turn("a")]));
        run.cancel();
        let kinds: Vec<_> = run.request.turns.iter().map(|turn| turn.kind).collect();
        assert_eq!(kinds, [OutcomeKind::Addresses, OutcomeKind::Cancelled]);
        run.restart();
        assert_eq!(run.request.turns, []);
    }

    #[test]
    fn answers_of_examples_become_answers_of_the_user() {
        let mut run = Stepping::default();
        run.returned(wanting(vec![]));
        run.answer_all();
        assert!(run.request.to_the_end);
        run.returned(RunView {
            turns: vec![turn("public")],
            ..RunView::default()
        });
        assert_eq!(run.request.turns, [turn("public")]);
        assert!(!run.request.to_the_end);
    }

    #[test]
    fn a_link_holds_a_run() {
        let mut run = Stepping::default();
        run.request.turns = vec![turn("\u{202e}𝄞")];
        let link = run.link();
        assert_eq!(
            Stepping::of_link(&link).map(|it| it.request),
            Some(run.request)
        );
        for other in ["", "0", "zz", "é0", &link[..link.len() - 2]] {
            assert_eq!(Stepping::of_link(other), None, "{other}");
        }
    }
}
