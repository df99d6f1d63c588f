//! All that the page knows, but for the texts, which are in their editors.

use crate::inputs;
use agent_protocol::DocumentKind;
use agent_protocol::plans::{About, Answer, Decision, Grounding, Outcome, RequestKind, Response};
use agent_ui::areas::Area;
use agent_ui::notice::Notice;
use std::rc::Rc;
use yew::Reducible;

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

/// What of the page is seen where there is room for one thing only.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Pane {
    Input(DocumentKind),
    #[default]
    Answer,
}

/// What lies over the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialog {
    Examples,
    Help,
}

/// Which part of an answer is told in full.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Told {
    /// Nobody has chosen yet: what speaks against it, if anything does.
    #[default]
    ByItself,
    /// None.
    Nothing,
    /// A check of a step.
    Check { step: u32, check: u32 },
    /// A claim of a summary.
    Claim(u32),
}

/// What was answered of each matter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Answers {
    pub(crate) plan: Option<Rc<Decision>>,
    pub(crate) call: Option<Rc<Decision>>,
    pub(crate) grounding: Option<Rc<Grounding>>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct State {
    pub(crate) engine: Engine,
    /// What the engine said of itself.
    pub(crate) about: Rc<About>,
    /// The area that is seen, or was last: one of those that are here.
    pub(crate) area: Area,
    /// Raised with everything that has to be asked.
    pub(crate) revision: u32,
    /// The revision of the last answer.
    pub(crate) answered: u32,
    /// How long the engine took for it; 0 before the first.
    pub(crate) milliseconds: f64,
    /// How often each text was changed, by input.
    pub(crate) edits: [u32; DocumentKind::ALL.len()],
    pub(crate) answers: Answers,
    pub(crate) told: Told,
    /// Whether other texts were put in, and what speaks against them was not pointed out yet.
    pub(crate) unseen: bool,
    pub(crate) pane: Pane,
    /// Which of the lower inputs is seen, in the areas in which there are several.
    pub(crate) lower: DocumentKind,
    pub(crate) dialog: Option<Dialog>,
    pub(crate) notice: Option<Notice>,
}

impl State {
    /// At the beginning, with this area in sight.
    pub(crate) fn new(area: Area) -> Self {
        Self {
            engine: Engine::default(),
            about: Rc::default(),
            area,
            revision: 0,
            answered: 0,
            milliseconds: 0.0,
            edits: [0; DocumentKind::ALL.len()],
            answers: Answers::default(),
            told: Told::default(),
            unseen: false,
            pane: Pane::default(),
            lower: inputs::lower(area)[0],
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
    Answered(Box<Answer>),
    /// Another area is seen.
    ShowArea(Area),
    /// This text was changed.
    Edited(DocumentKind),
    /// Other texts were put in: what was before is of no interest.
    Replaced(Vec<DocumentKind>),
    /// What speaks against the texts that were put in is in sight.
    PointedOut,
    Tell(Told),
    OpenPane(Pane),
    ShowInput(DocumentKind),
    /// Shows an input where there is room for it beside what is seen.
    BringInput(DocumentKind),
    OpenDialog(Dialog),
    CloseDialog,
    Notify(Notice),
    CloseNotice,
}

impl From<Notice> for Action {
    fn from(notice: Notice) -> Self {
        Self::Notify(notice)
    }
}

impl Reducible for State {
    type Action = Action;

    fn reduce(self: Rc<Self>, action: Action) -> Rc<Self> {
        let mut state = Rc::unwrap_or_clone(self);
        state.apply(action);
        Rc::new(state)
    }
}

impl State {
    /// Whether what is shown is of an earlier state of the inputs.
    pub(crate) fn stale(&self) -> bool {
        self.answered != self.revision
    }

    /// What is to be decided in the area that is seen.
    pub(crate) fn matter(&self) -> RequestKind {
        match self.area {
            Area::Call => RequestKind::Call,
            Area::Grounding => RequestKind::Grounding,
            Area::Servers | Area::Plans => RequestKind::Plan,
        }
    }

    /// The answer to the plan of the area that is seen.
    pub(crate) fn decision(&self) -> Option<&Rc<Decision>> {
        match self.matter() {
            RequestKind::Plan => self.answers.plan.as_ref(),
            RequestKind::Call => self.answers.call.as_ref(),
            RequestKind::Grounding => None,
        }
    }

    /// The check that is told in full, as the numbers of its step and of itself.
    pub(crate) fn told_check(&self) -> Option<(u32, u32)> {
        match self.told {
            Told::Check { step, check } => Some((step, check)),
            Told::ByItself => self.decision().and_then(|decision| first_failure(decision)),
            Told::Nothing | Told::Claim(_) => None,
        }
    }

    fn apply(&mut self, action: Action) {
        match action {
            Action::EngineReady(about) => {
                self.engine = Engine::Ready;
                self.about = about;
            }
            Action::EngineFailed(reason) => self.engine = Engine::Failed(reason),
            Action::Answered(answer) => self.take_answer(*answer),
            Action::ShowArea(area) => self.show_area(area),
            Action::Edited(source) => {
                self.edits[source as usize] += 1;
                self.revision += 1;
            }
            Action::Replaced(sources) => {
                for source in sources {
                    self.edits[source as usize] += 1;
                }
                self.revision += 1;
                self.told = Told::ByItself;
                self.unseen = true;
            }
            Action::PointedOut => self.unseen = false,
            Action::Tell(told) => self.told = told,
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
            Action::Notify(notice) => self.notice = Some(notice),
            Action::CloseNotice => self.notice = None,
        }
    }

    fn show_input(&mut self, source: DocumentKind) {
        if inputs::lower(self.area).contains(&source) {
            self.lower = source;
        }
    }

    /// The others are elsewhere, and what is seen here stays as it is.
    fn show_area(&mut self, area: Area) {
        if area == Area::Servers || area == self.area {
            return;
        }
        self.area = area;
        // Another question, to which there may be an older answer.
        self.revision += 1;
        self.told = Told::ByItself;
        if !inputs::lower(area).contains(&self.lower) {
            self.lower = inputs::lower(area)[0];
        }
        if let Pane::Input(_) = self.pane {
            self.pane = Pane::Answer;
        }
    }

    fn take_answer(&mut self, answer: Answer) {
        self.engine = Engine::Ready;
        self.answered = answer.revision;
        self.milliseconds = answer.milliseconds;
        match answer.response {
            Response::Plan(decision) => self.answers.plan = Some(Rc::new(decision)),
            Response::Call(decision) => self.answers.call = Some(Rc::new(decision)),
            Response::Grounding(found) => self.answers.grounding = Some(Rc::new(found)),
        }
    }
}

/// The first check that speaks against a plan, as the numbers of its step and of itself.
fn first_failure(decision: &Decision) -> Option<(u32, u32)> {
    (0..).zip(&decision.steps).find_map(|(step, it)| {
        let mut checks = (0..).zip(&it.checks);
        let failed = checks.find(|(_, check)| check.outcome == Outcome::Failed);
        failed.map(|(check, _)| (step, check))
    })
}
