//! The state of the page, and its actions.

use crate::import::Import;
use agent_answer::{Diagnostic, DocumentKind, Filter, Outcome, Requirement, Verdict};
use agent_ui::names::Lookalikes;
use agent_worker_protocol::{Answer, ExplanationRequest, MatrixRequest, Request};
use std::rc::Rc;

pub(crate) type Actor = agent_ui::page::Actor<Servers>;
pub(crate) type Page = agent_ui::page::Page<Servers>;
pub(crate) type State = agent_ui::state::State<Servers>;

/// Number of entries of a list to request at first, and again each time.
pub(crate) const LIST_STEP: u32 = 50;

/// Number of bytes of `agents.resolution.json` to request at first: an explanation may have 30 MB.
pub(crate) const EXPLAINED: u32 = 64 << 10;

/// Maximum number of requirements whose earlier selections are remembered.
const REMEMBERED: usize = 200;

/// A view of the answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Tab {
    #[default]
    Verdict,
    Matrix,
    WhatIf,
    Policy,
    Lock,
    Resolution,
}

/// A text that changes now and then, and its earlier versions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct History {
    pub(crate) now: Option<Rc<str>>,
    /// The last version.
    last: Option<Rc<str>>,
    /// The version before the last, which was different.
    pub(crate) before: Option<Rc<str>>,
}

impl History {
    /// Adds a version. Without a version, the next one is still compared with the last.
    pub(crate) fn add(&mut self, next: Option<&str>) {
        if next.is_some() && next != self.last.as_deref() {
            self.before = std::mem::replace(&mut self.last, next.map(Rc::from));
        }
        self.now = next.and(self.last.clone());
    }
}

/// The page of servers and tools.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Servers {
    /// The id of the tenant, which is sent with the text of the tenants. Blank: the only one.
    pub(crate) tenant_id: Rc<str>,
    /// The last verdict; `None` before the first.
    pub(crate) verdict: Option<Rc<Verdict>>,
    /// The last decision, while an input has errors.
    pub(crate) decided_before: Option<Rc<Verdict>>,
    pub(crate) problems: Rc<[Diagnostic]>,
    /// The names of servers that look like others.
    pub(crate) lookalikes: Lookalikes,
    /// The selections of the requirements, by their names, in the order of the verdict.
    pub(crate) selections: Vec<(String, History)>,
    pub(crate) lock: History,
    pub(crate) resolution: History,
    pub(crate) wanted: Request,
    /// The last answer, without its verdict.
    pub(crate) views: Rc<Answer>,
    pub(crate) tab: Tab,
    /// The import that the page prepares.
    pub(crate) import: Import,
    /// The file to make of the next explanation, if the user asked for one.
    pub(crate) exported: Option<&'static str>,
}

impl Servers {
    /// Returns the requirements of the last verdict.
    pub(crate) fn requirements(&self) -> &[Requirement] {
        let verdict = self.verdict.as_ref();
        verdict.map_or(&[], |verdict| &verdict.requirements)
    }

    /// Stores the selections of a verdict together with the former ones. A requirement is the
    /// former one of its name in its place, or else another one that left its place.
    pub(crate) fn note_selections(&mut self, verdict: &Verdict) {
        let former = std::mem::take(&mut self.selections);
        let requirements = verdict.requirements.iter().take(REMEMBERED);
        let names: Vec<_> = requirements.clone().map(Requirement::name).collect();
        let stays = |at: usize| names.get(at) == former.get(at).map(|(name, _)| name);
        let history = |at: usize| {
            let mut others = (0..former.len()).filter(|it| !stays(*it));
            let found = match stays(at) {
                true => Some(at),
                false => others.find(|it| former[*it].0 == names[at]),
            };
            found.map(|it| former[it].1.clone()).unwrap_or_default()
        };
        let selections = requirements.enumerate().map(|(at, requirement)| {
            let mut history = history(at);
            history.add(Some(&selection(requirement)));
            (names[at].clone(), history)
        });
        self.selections = selections.collect();
    }

    /// Opens a tab. Of the requested views only those in the tab stay.
    pub(crate) fn open_tab(&mut self, tab: Tab) {
        self.tab = tab;
        self.exported = None;
        let explained = self.wanted.resolution.unwrap_or(EXPLAINED);
        self.wanted.resolution = (tab == Tab::Resolution).then_some(explained);
        self.wanted.matrix = (tab == Tab::Matrix).then(|| {
            self.wanted.matrix.take().unwrap_or(MatrixRequest {
                filter: Filter::default(),
                offset: 0,
                limit: LIST_STEP,
            })
        });
        self.wanted.counts = tab == Tab::WhatIf;
        self.wanted.policy = None;
        self.wanted.tried.clear();
        self.ask_policy();
        if tab != Tab::WhatIf {
            self.wanted.supposed = None;
        }
    }

    /// Requests the rules of the policy for the first requirement that it decided, unless those of
    /// another one are requested.
    pub(crate) fn ask_policy(&mut self) {
        let decided = |number: usize| {
            let requirement = self.requirements().get(number);
            requirement.is_some_and(|it| it.policy_decision.is_some())
        };
        let present = self.wanted.policy.filter(|it| decided(*it as usize));
        let first = (0..self.requirements().len()).find(|it| decided(*it));
        let asked = present.or(first.map(|it| it as u32));
        self.wanted.policy = asked.filter(|_| self.tab == Tab::Policy);
    }

    /// Requests the rows of a window of the matrix.
    pub(crate) fn show_rows(&mut self, offset: u32, limit: u32) {
        if let Some(matrix) = &mut self.wanted.matrix {
            (matrix.offset, matrix.limit) = (offset, limit);
        }
    }

    /// Requests the first rows that fit a filter.
    pub(crate) fn filter_rows(&mut self, filter: Filter) {
        if let Some(matrix) = &mut self.wanted.matrix {
            (matrix.filter, matrix.offset) = (filter, 0);
        }
    }

    /// Requests all of `agents.resolution.json`.
    pub(crate) fn explain_whole(&mut self) {
        self.wanted.resolution = Some(u32::MAX);
    }

    pub(crate) fn close_explanation(&mut self) {
        self.wanted.explanation = None;
        Rc::make_mut(&mut self.views).explanation = None;
    }
}

/// Returns the name of the selected server or tool.
fn selection(requirement: &Requirement) -> String {
    let Outcome::Selected(selected) = &requirement.outcome else {
        let is_tool = requirement.capability.is_some();
        return if is_tool { "no tool" } else { "no server" }.to_owned();
    };
    let tool = selected.tool.as_ref();
    let tool = tool.map_or_else(String::new, |tool| format!(" / {}", tool.name));
    format!("{} {}{tool}", selected.server.id, selected.server.version)
}

/// Requests an explanation. Its places are marked in the index, which comes to the front. If one is
/// open already, the visible document stays.
pub(crate) fn explain(state: &mut State, request: ExplanationRequest) {
    if state.content.wanted.explanation.is_none() {
        state.lower = DocumentKind::Index;
    }
    state.content.wanted.explanation = Some(request);
}

/// Chooses a tenant by its id.
pub(crate) fn name_tenant(state: &mut State, id: Rc<str>) {
    state.content.tenant_id = id;
    state.edit(&[DocumentKind::Tenant]);
}

#[cfg(test)]
mod tests {
    use super::{EXPLAINED, History, LIST_STEP, State, Tab, explain, name_tenant};
    use agent_answer::{
        CandidateVerdict, Constraints, DocumentKind, Explanation, Filter, Listed, Matrix, Outcome,
        Place, PolicyDecision, Position, Requirement, Selected, Server, ServerName, Span, Supposed,
        Verdict,
    };
    use agent_ui::areas::Area;
    use agent_ui::content::Documents as _;
    use agent_ui::notice::Notice;
    use agent_ui::state::{Engine, Pane};
    use agent_ui::worker::WorkerEvent;
    use agent_worker_protocol::{
        About, Answer, Explained, ExplanationRequest, ListRequest, MatrixRequest, RejectedRequest,
        Request,
    };

    type Change = fn(&mut State);

    fn start() -> State {
        State::new(Area::Servers)
    }

    /// The state after changes, each of which counts as one.
    fn after(mut state: State, changes: &[Change]) -> State {
        for change in changes {
            state.change(change);
        }
        state
    }

    fn explanation() -> ExplanationRequest {
        ExplanationRequest {
            requirement: 0,
            server: ServerName {
                id: "a".to_owned(),
                version: "1".to_owned(),
            },
            tool: None,
        }
    }

    const REJECTED: RejectedRequest = RejectedRequest {
        requirement: 0,
        check: 1,
        limit: LIST_STEP,
    };

    const ELIGIBLE: ListRequest = ListRequest {
        requirement: 0,
        limit: LIST_STEP,
    };

    fn filter() -> Filter {
        Filter {
            id: "a".to_owned(),
            ..Filter::default()
        }
    }

    fn matrix(filter: Filter, offset: u32, limit: u32) -> MatrixRequest {
        MatrixRequest {
            filter,
            offset,
            limit,
        }
    }

    fn strict() -> Constraints {
        Constraints {
            require_signed: true,
            ..Constraints::default()
        }
    }

    const REQUEST_EXPLANATION: Change = |state| explain(state, explanation());
    const LIST_REJECTED: Change = |state| state.content.wanted.rejected = Some(REJECTED);
    const LIST_ELIGIBLE: Change = |state| state.content.wanted.eligible = Some(ELIGIBLE);
    const SUPPOSE_STRICT: Change = |state| state.content.wanted.supposed = Some(strict());
    const FILTER: Change = |state| state.content.filter_rows(filter());
    const SCROLL: Change = |state| state.content.show_rows(100, 30);
    const CLOSE: Change = |state| state.content.close_explanation();
    const EDIT_INDEX: Change = |state| state.edit(&[DocumentKind::Index]);

    fn replace_all(state: &mut State) {
        state.replace(&super::Servers::kinds().collect::<Vec<_>>());
    }

    fn answer(state: &mut State, revision: u32, answer: Answer) {
        state.change(|state| {
            state.handle(WorkerEvent::Answered {
                revision,
                answer,
                milliseconds: 1.5,
            });
        });
    }

    fn verdict(verdict: Verdict) -> Answer {
        Answer {
            verdict: Some(verdict),
            ..Answer::default()
        }
    }

    /// An answer with a lock, or with none.
    fn locked(lock: Option<&str>) -> Answer {
        verdict(Verdict {
            lock: lock.map(str::to_owned),
            ..Verdict::default()
        })
    }

    fn resolved(text: Result<&str, &str>) -> Answer {
        Answer {
            resolution: Some(match text {
                Ok(text) => Ok(Explained {
                    text: text.to_owned(),
                    is_whole: true,
                }),
                Err(reason) => Err(reason.to_owned()),
            }),
            ..Answer::default()
        }
    }

    /// A state in which all views of a tab are open.
    fn open(tab: Tab) -> State {
        let mut state = start();
        state.change(|state| state.content.open_tab(tab));
        after(state, &[REQUEST_EXPLANATION, LIST_REJECTED, LIST_ELIGIBLE])
    }

    #[test]
    fn an_edit_is_counted_and_requested() {
        let edit_lock: Change = |state| state.edit(&[DocumentKind::Lock]);
        let state = after(start(), &[EDIT_INDEX, edit_lock, EDIT_INDEX]);
        assert_eq!(state.edits[..4], [0, 2, 1, 0]);
        assert_eq!(state.revision, 3);
    }

    #[test]
    fn every_change_that_needs_a_request_raises_the_revision() {
        let changes: [(State, Change); 13] = [
            (start(), |state| state.edit(&[DocumentKind::Manifest])),
            (start(), replace_all),
            (start(), |state| name_tenant(state, "acme".into())),
            (start(), REQUEST_EXPLANATION),
            (start(), LIST_REJECTED),
            (start(), LIST_ELIGIBLE),
            (start(), |state| state.content.open_tab(Tab::Matrix)),
            (start(), |state| state.content.open_tab(Tab::Resolution)),
            (start(), |state| state.content.open_tab(Tab::WhatIf)),
            (open(Tab::Matrix), SCROLL),
            (open(Tab::Matrix), FILTER),
            (open(Tab::WhatIf), SUPPOSE_STRICT),
            (open(Tab::Verdict), CLOSE),
        ];
        for (at, (state, change)) in changes.into_iter().enumerate() {
            let before = state.revision;
            let after = after(state, &[change]);
            assert_eq!(after.revision, before + 1, "change {at}");
            assert!(after.stale(), "change {at}");
        }
    }

    #[test]
    fn no_other_change_raises_the_revision() {
        let changes: [(State, Change); 20] = [
            (start(), |state| {
                state.handle(WorkerEvent::Ready(About::default()));
            }),
            (start(), |state| {
                state.handle(WorkerEvent::Failed(String::new()));
            }),
            (start(), |state| answer(state, 0, locked(Some("{}")))),
            (start(), |state| answer(state, 0, resolved(Ok("{}")))),
            (start(), |state| state.content.open_tab(Tab::Verdict)),
            (start(), |state| state.content.open_tab(Tab::Lock)),
            (start(), |state| state.pane = Pane::Answer),
            (start(), |state| state.show_input(DocumentKind::Lock)),
            (start(), |state| state.dialog = None),
            (start(), |state| state.notice = Some(Notice::done(""))),
            (start(), CLOSE),
            (start(), |state| state.content.wanted.rejected = None),
            (start(), |state| state.content.wanted.supposed = None),
            // The view is open already.
            (open(Tab::Verdict), REQUEST_EXPLANATION),
            (open(Tab::Verdict), LIST_REJECTED),
            (open(Tab::Matrix), |state| {
                state.content.open_tab(Tab::Matrix);
            }),
            (open(Tab::Matrix), |state| {
                state.content.filter_rows(Filter::default());
            }),
            (open(Tab::Matrix), |state| {
                state.content.show_rows(0, LIST_STEP);
            }),
            // No matrix is visible.
            (open(Tab::Verdict), SCROLL),
            (open(Tab::Verdict), FILTER),
        ];
        for (at, (state, change)) in changes.into_iter().enumerate() {
            let before = state.revision;
            assert_eq!(after(state, &[change]).revision, before, "change {at}");
        }
    }

    #[test]
    fn each_tab_requests_only_its_own_view() {
        let rows = matrix(Filter::default(), 0, LIST_STEP);
        let tabs = [
            (Tab::Verdict, None, false),
            (Tab::Matrix, Some(rows), false),
            (Tab::WhatIf, None, false),
            (Tab::Lock, None, false),
            (Tab::Resolution, None, true),
        ];
        for (from, ..) in tabs.clone() {
            for (tab, matrix, resolution) in tabs.clone() {
                let mut content = start().content;
                content.open_tab(from);
                content.open_tab(tab);
                let wanted = Request {
                    matrix,
                    resolution: resolution.then_some(EXPLAINED),
                    counts: tab == Tab::WhatIf,
                    ..Request::default()
                };
                let opened = (content.tab, content.wanted);
                assert_eq!(opened, (tab, wanted), "from {from:?}");
            }
        }
    }

    #[test]
    fn suppositions_last_as_long_as_their_tab() {
        let mut content = start().content;
        content.open_tab(Tab::WhatIf);
        content.wanted.supposed = Some(strict());
        content.open_tab(Tab::WhatIf);
        assert_eq!(content.wanted.supposed, Some(strict()));
        content.open_tab(Tab::Lock);
        assert_eq!(content.wanted.supposed, None);
    }

    #[test]
    fn another_filter_shows_the_first_rows_of_the_matrix() {
        let mut content = start().content;
        content.open_tab(Tab::Matrix);
        content.filter_rows(filter());
        content.show_rows(100, 30);
        content.open_tab(Tab::Matrix);
        assert_eq!(content.wanted.matrix, Some(matrix(filter(), 100, 30)));
        content.filter_rows(Filter::default());
        let first = matrix(Filter::default(), 0, 30);
        assert_eq!(content.wanted.matrix, Some(first));
    }

    #[test]
    fn other_texts_close_the_views_and_clear_the_history() {
        let name: Change = |state| name_tenant(state, "acme".into());
        let mut state = after(open(Tab::Matrix), &[name, FILTER, SCROLL]);
        for text in ["one", "two"] {
            answer(&mut state, 0, locked(Some(text)));
            answer(&mut state, 0, resolved(Ok(text)));
        }
        let before = state.revision;
        let state = after(state, &[replace_all]);
        assert_eq!(state.revision, before + 1);
        assert_eq!(state.edits[..9], [1, 1, 1, 1, 2, 1, 1, 1, 0]);
        let content = state.content;
        assert_eq!(&*content.tenant_id, "");
        assert_eq!(content.lock, History::default());
        assert_eq!(content.resolution, History::default());
        let wanted = Request {
            matrix: Some(matrix(Filter::default(), 0, 30)),
            ..Request::default()
        };
        assert_eq!(content.wanted, wanted);
        // The tab stays, and so does the last verdict until the next one.
        assert_eq!(content.tab, Tab::Matrix);
        assert!(content.verdict.is_some());

        let state = after(open(Tab::WhatIf), &[SUPPOSE_STRICT, replace_all]);
        let wanted = Request {
            counts: true,
            ..Request::default()
        };
        assert_eq!(state.content.wanted, wanted);
    }

    #[test]
    fn a_lock_is_compared_with_the_last_different_one() {
        let mut state = start();
        for (lock, before) in [
            (Some("one"), None),
            (Some("one"), None),
            (Some("two"), Some("one")),
            (Some("two"), Some("one")),
            (Some("three"), Some("two")),
            // While a requirement has no server there is no lock.
            (None, Some("two")),
            (Some("three"), Some("two")),
            (None, Some("two")),
            (Some("four"), Some("three")),
        ] {
            answer(&mut state, 0, locked(lock));
            assert_eq!(state.content.lock.now.as_deref(), lock);
            assert_eq!(state.content.lock.before.as_deref(), before, "{lock:?}");
        }
    }

    fn requirement(policy_decision: Option<PolicyDecision>) -> Requirement {
        Requirement {
            category: Some("a".to_owned()),
            capability: None,
            permissions: vec![],
            only: vec![],
            serve: vec![],
            place: Place {
                source: DocumentKind::Manifest,
                number: 0,
                span: Span::default(),
                start: Position::line_start(1),
                end: Position::line_start(1),
            },
            all: 1,
            funnel: vec![],
            policy_decision,
            outcome: Outcome::Unsatisfied { nearest: vec![] },
        }
    }

    #[test]
    fn the_policy_is_asked_about_a_requirement_that_it_decided() {
        let decided = |all: &[bool]| {
            let decision = PolicyDecision {
                error: None,
                error_at: None,
                lines: vec![],
            };
            let all = all.iter().map(|it| it.then(|| decision.clone()));
            verdict(Verdict {
                satisfied: Some(false),
                requirements: all.map(requirement).collect(),
                ..Verdict::default()
            })
        };
        let mut state = start();
        answer(&mut state, 0, decided(&[false, true, true]));
        assert_eq!(state.content.wanted.policy, None);
        state.change(|state| state.content.open_tab(Tab::Policy));
        assert_eq!(state.content.wanted.policy, Some(1));
        // A choice stays, as long as the policy decides the requirement.
        state.change(|state| state.content.wanted.policy = Some(2));
        answer(&mut state, 0, decided(&[true, true, true]));
        assert_eq!(state.content.wanted.policy, Some(2));
        answer(&mut state, 0, decided(&[true]));
        assert_eq!(state.content.wanted.policy, Some(0));
        answer(&mut state, 0, decided(&[false]));
        assert_eq!(state.content.wanted.policy, None);
        answer(&mut state, 0, decided(&[true]));
        state.change(|state| state.content.open_tab(Tab::Verdict));
        assert_eq!(state.content.wanted.policy, None);
    }

    #[test]
    fn a_selection_is_compared_with_the_last_different_one() {
        let requirement = |id: Option<&str>| Requirement {
            outcome: match id {
                None => Outcome::Unsatisfied { nearest: vec![] },
                Some(id) => Outcome::Selected(Selected {
                    server: ServerName {
                        id: id.to_owned(),
                        version: "1".to_owned(),
                    },
                    tool: None,
                    endpoint: String::new(),
                    unknown: vec![],
                    hash: String::new(),
                    over: None,
                    fallback: None,
                }),
            },
            ..requirement(None)
        };
        let mut state = start();
        // Of two requirements with one name, the order decides which is which.
        for (selected, before) in [
            ([Some("x"), Some("y")], [None, None]),
            ([Some("x"), Some("z")], [None, Some("y 1")]),
            ([Some("x"), None], [None, Some("z 1")]),
            ([Some("x"), None], [None, Some("z 1")]),
            ([Some("x"), Some("y")], [None, Some("no server")]),
        ] {
            let requirements = selected.map(requirement).to_vec();
            let satisfied = Some(requirements.len() == 2);
            let answered = verdict(Verdict {
                satisfied,
                requirements,
                ..Verdict::default()
            });
            answer(&mut state, 0, answered);
            // An input with errors changes nothing.
            answer(&mut state, 0, verdict(Verdict::default()));
            let selections = state.content.selections.iter();
            let found: Vec<_> = selections.map(|(_, it)| it.before.as_deref()).collect();
            assert_eq!(found, before, "{selected:?}");
        }
        // A requirement that gets the name of another is a new one.
        let named = |name: &str, id| Requirement {
            category: Some(name.to_owned()),
            ..requirement(id)
        };
        for requirements in [
            vec![named("b", Some("x")), named("a", Some("y"))],
            vec![named("a", Some("z")), named("a", Some("y"))],
        ] {
            let answered = verdict(Verdict {
                satisfied: Some(true),
                requirements,
                ..Verdict::default()
            });
            answer(&mut state, 0, answered);
            let selections = state.content.selections.iter();
            let found: Vec<_> = selections.map(|(_, it)| it.before.as_deref()).collect();
            assert_eq!(found, [None, Some("no server")]);
        }
        replace_all(&mut state);
        assert!(state.content.selections.is_empty());
    }

    #[test]
    fn a_resolution_is_compared_with_the_last_visible_one() {
        let mut state = start();
        for (given, now, before) in [
            (resolved(Ok("one")), Some("one"), None),
            (resolved(Ok("two")), Some("two"), Some("one")),
            // Not requested, and too large.
            (Answer::default(), Some("two"), Some("one")),
            (resolved(Err("too large")), Some("two"), Some("one")),
            (resolved(Ok("two")), Some("two"), Some("one")),
            (resolved(Ok("three")), Some("three"), Some("two")),
        ] {
            answer(&mut state, 0, given);
            assert_eq!(state.content.resolution.now.as_deref(), now);
            assert_eq!(state.content.resolution.before.as_deref(), before);
        }
    }

    #[test]
    fn a_verdict_stays_until_the_next_one_and_a_view_until_the_next_answer() {
        let servers = Verdict {
            servers: Some(3),
            ..Verdict::default()
        };
        let first = Answer {
            matrix: Some(Matrix {
                total: 3,
                offset: 0,
                rows: vec![],
            }),
            rejected: Some(Listed {
                requirement: 0,
                total: 0,
                items: vec![],
            }),
            supposed: Some(Supposed {
                requirements: vec![],
                adopt: None,
            }),
            ..verdict(servers.clone())
        };
        let mut state = after(start(), &[EDIT_INDEX]);
        answer(&mut state, 1, first);
        assert!(!state.stale());
        assert_eq!(state.milliseconds, 1.5);
        let views = &state.content.views;
        assert!(views.matrix.is_some() && views.rejected.is_some() && views.supposed.is_some());
        assert!(views.eligible.is_none());

        // The time is that of the verdict, not that of the views.
        state.milliseconds = 7.0;
        answer(&mut state, 2, Answer::default());
        assert_eq!(state.content.verdict.as_deref(), Some(&servers));
        assert_eq!(state.milliseconds, 7.0);
        assert_eq!(*state.content.views, Answer::default());
    }

    #[test]
    fn an_answer_to_an_earlier_request_leaves_the_page_stale() {
        let mut state = after(start(), &[EDIT_INDEX, EDIT_INDEX]);
        answer(&mut state, 1, Answer::default());
        assert!(state.stale());
        answer(&mut state, 2, Answer::default());
        assert!(!state.stale());
    }

    #[test]
    fn closing_an_explanation_removes_it_at_once_and_for_good() {
        let point = Position::line_start(1);
        let server = Server {
            id: "a".to_owned(),
            version: "1".to_owned(),
            endpoint: String::new(),
            categories: vec![],
            scopes: vec![],
            residency: vec![],
            max_sensitivity: String::new(),
            signed: false,
            publisher: String::new(),
            place: Place {
                source: DocumentKind::Index,
                number: 0,
                span: Span::default(),
                start: point,
                end: point,
            },
        };
        let explained = Answer {
            explanation: Some(Explanation {
                requirement: 0,
                server,
                tool: None,
                others: vec![],
                verdict: CandidateVerdict::Rejected,
                checks: vec![],
                reasons: vec![],
                fixes: vec![],
                suppositions: vec![],
                health: None,
            }),
            ..Answer::default()
        };
        let mut state = open(Tab::Verdict);
        answer(&mut state, 0, explained.clone());
        assert_eq!(*state.content.views, explained);
        state.change(CLOSE);
        assert_eq!(state.content.views.explanation, None);
        assert_eq!(state.content.wanted.explanation, None);
        // The other open views stay open.
        assert_eq!(state.content.wanted.rejected, Some(REJECTED));
        // The answer to the request before may still arrive.
        answer(&mut state, 0, explained);
        assert_eq!(state.content.views.explanation, None);
    }

    #[test]
    fn showing_a_document_brings_it_to_the_front() {
        let mut state = start();
        for (kind, lower) in [
            (DocumentKind::Lock, DocumentKind::Lock),
            // The manifest has a separate place: the document below it stays.
            (DocumentKind::Manifest, DocumentKind::Lock),
            // The context is below the policy.
            (DocumentKind::Context, DocumentKind::Policy),
            (DocumentKind::Index, DocumentKind::Index),
        ] {
            state.show_input(kind);
            assert_eq!((state.lower, state.pane), (lower, Pane::Input(kind)));
        }
    }

    #[test]
    fn an_explanation_brings_the_index_to_the_front_when_it_opens() {
        let mut state = start();
        state.show_input(DocumentKind::Lock);
        explain(&mut state, explanation());
        assert_eq!(state.lower, DocumentKind::Index);
        state.show_input(DocumentKind::Lock);
        explain(&mut state, explanation());
        assert_eq!(state.lower, DocumentKind::Lock);
    }

    #[test]
    fn the_condition_of_the_engine_follows_its_worker() {
        let about = About {
            version: "1".to_owned(),
            ..About::default()
        };
        let mut state = start();
        for (event, engine) in [
            (
                WorkerEvent::Failed("memory".to_owned()),
                Engine::Failed("memory".to_owned()),
            ),
            (WorkerEvent::Loading("…"), Engine::Loading("…")),
            (WorkerEvent::Ready(about.clone()), Engine::Ready),
        ] {
            state.handle(event);
            assert_eq!(state.engine, engine);
        }
        assert_eq!(*state.about, about);
    }

    #[test]
    fn an_answer_that_comes_too_late_changes_nothing() {
        let mut state = after(start(), &[EDIT_INDEX]);
        let revision = state.revision;
        state.change(replace_all);
        let replaced = state.clone();
        answer(&mut state, revision, verdict(Verdict::default()));
        assert_eq!(state, replaced);
    }
}
