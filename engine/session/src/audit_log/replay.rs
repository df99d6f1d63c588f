//! All calls of a log, decided again under other documents.

use super::chain::Start;
use super::recorded_call::{RecordedCall, Verdict};
use super::replay_answer::{Answer, Outcome, Replayed};
use super::second_decision::{Decider, Second, Undecidable};
use super::verification::{Recorded, Verification};
use crate::documents::Documents;
use crate::history::was_allowed;
use crate::method::Method;
use crate::options::{Expansion, Options};
use crate::session::Session;
use agent_api::diagnostic::Diagnostic;
use agent_record::Clock;
use agent_syntax::members::{member, string};

/// The calls of a log, decided again under other documents. It is fed the bytes of the log's files in their order.
///
/// A log may begin with any record: what a day's part lacks is only how tools on demand were shown.
#[derive(Debug)]
pub struct Replay {
    verification: Verification,
    decider: Decider,
    answer: Answer,
}

impl Replay {
    /// Begins with the first file.
    ///
    /// # Errors
    /// The documents can't be obeyed, as [`Session::open`] says.
    pub fn open(documents: Documents) -> Result<Self, Vec<Diagnostic>> {
        Ok(Self {
            verification: Verification::new(Start::Any),
            decider: decider(documents, false)?,
            answer: Answer::default(),
        })
    }

    /// Takes the next bytes of the present file. Nothing is decided after a fault of the log.
    pub fn feed(&mut self, bytes: &[u8]) {
        let Self {
            verification,
            decider,
            answer,
        } = self;
        if verification.is_valid() {
            verification.feed_to(bytes, &mut |record| take(decider, answer, &record));
        } else {
            verification.feed(bytes);
        }
    }

    /// Ends the present file. The next bytes are those of the next one.
    pub fn end_file(&mut self) {
        self.verification.end_file();
    }

    /// Ends the log, after the end of its last file.
    ///
    /// # Errors
    /// The problems of the log. Nothing can be said about decisions in a log that was changed.
    pub fn finish(self) -> Result<Replayed, Vec<Diagnostic>> {
        Ok(self.answer.finish(self.verification.end()?))
    }
}

/// Returns what decides under documents. `any_policy`: the policy may be another one than the lock's.
pub(crate) fn decider(documents: Documents, any_policy: bool) -> Result<Decider, Vec<Diagnostic>> {
    let options = Options {
        any_policy,
        ignoring: None,
        ..Options::default()
    };
    let (session, _) = Session::open(documents, options, Clock::default())?;
    Ok(Decider::new(session))
}

/// A call of a log, as it is decided again.
#[derive(Debug)]
pub(crate) enum Again {
    /// The parameters are refused under any documents.
    Unreadable,
    Call(Box<RecordedCall>, Result<Second, Undecidable>),
}

/// Takes the next record. Returns the call that it decided, if it is one of a call or of a request to a server.
pub(crate) fn decide_again(decider: &mut Decider, record: &Recorded<'_, '_>) -> Option<Again> {
    decider.begin(record);
    let (call, second) = match record.kind {
        "opened" | "reloaded" => {
            let expansion = member(record.content, "expansion").and_then(string);
            let known = [Expansion::Stub, Expansion::List, Expansion::None];
            let known = known.into_iter();
            decider.expansion = known.into_iter().find(|it| Some(it.name()) == expansion);
            decider.remember(record, None);
            return None;
        }
        "effect" => {
            decider.remember(record, None);
            return None;
        }
        "decision" => {
            let Some(call) = RecordedCall::read(record) else {
                return Some(Again::Unreadable);
            };
            let second = decider.decide(&call);
            (call, second)
        }
        "request" => {
            let method = member(record.content, "method").and_then(string);
            // Lists, and requests that no server could be asked, are no calls.
            let method = method.and_then(Method::named)?;
            let call = RecordedCall::read_request(record)?;
            let second = decider.decide_request(&call, method);
            (call, second)
        }
        _ => return None,
    };
    let second = second.map(|second| Second {
        earlier: decider.named(&call, &second.reasons),
        ..second
    });
    remember(decider, record, &call, &second);
    Some(Again::Call(Box::new(call), second))
}

fn take(decider: &mut Decider, answer: &mut Answer, record: &Recorded<'_, '_>) {
    match decide_again(decider, record) {
        None => {}
        Some(Again::Unreadable) => answer.add_unreadable(),
        Some(Again::Call(call, second)) => {
            answer.compare_documents(&call.documents, decider.documents());
            answer.add(record, &call, outcome(&call, second));
        }
    }
}

fn outcome(call: &RecordedCall, second: Result<Second, Undecidable>) -> Outcome {
    match second {
        Ok(second) => Outcome::of(call, second),
        Err(Undecidable(why)) => Outcome::Undecidable(why),
    }
}

/// Takes a call into the history that later calls follow: as it is decided now, else as it was.
fn remember(
    decider: &mut Decider,
    record: &Recorded<'_, '_>,
    call: &RecordedCall,
    second: &Result<Second, Undecidable>,
) {
    let is_call = !matches!(&*call.phase, "expand" | "list_services");
    let is_allowed = match second {
        Ok(second) => second.verdict == Verdict::Allowed,
        Err(_) => was_allowed(record.content),
    };
    decider.remember(record, Some(call).filter(|_| is_call && is_allowed));
}
