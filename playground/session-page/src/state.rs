//! The state of the page, and its actions.

use agent_answer::Diagnostic;
use agent_worker_protocol::session::{
    Answer, Caller, EVENTS_MAX, Event, LogView, Request, RequestKind, SessionView,
};
use agent_worker_protocol::{from_bytes, to_bytes};
use std::rc::Rc;

pub(crate) type State = agent_ui::state::State<Sessions>;
pub(crate) type Page = agent_ui::page::Page<Sessions>;

/// An answer, and the problems in it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answered {
    pub(crate) answer: Rc<Answer>,
    pub(crate) problems: Rc<[Diagnostic]>,
}

/// The page of sessions.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Sessions {
    /// The question of the visible area.
    pub(crate) kind: RequestKind,
    pub(crate) caller: Caller,
    /// What happened in the session.
    pub(crate) events: Vec<Event>,
    /// The last answer to each question.
    pub(crate) answers: [Option<Answered>; 2],
    /// The name of the tool whose definition is shown.
    pub(crate) shown: Option<String>,
    /// How often texts were replaced. An answer to other texts begins at its top.
    pub(crate) replaced: u32,
    /// How many events the user added on this visit.
    pub(crate) steps: u32,
    /// The result that the user edits: the number of the call, and the text.
    result: Option<(u64, String)>,
}

impl Sessions {
    pub(crate) fn answer(&self) -> Option<&Answered> {
        self.answers[self.kind as usize].as_ref()
    }

    pub(crate) fn session(&self) -> Option<&SessionView> {
        self.answers[RequestKind::Session as usize]
            .as_ref()?
            .answer
            .session
            .as_ref()
    }

    pub(crate) fn log(&self) -> Option<&LogView> {
        let answered = self.answers[RequestKind::Log as usize].as_ref()?;
        answered.answer.log.as_ref()
    }

    pub(crate) fn request(&self) -> Request {
        Request {
            kind: self.kind,
            caller: self.caller.clone(),
            events: match self.kind {
                RequestKind::Session => self.events.clone(),
                RequestKind::Log => Vec::new(),
            },
        }
    }

    /// Returns whether more may happen.
    pub(crate) fn has_room(&self) -> bool {
        self.events.len() < EVENTS_MAX
    }

    /// Adds an event.
    pub(crate) fn happen(&mut self, event: Event) {
        if self.has_room() {
            self.events.push(event);
            self.steps += 1;
        }
    }

    /// Returns whether a call waits for a human. There is no other next action then.
    pub(crate) fn asks(&self) -> bool {
        (self.session()).is_some_and(|session| !session.questions.is_empty())
    }

    /// Returns the text of the result of a call: the user's, or else the example.
    pub(crate) fn result<'t>(&'t self, call: u64, example: &'t str) -> &'t str {
        match &self.result {
            Some((edited, text)) if *edited == call => text,
            _ => example,
        }
    }

    /// Edits the result of a call.
    pub(crate) fn edit_result(&mut self, call: u64, text: String) {
        self.result = Some((call, text));
    }

    /// Returns client and events for a link; `None` if they are those of the first visit.
    pub(crate) fn link(&self) -> Option<String> {
        let untouched = self.events.is_empty() && self.caller == Caller::default();
        let bytes = (!untouched).then(|| to_bytes(&(&self.caller, &self.events)));
        bytes.map(|bytes| bytes.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// Takes client and events of a link. Another text changes nothing.
    pub(crate) fn take_link(&mut self, text: &str) {
        let digits = text.as_bytes().chunks(2);
        let bytes: Option<Vec<u8>> = digits
            .map(|pair| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok())
            .collect();
        let read: Option<(Caller, Vec<Event>)> = bytes.and_then(|bytes| from_bytes(&bytes));
        if let Some((caller, events)) = read {
            self.caller = caller;
            self.events = events;
            self.events.truncate(EVENTS_MAX);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Sessions, State};
    use agent_answer::{Code, Diagnostic, DocumentKind};
    use agent_ui::areas::Area;
    use agent_ui::content::{Content as _, Documents as _};
    use agent_ui::worker::WorkerEvent;
    use agent_worker_protocol::session::{
        Answer, Caller, EVENTS_MAX, Event, LogView, RequestKind, SessionView,
    };

    fn answer(state: &mut State, answer: Answer) {
        let revision = state.revision;
        state.change(|state| {
            state.handle(WorkerEvent::Answered {
                revision,
                answer,
                milliseconds: 1.5,
            });
        });
    }

    #[test]
    fn each_area_has_its_question_and_its_last_answer() {
        let mut state = State::new(Area::Session);
        assert_eq!(state.content.kind, RequestKind::Session);
        let session = SessionView {
            tokens: 7,
            ..SessionView::default()
        };
        answer(
            &mut state,
            Answer {
                session: Some(session.clone()),
                ..Answer::default()
            },
        );
        assert_eq!(state.content.session(), Some(&session));
        let before = state.revision;
        state.change(|state| state.show_area(Area::Audit));
        assert_eq!(state.revision, before + 1);
        assert_eq!(*state.content.problems(), []);
        let log = LogView {
            problems: [Code::ReplayDiffers, Code::AuditChanged]
                .map(|code| Diagnostic::new(code, ""))
                .to_vec(),
            ..LogView::default()
        };
        answer(
            &mut state,
            Answer {
                log: Some(log.clone()),
                ..Answer::default()
            },
        );
        assert_eq!(state.content.log(), Some(&log));
        // A difference is none.
        assert_eq!(*state.content.problems(), log.problems[1..]);
        // Its records can still be taken over.
        assert_eq!(state.content.session(), Some(&session));
    }

    #[test]
    fn an_event_is_a_request_and_other_texts_forget_it() {
        let mut state = State::new(Area::Session);
        state.change(|state| state.content.happen(Event::Wait(1)));
        assert_eq!(state.revision, 1);
        state.change(|state| state.content.edit_result(1, "{}".to_owned()));
        assert_eq!(state.revision, 1);
        assert_eq!(state.content.result(1, "example"), "{}");
        assert_eq!(state.content.result(2, "example"), "example");
        state.change(|state| state.replace(&Sessions::kinds().collect::<Vec<_>>()));
        assert_eq!(state.content.events, []);
    }

    #[test]
    fn a_session_has_a_limit() {
        let mut state = State::new(Area::Session);
        for _ in 0..=EVENTS_MAX {
            state.content.happen(Event::Wait(1));
        }
        assert_eq!(state.content.events.len(), EVENTS_MAX);
        assert!(!state.content.has_room());
    }

    #[test]
    fn a_link_holds_the_client_and_what_happened() {
        let mut content = Sessions::default();
        assert_eq!(content.link(), None);
        content.caller = Caller {
            id: "\u{202e}𝄞".to_owned(),
            ..Caller::default()
        };
        content.happen(Event::Call("{}".to_owned()));
        let link = content.link().expect("a link");
        let mut other = Sessions::default();
        for text in ["", "0", "zz", "é0", &link[..link.len() - 2]] {
            other.take_link(text);
            assert_eq!(other, Sessions::default(), "{text}");
        }
        other.take_link(&link);
        assert_eq!(
            (other.caller, other.events),
            (content.caller, content.events)
        );
    }

    #[test]
    fn the_call_and_the_log_are_in_front() {
        let first = |area| Sessions::layout(area).map(|documents| documents[0]);
        assert_eq!(first(Area::Session), Some(DocumentKind::StepInput));
        assert_eq!(first(Area::Audit), Some(DocumentKind::Evidence));
        assert_eq!(first(Area::Servers), None);
    }
}
