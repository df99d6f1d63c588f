//! The content of the page: its answers and texts.

use crate::audit::{self, AuditArea};
use crate::call::{self, decision_sign};
use crate::history::place;
use crate::session::SessionArea;
use crate::state::{Answered, Page, Sessions, State};
use agent_answer::{Code, Diagnostic, DocumentKind};
use agent_ui::answer::{AnswerPanel, Sign};
use agent_ui::areas::Area;
use agent_ui::content::Content;
use agent_ui::editor::Mark;
use agent_ui::keeping::take_over;
use agent_ui::markdown::{InWords, copy_answer};
use agent_ui::page::use_page;
use agent_ui::saved::SavedInputs;
use agent_ui::words::count;
use agent_worker_protocol::session::{Answer, Request, RequestKind};
use std::rc::Rc;
use yew::prelude::*;

/// The field of links for the client and what happened.
const SESSION: &str = "session";

/// The page whose documents can be taken over.
const SERVERS: &str = "servers";

/// The documents that are taken over, with the lock that the other page compares with, if it has one.
const TAKEN: [DocumentKind; 7] = [
    DocumentKind::Manifest,
    DocumentKind::Index,
    DocumentKind::Lock,
    DocumentKind::Policy,
    DocumentKind::Context,
    DocumentKind::Tenant,
    DocumentKind::Task,
];

impl Content for Sessions {
    const NAME: &'static str = "session";
    const FIELDS: &'static [&'static str] = &[SESSION];
    const KEYS: &'static [(&'static str, &'static str)] =
        &[("Enter on a tool", "its definition, as an agent gets it")];

    fn wanted(&self) -> Request {
        self.request()
    }

    fn problems(&self) -> Rc<[Diagnostic]> {
        self.answer()
            .map_or_else(Rc::default, |answer| Rc::clone(&answer.problems))
    }

    fn brief(&self) -> Option<(Sign, String)> {
        let answer = &self.answer()?.answer;
        match self.kind {
            RequestKind::Session => Some(match &answer.session {
                None => (Sign::no("no"), "no session".to_owned()),
                Some(session) if !session.questions.is_empty() => {
                    let sign = Sign {
                        mark: "?",
                        ..Sign::caution("a call waits")
                    };
                    (sign, String::new())
                }
                Some(session) => {
                    let sign = session.draft.as_ref().map(decision_sign)?;
                    (sign, String::new())
                }
            }),
            RequestKind::Log => {
                let log = answer.log.as_ref()?;
                let differing = count(log.counts[0] as u32, "difference");
                let sign = match log.is_same {
                    Some(true) => Sign::yes("same"),
                    Some(false) => Sign::neutral("other"),
                    None => Sign::caution("unknown"),
                };
                Some((sign, differing))
            }
        }
    }

    fn in_words(&self) -> Option<InWords> {
        Some(match self.kind {
            RequestKind::Session => call::in_words(self.session()?.draft.as_ref()?),
            RequestKind::Log => audit::in_words(self.log()?),
        })
    }

    fn marks(&self) -> Vec<Mark> {
        let log = self.log().filter(|_| self.kind == RequestKind::Log);
        let problems = log.into_iter().flat_map(|log| &log.problems);
        let differences = problems.filter(|it| it.code == Code::ReplayDiffers);
        let differences = differences.filter_map(|it| Some((*it.place()?, "")));
        let calls = log.into_iter().flat_map(|log| &log.calls);
        let earlier = calls.flat_map(|it| &it.earlier).map(|it| (place(it), "no"));
        differences.chain(earlier).collect()
    }

    fn answered(&mut self, answer: Answer) -> bool {
        let mut problems = answer.problems.clone();
        if let Some(log) = &answer.log {
            // A call that is decided otherwise is no error of its log.
            let errors = log.problems.iter();
            problems.extend(errors.filter(|it| it.code != Code::ReplayDiffers).cloned());
        }
        self.answers[self.kind as usize] = Some(Answered {
            answer: Rc::new(answer),
            problems: problems.into(),
        });
        true
    }

    fn show_area(&mut self, area: Area) {
        self.kind = match area {
            Area::Audit => RequestKind::Log,
            _ => RequestKind::Session,
        };
    }

    fn replaced(&mut self) {
        self.events.clear();
        self.shown = None;
        self.replaced += 1;
    }

    fn restore(state: &mut State, saved: &SavedInputs) {
        state.content.take_link(saved.field(SESSION));
    }

    fn fields(&self) -> Vec<(&'static str, String)> {
        self.link()
            .map(|link| (SESSION, link))
            .into_iter()
            .collect()
    }

    fn answer() -> Html {
        html! { <AnswerPane /> }
    }

    fn toolbar(page: &Page) -> Html {
        let take = page.callback(|page, _| take_over(page, SERVERS, &TAKEN));
        html! {
            <>
                <button onclick={take} title="Take agents.md, the index and what belongs to them from the area Servers">
                    { "From Servers" }
                </button>
                { copy_answer(page) }
            </>
        }
    }

    fn help() -> Html {
        html! {
            <>
                <p>
                    { "A gateway between an agent and its servers obeys the lock. It makes one decision for \
                       listing, expanding and calling tools, and gives a reason for every refusal." }
                </p>
                <p>
                    <strong>{ "Session" }</strong>
                    { " shows what the agent sees, with the estimated tokens of each definition, and what is \
                       decided about the call in " }<code>{ "tools-call.json" }</code>
                    { ". You answer for servers and humans; the browser calls nothing." }
                </p>
                <p>
                    <strong>{ "Audit" }</strong>
                    { " decides the calls of an audit log again, under the lock and the policy of the page. \
                       It lists each call that would be decided otherwise, with the reasons." }
                </p>
            </>
        }
    }
}

/// The answer of the visible area.
#[component]
fn AnswerPane() -> Html {
    let page = use_page::<Sessions>();
    html! {
        <AnswerPanel<Sessions> id="session-answer" label="Decision" top={page.content().replaced}>
            { match page.content().kind {
                RequestKind::Session => html! { <SessionArea /> },
                RequestKind::Log => html! { <AuditArea /> },
            } }
        </AnswerPanel<Sessions>>
    }
}
