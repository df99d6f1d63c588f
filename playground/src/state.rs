//! All that the page knows, but for the texts, which are in their editors.

use crate::inputs::INPUTS;
use agent_protocol::{
    About, Answer, Constraints, DocumentKind, Eligible, Explanation, ExplanationRequest, Filter,
    ListRequest, Listed, Matrix, MatrixRequest, Rejected, RejectedRequest, Supposed, Verdict,
    Wanted,
};
use agent_ui::notice::Notice;
use std::rc::Rc;
use yew::Reducible;

/// How many entries of a list are asked for at first, and again each time.
pub(crate) const LIST_STEP: u32 = 50;

/// How the engine is doing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Engine {
    /// It is being loaded.
    #[default]
    Starting,
    /// The one that evaluates policies is being loaded.
    LoadingPolicies,
    /// It answers.
    Ready,
    /// It does not. Why.
    Failed(String),
}

/// What the right-hand side shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Tab {
    #[default]
    Verdict,
    Matrix,
    WhatIf,
    Lock,
    Resolution,
}

/// What of the page is seen where there is room for one thing only.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Pane {
    Input(DocumentKind),
    #[default]
    Answer,
}

/// What lies over the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Dialog {
    Examples,
    Help,
    Share,
}

/// What was answered of the views that are open.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Views {
    pub(crate) matrix: Option<Rc<Matrix>>,
    pub(crate) explanation: Option<Rc<Explanation>>,
    pub(crate) rejected: Option<Rc<Listed<Rejected>>>,
    pub(crate) eligible: Option<Rc<Listed<Eligible>>>,
    pub(crate) supposed: Option<Rc<Supposed>>,
    pub(crate) resolution: Option<Result<Rc<str>, String>>,
}

/// A text that is replaced now and then, and what it was before.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Succession {
    pub(crate) now: Option<Rc<str>>,
    /// The last one that there was.
    last: Option<Rc<str>>,
    /// The one before that, which was different.
    pub(crate) before: Option<Rc<str>>,
}

impl Succession {
    /// Takes the next text. That there is none for a while is passed over: the last one is still
    /// what the next one is compared with.
    fn follow(&mut self, next: Option<&str>) {
        if next.is_some() && next != self.last.as_deref() {
            self.before = std::mem::replace(&mut self.last, next.map(Rc::from));
        }
        self.now = next.and(self.last.clone());
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct State {
    pub(crate) engine: Engine,
    /// What the engine said of itself.
    pub(crate) about: Rc<About>,
    /// Raised with everything that has to be asked.
    pub(crate) revision: u32,
    /// The revision of the last answer.
    pub(crate) answered: u32,
    /// The revision since which there are other texts altogether.
    replaced: u32,
    /// How long the engine took for the last verdict; 0 before the first.
    pub(crate) milliseconds: f64,
    /// How often each text was changed, by input.
    pub(crate) edits: [u32; INPUTS.len()],
    /// Which tenant is meant; it counts as a part of their text. Blank: the only one.
    pub(crate) tenant_id: Rc<str>,
    /// None: nothing was answered yet.
    pub(crate) verdict: Option<Rc<Verdict>>,
    pub(crate) lock: Succession,
    pub(crate) resolution: Succession,
    pub(crate) wanted: Wanted,
    pub(crate) views: Views,
    pub(crate) tab: Tab,
    pub(crate) pane: Pane,
    /// Which of the inputs below the manifest is seen.
    pub(crate) lower: DocumentKind,
    pub(crate) dialog: Option<Dialog>,
    pub(crate) notice: Option<Notice>,
}

impl Default for State {
    fn default() -> Self {
        Self {
            engine: Engine::default(),
            about: Rc::default(),
            revision: 0,
            answered: 0,
            replaced: 0,
            milliseconds: 0.0,
            edits: [0; INPUTS.len()],
            tenant_id: Rc::default(),
            verdict: None,
            lock: Succession::default(),
            resolution: Succession::default(),
            wanted: Wanted::default(),
            views: Views::default(),
            tab: Tab::default(),
            pane: Pane::default(),
            lower: DocumentKind::Index,
            dialog: None,
            notice: None,
        }
    }
}

/// What happens.
#[derive(Debug, Clone)]
pub(crate) enum Action {
    /// The engine with the evaluator of policies is being loaded in place of the other one.
    PoliciesLoading,
    /// The engine is there.
    EngineReady(Rc<About>),
    /// The engine does not answer any more.
    EngineFailed(String),
    /// These texts were changed.
    Edited(DocumentKind),
    /// Another tenant is meant.
    NameTenant(Rc<str>),
    /// Other texts altogether were put in, and this tenant is meant: what was before is of no
    /// interest.
    Replaced(Rc<str>),
    Answered(Rc<Answer>),
    OpenTab(Tab),
    OpenPane(Pane),
    ShowInput(DocumentKind),
    /// Shows an input where there is room for it beside what is seen.
    BringInput(DocumentKind),
    OpenDialog(Dialog),
    CloseDialog,
    Tell(Notice),
    CloseNotice,
    TellStory(ExplanationRequest),
    CloseStory,
    ListFallen(Option<RejectedRequest>),
    ListEligible(Option<ListRequest>),
    ShowRows {
        offset: u32,
        limit: u32,
    },
    FilterRows(Filter),
    Suppose(Option<Constraints>),
}

impl From<Notice> for Action {
    fn from(notice: Notice) -> Self {
        Self::Tell(notice)
    }
}

impl Reducible for State {
    type Action = Action;

    fn reduce(self: Rc<Self>, action: Action) -> Rc<Self> {
        let mut state = Rc::unwrap_or_clone(self);
        let wanted = state.wanted.clone();
        state.apply(action);
        if state.wanted != wanted {
            state.revision += 1;
        }
        Rc::new(state)
    }
}

impl State {
    /// Whether what is shown is of an earlier state of the inputs.
    pub(crate) fn stale(&self) -> bool {
        self.answered != self.revision
    }

    fn apply(&mut self, action: Action) {
        match action {
            Action::EngineReady(about) => {
                self.engine = Engine::Ready;
                self.about = about;
            }
            Action::PoliciesLoading => self.engine = Engine::LoadingPolicies,
            Action::EngineFailed(reason) => self.engine = Engine::Failed(reason),
            Action::Edited(source) => {
                self.edits[source as usize] += 1;
                self.revision += 1;
            }
            Action::NameTenant(id) => {
                self.tenant_id = id;
                self.edits[DocumentKind::Tenant as usize] += 1;
                self.revision += 1;
            }
            Action::Replaced(tenant_id) => {
                self.tenant_id = tenant_id;
                for edits in &mut self.edits {
                    *edits += 1;
                }
                self.revision += 1;
                self.replaced = self.revision;
                self.lock = Succession::default();
                self.resolution = Succession::default();
                self.close_views();
                self.wanted.supposed = None;
                if let Some(matrix) = &mut self.wanted.matrix {
                    matrix.filter = Filter::default();
                    matrix.offset = 0;
                }
            }
            Action::Answered(answer) => self.answered(Rc::unwrap_or_clone(answer)),
            Action::OpenTab(tab) => self.open_tab(tab),
            Action::OpenPane(pane) => {
                if let Pane::Input(source) = pane {
                    self.show_input(source);
                }
                self.pane = pane;
            }
            Action::ShowInput(source) => {
                self.show_input(source);
                self.pane = Pane::Input(source);
            }
            Action::BringInput(source) => self.show_input(source),
            Action::OpenDialog(dialog) => self.dialog = Some(dialog),
            Action::CloseDialog => self.dialog = None,
            Action::Tell(notice) => self.notice = Some(notice),
            Action::CloseNotice => self.notice = None,
            Action::TellStory(ask) => {
                // Its places are marked there. Where it is told already, somebody looks at others.
                if self.wanted.explanation.is_none() {
                    self.lower = DocumentKind::Index;
                }
                self.wanted.explanation = Some(ask);
            }
            Action::CloseStory => {
                self.wanted.explanation = None;
                self.views.explanation = None;
            }
            Action::ListFallen(ask) => self.wanted.rejected = ask,
            Action::ListEligible(ask) => self.wanted.eligible = ask,
            Action::ShowRows { offset, limit } => {
                if let Some(matrix) = &mut self.wanted.matrix {
                    (matrix.offset, matrix.limit) = (offset, limit);
                }
            }
            Action::FilterRows(filter) => {
                if let Some(matrix) = &mut self.wanted.matrix {
                    matrix.filter = filter;
                    matrix.offset = 0;
                }
            }
            Action::Suppose(constraints) => self.wanted.supposed = constraints,
        }
    }

    fn show_input(&mut self, source: DocumentKind) {
        match source {
            DocumentKind::Manifest => {}
            // It is beside the policy.
            DocumentKind::Context => self.lower = DocumentKind::Policy,
            source => self.lower = source,
        }
    }

    fn close_views(&mut self) {
        self.wanted.explanation = None;
        self.wanted.rejected = None;
        self.wanted.eligible = None;
        self.views.explanation = None;
    }

    /// Only what is seen is asked for.
    fn open_tab(&mut self, tab: Tab) {
        self.tab = tab;
        self.wanted.resolution = tab == Tab::Resolution;
        self.wanted.matrix = (tab == Tab::Matrix).then(|| {
            self.wanted.matrix.take().unwrap_or(MatrixRequest {
                filter: Filter::default(),
                offset: 0,
                limit: LIST_STEP,
            })
        });
        if tab != Tab::WhatIf {
            self.wanted.supposed = None;
        }
    }

    fn answered(&mut self, answer: Answer) {
        if answer.revision < self.replaced {
            // About texts that are gone; the others are asked about.
            return;
        }
        self.answered = answer.revision;
        if let Some(verdict) = answer.verdict {
            // While an input has errors, the answer of before stays in sight.
            self.lock.follow(verdict.lock.as_deref());
            self.verdict = Some(Rc::new(verdict));
            self.milliseconds = answer.milliseconds;
        }
        if let Some(Ok(text)) = &answer.resolution {
            self.resolution.follow(Some(text));
        }
        self.views = Views {
            matrix: answer.matrix.map(Rc::new),
            // It may have been closed since it was asked for.
            explanation: self
                .wanted
                .explanation
                .as_ref()
                .and(answer.explanation.map(Rc::new)),
            rejected: answer.rejected.map(Rc::new),
            eligible: answer.eligible.map(Rc::new),
            supposed: answer.supposed.map(Rc::new),
            resolution: answer.resolution.map(|resolution| match resolution {
                Ok(text) => Ok(self.resolution.now.clone().unwrap_or_else(|| text.into())),
                Err(reason) => Err(reason),
            }),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::{Action, Dialog, Engine, LIST_STEP, Notice, Pane, State, Succession, Tab};
    use agent_protocol::{
        About, Answer, Constraints, DocumentKind, ExplanationRequest, Filter, ListRequest, Listed,
        Matrix, MatrixRequest, RejectedRequest, ServerName, Supposed, Verdict, Wanted,
    };
    use std::rc::Rc;
    use yew::Reducible as _;

    fn after(state: State, actions: impl IntoIterator<Item = Action>) -> State {
        let state = actions.into_iter().fold(Rc::new(state), State::reduce);
        Rc::unwrap_or_clone(state)
    }

    fn story() -> ExplanationRequest {
        ExplanationRequest {
            requirement: 0,
            server: ServerName {
                id: "a".to_owned(),
                version: "1".to_owned(),
            },
            tool: None,
        }
    }

    const FALLEN: RejectedRequest = RejectedRequest {
        requirement: 0,
        check: 1,
        limit: LIST_STEP,
    };

    const LIST: ListRequest = ListRequest {
        requirement: 0,
        limit: LIST_STEP,
    };

    fn filter() -> Filter {
        Filter {
            id: "a".to_owned(),
            ..Filter::default()
        }
    }

    fn strict() -> Constraints {
        Constraints {
            require_signed: true,
            ..Constraints::default()
        }
    }

    fn answered(revision: u32, verdict: Option<Verdict>) -> Action {
        Action::Answered(Rc::new(Answer {
            revision,
            verdict,
            ..Answer::default()
        }))
    }

    /// An answer with a lock, or with none.
    fn locked(lock: Option<&str>) -> Action {
        let verdict = Verdict {
            lock: lock.map(str::to_owned),
            ..Verdict::default()
        };
        answered(0, Some(verdict))
    }

    fn explained(text: Result<&str, &str>) -> Action {
        Action::Answered(Rc::new(Answer {
            resolution: Some(text.map(str::to_owned).map_err(str::to_owned)),
            ..Answer::default()
        }))
    }

    /// A state in which all views of a tab are open.
    fn open(tab: Tab) -> State {
        let actions = [
            Action::OpenTab(tab),
            Action::TellStory(story()),
            Action::ListFallen(Some(FALLEN)),
            Action::ListEligible(Some(LIST)),
        ];
        after(State::default(), actions)
    }

    #[test]
    fn an_edit_is_counted_and_has_to_be_asked() {
        let state = after(
            State::default(),
            [DocumentKind::Index, DocumentKind::Lock, DocumentKind::Index].map(Action::Edited),
        );
        assert_eq!(state.edits, [0, 2, 1, 0, 0, 0, 0, 0]);
        assert_eq!(state.revision, 3);
    }

    #[test]
    fn what_has_to_be_asked_raises_the_revision() {
        for (state, action) in [
            (State::default(), Action::Edited(DocumentKind::Manifest)),
            (State::default(), Action::Replaced(Rc::default())),
            (State::default(), Action::TellStory(story())),
            (State::default(), Action::ListFallen(Some(FALLEN))),
            (State::default(), Action::ListEligible(Some(LIST))),
            (State::default(), Action::OpenTab(Tab::Matrix)),
            (State::default(), Action::OpenTab(Tab::Resolution)),
            (
                open(Tab::Matrix),
                Action::ShowRows {
                    offset: 3,
                    limit: LIST_STEP,
                },
            ),
            (open(Tab::Matrix), Action::FilterRows(filter())),
            (open(Tab::WhatIf), Action::Suppose(Some(strict()))),
        ] {
            let before = state.revision;
            let after = after(state, [action.clone()]);
            assert!(after.revision > before, "{action:?}");
            assert!(after.stale(), "{action:?}");
        }
    }

    #[test]
    fn nothing_else_raises_the_revision() {
        let rows = Action::ShowRows {
            offset: 0,
            limit: LIST_STEP,
        };
        for (state, action) in [
            (State::default(), Action::EngineReady(Rc::default())),
            (State::default(), Action::EngineFailed(String::new())),
            (State::default(), locked(Some("{}"))),
            (State::default(), explained(Ok("{}"))),
            (State::default(), Action::OpenTab(Tab::Verdict)),
            (State::default(), Action::OpenTab(Tab::WhatIf)),
            (State::default(), Action::OpenTab(Tab::Lock)),
            (State::default(), Action::OpenPane(Pane::Answer)),
            (State::default(), Action::ShowInput(DocumentKind::Lock)),
            (State::default(), Action::OpenDialog(Dialog::Help)),
            (State::default(), Action::CloseDialog),
            (State::default(), Notice::done("").into()),
            (State::default(), Action::CloseNotice),
            (State::default(), Action::CloseStory),
            (State::default(), Action::ListFallen(None)),
            (State::default(), Action::Suppose(None)),
            // What is open already.
            (open(Tab::Verdict), Action::TellStory(story())),
            (open(Tab::Verdict), Action::ListFallen(Some(FALLEN))),
            (open(Tab::Verdict), Action::ListEligible(Some(LIST))),
            (open(Tab::Matrix), Action::OpenTab(Tab::Matrix)),
            (open(Tab::Matrix), Action::FilterRows(Filter::default())),
            (open(Tab::Matrix), rows.clone()),
            // Rows where no matrix is seen.
            (open(Tab::Verdict), rows),
            (open(Tab::Verdict), Action::FilterRows(filter())),
        ] {
            let before = state.revision;
            let after = after(state, [action.clone()]);
            assert_eq!(after.revision, before, "{action:?}");
        }
    }

    #[test]
    fn each_tab_asks_only_for_what_is_seen_in_it() {
        let matrix = MatrixRequest {
            filter: Filter::default(),
            offset: 0,
            limit: LIST_STEP,
        };
        for from in [
            Tab::Verdict,
            Tab::Matrix,
            Tab::WhatIf,
            Tab::Lock,
            Tab::Resolution,
        ] {
            for (tab, wanted) in [
                (Tab::Verdict, Wanted::default()),
                (
                    Tab::Matrix,
                    Wanted {
                        matrix: Some(matrix.clone()),
                        ..Wanted::default()
                    },
                ),
                (Tab::WhatIf, Wanted::default()),
                (Tab::Lock, Wanted::default()),
                (
                    Tab::Resolution,
                    Wanted {
                        resolution: true,
                        ..Wanted::default()
                    },
                ),
            ] {
                let state = after(State::default(), [from, tab].map(Action::OpenTab));
                assert_eq!((state.tab, state.wanted), (tab, wanted), "from {from:?}");
            }
        }
    }

    #[test]
    fn suppositions_last_as_long_as_their_tab() {
        let suppose = [
            Action::OpenTab(Tab::WhatIf),
            Action::Suppose(Some(strict())),
            Action::OpenTab(Tab::WhatIf),
        ];
        let state = after(State::default(), suppose);
        assert_eq!(state.wanted.supposed, Some(strict()));
        let state = after(state, [Action::OpenTab(Tab::Lock)]);
        assert_eq!(state.wanted.supposed, None);
    }

    #[test]
    fn the_matrix_keeps_its_filter_while_it_is_seen_and_starts_anew_with_another_one() {
        let rows = |state: &State| {
            let matrix = state.wanted.matrix.clone().unwrap();
            (matrix.filter, matrix.offset, matrix.limit)
        };
        let state = after(
            State::default(),
            [
                Action::OpenTab(Tab::Matrix),
                Action::FilterRows(filter()),
                Action::ShowRows {
                    offset: 100,
                    limit: 30,
                },
                Action::OpenTab(Tab::Matrix),
            ],
        );
        assert_eq!(rows(&state), (filter(), 100, 30));
        let state = after(state, [Action::FilterRows(Filter::default())]);
        assert_eq!(rows(&state), (Filter::default(), 0, 30));
    }

    #[test]
    fn other_texts_close_the_views_and_forget_what_was_before() {
        let state = after(
            open(Tab::Matrix),
            [
                Action::FilterRows(filter()),
                Action::ShowRows {
                    offset: 100,
                    limit: 30,
                },
                locked(Some("one")),
                locked(Some("two")),
                explained(Ok("one")),
                explained(Ok("two")),
            ],
        );
        let before = state.revision;
        let state = after(state, [Action::Replaced(Rc::default())]);
        assert!(state.revision > before);
        assert_eq!(state.edits, [1; 8]);
        assert_eq!(
            (&state.lock, &state.resolution),
            (&Succession::default(), &Succession::default())
        );
        let matrix = MatrixRequest {
            filter: Filter::default(),
            offset: 0,
            limit: 30,
        };
        assert_eq!(
            state.wanted,
            Wanted {
                matrix: Some(matrix),
                ..Wanted::default()
            }
        );
        assert_eq!(state.views.explanation, None);
        // The tab stays, and so does the last verdict until the next one.
        assert_eq!(state.tab, Tab::Matrix);
        assert!(state.verdict.is_some());

        let state = after(
            State::default(),
            [
                Action::OpenTab(Tab::WhatIf),
                Action::Suppose(Some(strict())),
                Action::Replaced(Rc::default()),
            ],
        );
        assert_eq!(state.wanted, Wanted::default());
    }

    #[test]
    fn a_lock_is_compared_with_the_last_different_one() {
        let mut state = State::default();
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
            state = after(state, [locked(lock)]);
            assert_eq!(state.lock.now.as_deref(), lock);
            assert_eq!(state.lock.before.as_deref(), before, "{lock:?}");
        }
    }

    #[test]
    fn an_explanation_is_compared_with_the_last_one_that_was_seen() {
        let mut state = State::default();
        for (told, now, before) in [
            (explained(Ok("one")), Some("one"), None),
            (explained(Ok("two")), Some("two"), Some("one")),
            // Not asked for, and too large.
            (answered(0, None), Some("two"), Some("one")),
            (explained(Err("too large")), Some("two"), Some("one")),
            (explained(Ok("two")), Some("two"), Some("one")),
            (explained(Ok("three")), Some("three"), Some("two")),
        ] {
            state = after(state, [told]);
            assert_eq!(state.resolution.now.as_deref(), now);
            assert_eq!(state.resolution.before.as_deref(), before);
        }
        assert_eq!(state.views.resolution, Some(Ok("three".into())));
        let state = after(state, [explained(Err("too large"))]);
        assert_eq!(state.views.resolution, Some(Err("too large".to_owned())));
    }

    #[test]
    fn a_verdict_stays_until_the_next_one_and_a_view_until_the_next_answer() {
        let verdict = Verdict {
            servers: Some(3),
            ..Verdict::default()
        };
        let first = Answer {
            revision: 1,
            milliseconds: 1.5,
            verdict: Some(verdict.clone()),
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
            }),
            ..Answer::default()
        };
        let state = after(
            State::default(),
            [
                Action::Edited(DocumentKind::Index),
                Action::Answered(Rc::new(first)),
            ],
        );
        assert!(!state.stale());
        assert_eq!(state.milliseconds, 1.5);
        assert!(state.views.matrix.is_some());
        assert!(state.views.rejected.is_some());
        assert!(state.views.supposed.is_some());
        assert!(state.views.eligible.is_none());

        let second = Answer {
            revision: 2,
            milliseconds: 0.1,
            ..Answer::default()
        };
        let state = after(state, [Action::Answered(Rc::new(second))]);
        assert_eq!(state.verdict.as_deref(), Some(&verdict));
        // How long the verdict took, not how long the views did.
        assert_eq!(state.milliseconds, 1.5);
        assert_eq!(state.views, super::Views::default());
    }

    #[test]
    fn an_answer_to_an_earlier_question_leaves_the_page_stale() {
        let state = after(
            State::default(),
            [
                Action::Edited(DocumentKind::Index),
                Action::Edited(DocumentKind::Index),
                answered(1, None),
            ],
        );
        assert!(state.stale());
        assert!(!after(state, [answered(2, None)]).stale());
    }

    #[test]
    fn closing_a_story_takes_it_away_at_once() {
        let state = after(open(Tab::Verdict), [Action::CloseStory]);
        assert_eq!(
            (state.wanted.explanation, state.views.explanation),
            (None, None)
        );
        // What else is open stays open.
        assert_eq!(state.wanted.rejected, Some(FALLEN));
    }

    #[test]
    fn showing_an_input_brings_it_to_the_front() {
        let state = after(State::default(), [Action::ShowInput(DocumentKind::Lock)]);
        assert_eq!(
            (state.lower, state.pane),
            (DocumentKind::Lock, Pane::Input(DocumentKind::Lock))
        );
        // The manifest has a place of its own: what is below it stays.
        let state = after(state, [Action::ShowInput(DocumentKind::Manifest)]);
        assert_eq!(
            (state.lower, state.pane),
            (DocumentKind::Lock, Pane::Input(DocumentKind::Manifest))
        );
        let state = after(state, [Action::OpenPane(Pane::Input(DocumentKind::Index))]);
        assert_eq!(state.lower, DocumentKind::Index);
        let state = after(state, [Action::OpenPane(Pane::Answer)]);
        assert_eq!(
            (state.lower, state.pane),
            (DocumentKind::Index, Pane::Answer)
        );
    }

    #[test]
    fn the_engine_and_what_lies_over_the_page() {
        let about = Rc::new(About {
            version: "1".to_owned(),
            ..About::default()
        });
        let state = after(
            State::default(),
            [
                Action::EngineFailed("out of memory".to_owned()),
                Action::EngineReady(Rc::clone(&about)),
                Action::OpenDialog(Dialog::Help),
                Action::OpenDialog(Dialog::Share),
                Notice::alarm("no").into(),
            ],
        );
        assert_eq!((state.engine, state.about), (Engine::Ready, about));
        assert_eq!(state.dialog, Some(Dialog::Share));
        let notice = state.notice.unwrap();
        assert_eq!((notice.text.as_str(), notice.alarming), ("no", true));

        let closed = after(
            State::default(),
            [
                Action::OpenDialog(Dialog::Help),
                Action::CloseDialog,
                Notice::done("yes").into(),
                Action::CloseNotice,
                Action::EngineFailed("out of memory".to_owned()),
            ],
        );
        assert_eq!((closed.dialog, closed.notice), (None, None));
        assert_eq!(closed.engine, Engine::Failed("out of memory".to_owned()));
    }

    #[test]
    fn an_answer_that_comes_too_late_changes_nothing() {
        let state = after(State::default(), [Action::Edited(DocumentKind::Manifest)]);
        let late = answered(state.revision, Some(Verdict::default()));
        let replaced = after(state, [Action::Replaced(Rc::default())]);
        assert_eq!(after(replaced.clone(), [late]), replaced);
    }
}
