//! The session of the page of sessions.
//!
//! The agent's session is [`agent_session::Session`], the machine that gateways drive. It is made
//! again from its events for every request. Here nothing is performed: servers list what the index
//! has, and the page's user answers for servers and humans.

mod arguments;
mod history;
mod host;
mod json;
mod log;
mod view;

use crate::inputs::Inputs;
use agent_api::LockText;
use agent_api::answer::{Diagnostic, DocumentKind};
use agent_api::render;
use agent_session::Documents;
use agent_worker_protocol::Texts;
use agent_worker_protocol::session::{About, Answer, Request, RequestKind};
use host::Host;
use view::{Definitions, whole};

/// Keeps the inputs from one question to the next.
#[derive(Default)]
pub struct Session {
    inputs: Inputs,
    /// The texts as they were given, by the numbers of their kinds.
    texts: Texts,
    /// What follows from the texts.
    basis: Basis,
    /// Every definition of the lock, for clients of a generation.
    whole: Option<(bool, Definitions)>,
}

/// The documents that a session is not opened with.
const OTHERS: [DocumentKind; 2] = [DocumentKind::StepInput, DocumentKind::Evidence];

/// What a session is opened with.
#[derive(Debug, Default)]
struct Basis {
    /// The problems of the inputs of a lock, if it was made.
    problems: Vec<Diagnostic>,
    /// The text of the lock, if it was made.
    made: Option<String>,
    /// `None` if there is no lock.
    documents: Option<Documents>,
}

impl Session {
    /// Describes the engine.
    pub fn about() -> About {
        About {
            version: agent_api::VERSION.to_owned(),
        }
    }

    /// Answers a question.
    pub fn answer(&mut self, texts: Texts, request: Request) -> Answer {
        let is_other = |number: u32| OTHERS.iter().any(|kind| *kind as u32 == number);
        let opens_other = texts.0.iter().any(|(number, _)| !is_other(*number));
        for (number, text) in &texts.0 {
            self.texts.set(*number, text.clone());
        }
        if opens_other {
            self.inputs.read(texts);
            self.basis = self.basis();
            self.whole = None;
        }
        let mut answer = Answer {
            problems: self.basis.problems.clone(),
            lock: self.basis.made.clone(),
            ..Answer::default()
        };
        match request.kind {
            RequestKind::Session => self.session(&request, &mut answer),
            RequestKind::Log => self.log(&mut answer),
        }
        answer
    }

    fn session(&mut self, request: &Request, answer: &mut Answer) {
        let Some(documents) = &self.basis.documents else {
            return;
        };
        let caller = &request.caller;
        let mut host = match Host::open(documents.clone(), caller) {
            Ok(host) => host,
            Err(mut problems) => return answer.problems.append(&mut problems),
        };
        let index = self.inputs.index.value.as_deref();
        let is_same = |(is_stateless, _): &(bool, _)| *is_stateless == caller.is_stateless;
        let known = self.whole.take().filter(is_same);
        let known = known.unwrap_or_else(|| {
            let whole = whole(documents.clone(), caller, index);
            (caller.is_stateless, whole)
        });
        host.replay(&request.events, index);
        let draft = self.text(DocumentKind::StepInput);
        answer.session = Some(host.view(&known.1, &request.events, draft));
        self.whole = Some(known);
    }

    fn log(&self, answer: &mut Answer) {
        let documents = self.basis.documents.as_ref();
        let log = self.text(DocumentKind::Evidence);
        if let Some((documents, log)) = documents.zip(log) {
            match log::replay(documents.clone(), log) {
                Ok(view) => answer.log = Some(view),
                Err(mut problems) => answer.problems.append(&mut problems),
            }
        }
    }

    /// Returns a text, unless it is blank.
    fn text(&self, kind: DocumentKind) -> Option<&str> {
        let mut texts = self.texts.0.iter();
        let (_, text) = texts.find(|(number, _)| *number == kind as u32)?;
        (!text.trim().is_empty()).then_some(text)
    }

    fn bytes(&self, kind: DocumentKind) -> Option<Vec<u8>> {
        self.text(kind).map(|text| text.as_bytes().to_vec())
    }

    /// Returns the given lock, or makes one from the manifest.
    fn basis(&mut self) -> Basis {
        let mut basis = Basis::default();
        let mut lock = self.bytes(DocumentKind::Lock);
        if lock.is_none() {
            let resolution = self.inputs.resolve();
            let verdict = self.inputs.verdict(resolution.as_ref());
            basis.problems = verdict.diagnostics;
            basis.made = verdict.lock;
            lock = basis.made.clone().map(String::into_bytes);
        }
        let Some(lock) = lock else {
            return basis;
        };
        // A lock that can't be read is refused with its problems when the session opens.
        let read = LockText::read(lock.clone()).ok().map(|it| it.value);
        let index = self.inputs.index.value.as_deref();
        let definitions = read.zip(index);
        let definitions =
            definitions.and_then(|(lock, index)| render::definitions(&lock.lock, index));
        basis.documents = Some(Documents {
            lock: Some(lock),
            index: Some(self.bytes(DocumentKind::Index).unwrap_or_default()),
            definitions: definitions.map(String::into_bytes),
            policy: self.bytes(DocumentKind::Policy),
            policy_context: self.bytes(DocumentKind::Context),
            tenant: self.bytes(DocumentKind::Tenant),
            task: self.bytes(DocumentKind::Task),
            ..Documents::default()
        });
        basis
    }
}
