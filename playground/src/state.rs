//! All that the page knows, but for the texts, which are in their editors.

use crate::editor::INPUTS;
use agent_protocol::{
    About, Answer, Constraints, Eligible, Fallen, FallenAsk, Filter, ListAsk, Listed, Matrix,
    MatrixAsk, Source, Story, StoryAsk, Supposed, Verdict, Wanted,
};
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
    Input(Source),
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

/// A sentence for the person, until the next one or until it is closed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Notice {
    pub(crate) text: String,
    /// Whether something went wrong.
    pub(crate) alarming: bool,
    /// The texts in which a step can be taken back.
    pub(crate) undo: Vec<Source>,
}

impl Notice {
    /// That something was done.
    pub(crate) fn done(text: impl Into<String>) -> Action {
        Action::Tell(Self {
            text: text.into(),
            alarming: false,
            undo: Vec::new(),
        })
    }

    /// That something went wrong.
    pub(crate) fn alarm(text: impl Into<String>) -> Action {
        Action::Tell(Self {
            text: text.into(),
            alarming: true,
            undo: Vec::new(),
        })
    }
}

/// What was answered of the views that are open.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Views {
    pub(crate) matrix: Option<Rc<Matrix>>,
    pub(crate) story: Option<Rc<Story>>,
    pub(crate) fallen: Option<Rc<Listed<Fallen>>>,
    pub(crate) eligible: Option<Rc<Listed<Eligible>>>,
    pub(crate) supposed: Option<Rc<Supposed>>,
    pub(crate) resolution: Option<Result<Rc<str>, String>>,
}

/// A text that is replaced now and then, and what it was before.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Succession {
    pub(crate) now: Option<Rc<str>>,
    /// The last one that was different.
    pub(crate) before: Option<Rc<str>>,
}

impl Succession {
    /// Takes the next text. That there is none for a while is passed over: the one before is
    /// still what the next one is compared with.
    fn follow(&mut self, next: Option<&str>) {
        if self.now.as_deref() == next {
            return;
        }
        if let Some(now) = self.now.take() {
            self.before = Some(now);
        }
        self.now = next.map(Rc::from);
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
    /// How long the engine took for the last verdict; 0 before the first.
    pub(crate) milliseconds: f64,
    /// How often each text was changed, by input.
    pub(crate) edits: [u32; INPUTS.len()],
    /// None: nothing was answered yet.
    pub(crate) verdict: Option<Rc<Verdict>>,
    pub(crate) lock: Succession,
    pub(crate) resolution: Succession,
    pub(crate) wanted: Wanted,
    pub(crate) views: Views,
    pub(crate) tab: Tab,
    pub(crate) pane: Pane,
    /// Which of the inputs below the manifest is seen.
    pub(crate) lower: Source,
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
            milliseconds: 0.0,
            edits: [0; INPUTS.len()],
            verdict: None,
            lock: Succession::default(),
            resolution: Succession::default(),
            wanted: Wanted::default(),
            views: Views::default(),
            tab: Tab::default(),
            pane: Pane::default(),
            lower: Source::Index,
            dialog: None,
            notice: None,
        }
    }
}

/// What happens.
#[derive(Debug, Clone)]
pub(crate) enum Action {
    /// The engine is there.
    EngineReady(Rc<About>),
    /// The engine does not answer any more.
    EngineFailed(String),
    /// These texts were changed.
    Edited(Source),
    /// Other texts altogether were put in: what was before is of no interest.
    Replaced,
    Answered(Rc<Answer>),
    OpenTab(Tab),
    OpenPane(Pane),
    ShowInput(Source),
    OpenDialog(Dialog),
    CloseDialog,
    Tell(Notice),
    CloseNotice,
    TellStory(StoryAsk),
    CloseStory,
    ListFallen(Option<FallenAsk>),
    ListEligible(Option<ListAsk>),
    ShowRows {
        offset: u32,
        limit: u32,
    },
    FilterRows(Filter),
    Suppose(Option<Constraints>),
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
            Action::EngineFailed(reason) => self.engine = Engine::Failed(reason),
            Action::Edited(source) => {
                self.edits[source as usize] += 1;
                self.revision += 1;
            }
            Action::Replaced => {
                for edits in &mut self.edits {
                    *edits += 1;
                }
                self.revision += 1;
                self.lock = Succession::default();
                self.resolution = Succession::default();
                self.close_views();
                self.wanted.supposed = None;
                if let Some(matrix) = &mut self.wanted.matrix {
                    matrix.filter = Filter::default();
                    matrix.offset = 0;
                }
            }
            Action::Answered(answer) => self.answered(&answer),
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
            Action::OpenDialog(dialog) => self.dialog = Some(dialog),
            Action::CloseDialog => self.dialog = None,
            Action::Tell(notice) => self.notice = Some(notice),
            Action::CloseNotice => self.notice = None,
            Action::TellStory(ask) => self.wanted.story = Some(ask),
            Action::CloseStory => {
                self.wanted.story = None;
                self.views.story = None;
            }
            Action::ListFallen(ask) => self.wanted.fallen = ask,
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

    fn show_input(&mut self, source: Source) {
        if source != Source::Manifest {
            self.lower = source;
        }
    }

    fn close_views(&mut self) {
        self.wanted.story = None;
        self.wanted.fallen = None;
        self.wanted.eligible = None;
        self.views.story = None;
    }

    /// Only what is seen is asked for.
    fn open_tab(&mut self, tab: Tab) {
        self.tab = tab;
        self.wanted.resolution = tab == Tab::Resolution;
        self.wanted.matrix = (tab == Tab::Matrix).then(|| {
            self.wanted.matrix.take().unwrap_or(MatrixAsk {
                filter: Filter::default(),
                offset: 0,
                limit: LIST_STEP,
            })
        });
        if tab != Tab::WhatIf {
            self.wanted.supposed = None;
        }
    }

    fn answered(&mut self, answer: &Answer) {
        if let Some(verdict) = &answer.verdict {
            // While an input has errors, the answer of before stays in sight.
            self.lock.follow(verdict.lock.as_deref());
            self.verdict = Some(Rc::new(verdict.clone()));
            self.milliseconds = answer.milliseconds;
        }
        self.answered = answer.revision;
        if let Some(Ok(text)) = &answer.resolution {
            self.resolution.follow(Some(text));
        }
        self.views = Views {
            matrix: answer.matrix.clone().map(Rc::new),
            story: answer.story.clone().map(Rc::new),
            fallen: answer.fallen.clone().map(Rc::new),
            eligible: answer.eligible.clone().map(Rc::new),
            supposed: answer.supposed.clone().map(Rc::new),
            resolution: match &answer.resolution {
                None => None,
                Some(Ok(_)) => self.resolution.now.clone().map(Ok),
                Some(Err(reason)) => Some(Err(reason.clone())),
            },
        };
    }
}
