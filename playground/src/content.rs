//! The content of the page: its answers, texts and keys.

use crate::answer::{AnswerPane, TABS};
use crate::evaluation::starter;
use crate::exports::export_buttons;
use crate::import::import_bar;
use crate::markdown;
use crate::policy::{policy_lines, policy_places};
use crate::reservations::{against_lock, reservations};
use crate::state::{Actor, EXPLAINED, History, Page, Servers, State, explain, name_tenant};
use agent_answer::link_form::TENANT_ID;
use agent_answer::{Code, Diagnostic, DocumentKind, Filter, Outcome, ServerName};
use agent_ui::answer::Sign;
use agent_ui::browser::{focus, value_of};
use agent_ui::content::Content;
use agent_ui::editor::Mark;
use agent_ui::names::Lookalikes;
use agent_ui::saved::SavedInputs;
use agent_ui::state::Pane;
use agent_worker_protocol::{Answer, ExplanationRequest, MatrixRequest, Request};
use std::rc::Rc;
use web_sys::KeyboardEvent;
use yew::prelude::*;

/// The fields of links for the open tab, and for the open explanation.
const TAB: &str = "tab";
const REQUIREMENT: &str = "requirement";
const SERVER: &str = "server";
const VERSION: &str = "version";
const TOOL: &str = "tool";

impl Content for Servers {
    const NAME: &'static str = "servers";
    const FIELDS: &'static [&'static str] = &[TENANT_ID];
    const KEYS: &'static [(&'static str, &'static str)] = &[
        (
            "Alt 1 … Alt 6",
            "verdict, matrix, what if, policy, lock, explanation",
        ),
        ("← → in the tabs", "next tab"),
        (
            "← ↑ → ↓ in the matrix",
            "next cell; Page Up, Page Down, Home, End",
        ),
        ("Enter on a cell", "its explanation"),
        ("Escape", "close the explanation or a dialog"),
    ];

    fn wanted(&self) -> (Request, Rc<str>) {
        (self.wanted.clone(), Rc::clone(&self.tenant_id))
    }

    fn problems(&self) -> Rc<[Diagnostic]> {
        self.import.and_problems(&self.problems)
    }

    fn brief(&self) -> Option<(Sign, String)> {
        let verdict = self.verdict.as_ref()?;
        let (all, met) = (verdict.requirements.len(), verdict.requirements.iter());
        let met = met.filter(|it| matches!(it.outcome, Outcome::Selected(_)));
        let text = format!("{} of {all}", met.count());
        Some(match verdict.satisfied {
            Some(true) if !reservations(verdict).is_empty() => (Sign::caution("yes"), text),
            Some(true) => (Sign::yes("yes"), text),
            Some(false) => (Sign::no("no"), text),
            None => (Sign::caution("no decision"), "error".to_owned()),
        })
    }

    fn marks(&self) -> Vec<Mark> {
        let Some(explanation) = &self.views.explanation else {
            let evaluated = self.wanted.policy.map(|it| it as usize);
            let requirement = evaluated.and_then(|it| self.requirements().get(it));
            let decision = requirement.and_then(|it| it.policy_decision.as_ref());
            let places = decision.map(|it| policy_places(&it.lines));
            let places = places.unwrap_or_default().into_iter();
            return places.map(|place| (place, "")).collect();
        };
        let failed = explanation.checks.iter().filter(|check| !check.passed);
        let places = failed.flat_map(|it| {
            // What the server has is fine: it lacks something else.
            let lacks = matches!(
                it.code,
                Code::MissingCategory
                    | Code::ToolMissing
                    | Code::MissingScope
                    | Code::MissingCapability
                    | Code::ConstraintUnmet
            );
            [it.asked_at, it.offered_at.filter(|_| !lacks)]
        });
        let places = places.flatten();
        let requirement = self.requirements().get(explanation.requirement as usize);
        let lines = requirement.map(|requirement| policy_lines(requirement, explanation));
        let places = places.chain(lines.into_iter().flatten());
        places.map(|place| (place, "")).collect()
    }

    fn badge(&self, kind: DocumentKind) -> Option<String> {
        let verdict = self
            .verdict
            .as_ref()
            .filter(|_| kind == DocumentKind::Lock)?;
        against_lock(verdict)
    }

    fn answered(&mut self, mut answer: Answer) -> bool {
        let verdict = answer.verdict.take();
        let decided = verdict.is_some();
        if let Some(verdict) = verdict {
            // While an input has errors, the lock before stays.
            self.lock.add(verdict.lock.as_deref());
            if verdict.satisfied.is_some() {
                self.note_selections(&verdict);
            }
            self.lookalikes = Lookalikes::of(&verdict.diagnostics);
            self.problems = verdict.diagnostics.as_slice().into();
            if verdict.satisfied.is_some() {
                self.decided_before = None;
            } else if let Some(before) = self.verdict.take().filter(|it| it.satisfied.is_some()) {
                self.decided_before = Some(before);
            }
            self.verdict = Some(Rc::new(verdict));
            self.ask_policy();
        }
        if let Some(Ok(explained)) = &answer.resolution {
            self.resolution.add(Some(&explained.text));
        }
        if self.wanted.explanation.is_none() {
            // The user has closed it since.
            answer.explanation = None;
        }
        self.views = Rc::new(answer);
        decided
    }

    fn replaced(&mut self) {
        self.tenant_id = Rc::default();
        self.selections.clear();
        self.decided_before = None;
        self.exported = None;
        self.lock = History::default();
        self.resolution = History::default();
        self.close_explanation();
        let matrix = self.wanted.matrix.take();
        self.wanted = Request {
            matrix: matrix.map(|matrix| MatrixRequest {
                filter: Filter::default(),
                offset: 0,
                ..matrix
            }),
            resolution: self.wanted.resolution.map(|_| EXPLAINED),
            counts: self.wanted.counts,
            ..Request::default()
        };
    }

    fn arrived(&mut self) {
        self.import.at_once();
    }

    fn fields(&self) -> Vec<(&'static str, String)> {
        vec![(TENANT_ID, self.tenant_id.to_string())]
    }

    fn restore(state: &mut State, saved: &SavedInputs) {
        name_tenant(state, saved.field(TENANT_ID).into());
    }

    fn show(state: &mut State, field: &dyn Fn(&str) -> String) {
        let named = field(TAB);
        let tab = TABS.iter().find(|(_, key, _)| *key == named);
        if let Some((tab, ..)) = tab {
            state.content.open_tab(*tab);
        }
        if let Ok(requirement) = field(REQUIREMENT).parse() {
            let server = ServerName {
                id: field(SERVER),
                version: field(VERSION),
            };
            let tool = Some(field(TOOL)).filter(|tool| !tool.is_empty());
            explain(
                state,
                ExplanationRequest {
                    requirement,
                    server,
                    tool,
                },
            );
        }
    }

    fn views(&self) -> Vec<(&'static str, String)> {
        let tab = TABS.iter().find(|(tab, ..)| *tab == self.tab);
        let mut views: Vec<_> = tab
            .map(|(_, key, _)| (TAB, (*key).to_owned()))
            .into_iter()
            .collect();
        if let Some(story) = self.wanted.explanation.clone() {
            views.extend([
                (REQUIREMENT, story.requirement.to_string()),
                (SERVER, story.server.id),
                (VERSION, story.server.version),
                (TOOL, story.tool.unwrap_or_default()),
            ]);
        }
        views
    }

    fn answer() -> Html {
        html! { <AnswerPane /> }
    }

    fn help() -> Html {
        html! {
            <>
                <p>
                    { "An agent states its requirements in " }<code>{ "agents.md" }</code>{ "; " }
                    <code>{ "mcp.index.json" }</code>
                    { " lists the available servers. While you type, the engine decides which server each \
                       requirement gets, and explains for every server why or why not." }
                </p>
                <p>
                    { "Click a stage of the funnel to list the servers that it holds back. Click the name \
                       of a server, or a cell of the matrix, for its explanation: every check, the places of \
                       both values, and the suggested fixes." }
                </p>
                <p>
                    { "Capabilities are required in " }<code>{ "agents.md" }</code>{ " or in a task; the tools of \
                       the servers meet them. A tenant prefers some tools, a health snapshot and a policy \
                       exclude others. The explanation of a tool has a switch for the health of its server." }
                </p>
                <p>
                    { "A shared link holds the inputs in the part behind #, which browsers do not send." }
                </p>
            </>
        }
    }

    fn toolbar(page: &Page) -> Html {
        let copy = page.callback(|page, _| {
            page.copy("verdict and inputs as Markdown", markdown::report(page));
        });
        html! {
            <>
                <button onclick={copy}>{ "Copy as Markdown" }</button>
                { export_buttons(page) }
            </>
        }
    }

    fn above(page: &Page, kind: DocumentKind) -> Html {
        let name = page.callback(|page, event: InputEvent| {
            let id = value_of(&event).into();
            page.update(|state| name_tenant(state, id));
        });
        match kind {
            DocumentKind::Import => import_bar(page),
            DocumentKind::Tenant => html! {
                <label class="which">
                    { "Tenant" }
                    <input
                        placeholder="the only one"
                        spellcheck="false"
                        autocomplete="off"
                        value={page.content().tenant_id.to_string()}
                        oninput={name}
                    />
                </label>
            },
            DocumentKind::Policy => html! {
                <p class="which" hidden={page.editors.is_filled(kind)}>{ starter(page) }</p>
            },
            _ => Html::default(),
        }
    }

    fn press(actor: &Actor, event: &KeyboardEvent, writing: bool) -> bool {
        // Not by the character of the key: with Alt it is another one on some systems.
        let code = event.code();
        let digit = code
            .strip_prefix("Digit")
            .and_then(|it| it.parse::<usize>().ok());
        let tab = digit.and_then(|digit| TABS.get(digit.checked_sub(1)?));
        match (event.alt_key(), tab) {
            (true, Some((tab, name, _))) => {
                actor.update(|state| {
                    state.pane = Pane::Answer;
                    state.content.open_tab(*tab);
                });
                focus(&format!("tab-{name}"));
                true
            }
            (false, _) if event.key() == "Escape" && !writing => {
                actor.update(|state| state.content.close_explanation());
                true
            }
            _ => false,
        }
    }
}
