//! A run of the plan, made again from its answers for every request.
//!
//! The run is [`agent_run::Run`], the machine that hosts drive. Here nothing is performed: the page's answers,
//! or examples, take the place of effects, and evidence is kept in memory.

mod examples;
mod outcome;

use agent_api::answer::Step;
use agent_run::{Action, Clock, Documents, Finished, Options, Outcome, Run, StoreMode};
use agent_worker_protocol::run::{
    EvidenceFile, PastAction, RunEnd, RunRequest, RunView, Stage, StageGroup, StageOutcome, Turn,
    WantedAction,
};
use examples::Situation;

/// Duration of an action that an example answers, in milliseconds.
const EXAMPLE_MS: u64 = 20;

/// Returns a run of documents after the answers of a request. `steps` are those of the plan.
pub fn replay(documents: &Documents, request: &RunRequest, steps: &[Step]) -> RunView {
    let started = random(&request.random).and_then(|random| {
        let options = Options {
            run_id: request.run_id.clone(),
            random,
            sandbox_tier: "none".to_owned(),
            ..Options::default()
        };
        let run = Run::start(documents.clone(), options, clock(request, 0));
        run.map_err(|error| error.to_string())
    });
    let run = match started {
        Ok(run) => run,
        Err(reason) => {
            return RunView {
                refused: Some(reason),
                ..RunView::default()
            };
        }
    };
    let mut replay = Replay {
        run,
        request,
        situation: Situation::new(documents, steps),
        view: RunView::default(),
    };
    let finished = replay.go_on();
    replay.finish(steps, finished)
}

/// Reads 32 random bytes.
fn random(digits: &str) -> Result<[u8; 32], String> {
    let wrong = || "the random bytes are not 64 hexadecimal digits".to_owned();
    let mut bytes = [0; 32];
    if digits.len() != 64 || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return Err(wrong());
    }
    for (byte, at) in bytes.iter_mut().zip((0..).step_by(2)) {
        *byte = u8::from_str_radix(&digits[at..at + 2], 16).map_err(|_| wrong())?;
    }
    Ok(bytes)
}

fn clock(request: &RunRequest, elapsed_ms: u64) -> Clock {
    Clock {
        unix_ms: request.unix_ms.saturating_add(elapsed_ms),
        monotonic_ms: elapsed_ms,
        utc_offset_minutes: 0,
    }
}

struct Replay<'r> {
    run: Run,
    request: &'r RunRequest,
    situation: Situation<'r>,
    view: RunView,
}

impl Replay<'_> {
    /// Answers actions as long as there are answers. Returns the end, if the run came to it.
    fn go_on(&mut self) -> Option<Finished> {
        let mut given = self.request.turns.iter();
        loop {
            let action = match self.run.next_action() {
                Action::Finished(finished) => return Some(finished),
                Action::Store(store) => {
                    self.store(store);
                    let now = clock(self.request, self.view.elapsed_ms);
                    // Invariant: evidence was wanted.
                    self.run.complete(Outcome::Stored, now).ok()?;
                    continue;
                }
                action => action,
            };
            self.situation.step = self.present_step();
            let forms = self.situation.forms(&action);
            // Answers to other documents may not fit any more; then the user answers.
            let fits = |turn: &&Turn| {
                let mut kinds = forms.iter().map(|form| form.kind);
                turn.action == action.name()
                    && (turn.kind == outcome::CANCELLED || kinds.any(|kind| kind == turn.kind))
            };
            let (turn, is_given) = match given.next() {
                Some(turn) => (Some(turn).filter(fits).cloned(), true),
                None if self.request.to_the_end => {
                    let example = forms.first().map(|form| Turn {
                        action: action.name().to_owned(),
                        kind: form.kind,
                        fields: form.fields.iter().map(|it| it.value.clone()).collect(),
                        took_ms: EXAMPLE_MS,
                    });
                    (example, false)
                }
                None => (None, false),
            };
            let outcome = turn
                .as_ref()
                .map(|turn| outcome::of(turn.kind, &turn.fields));
            match (turn, outcome) {
                (Some(turn), Some(Ok(outcome))) => self.answer(&action, turn, outcome)?,
                (_, failed) => {
                    self.view.mistake = match failed {
                        Some(Err(mistake)) => Some(mistake),
                        _ if is_given => {
                            Some("the next answer does not fit this action".to_owned())
                        }
                        _ => None,
                    };
                    let words = action.words();
                    let facts = words.facts.into_iter();
                    self.view.wanted = Some(WantedAction {
                        name: action.name().to_owned(),
                        title: words.title,
                        facts: facts
                            .map(|(name, value)| (name.to_owned(), value))
                            .collect(),
                        forms,
                    });
                    return None;
                }
            }
        }
    }

    /// Returns the place of the present step in the plan.
    fn present_step(&self) -> Option<usize> {
        match self.run.progress().stages.last()?.0 {
            agent_run::Stage::Step(step, _) => Some(step),
            _ => None,
        }
    }

    /// Gives the run an answer; `None` cancels it. Returns `None` if the answer is out of turn.
    fn answer(&mut self, action: &Action, turn: Turn, outcome: Option<Outcome>) -> Option<()> {
        self.view.elapsed_ms = self.view.elapsed_ms.saturating_add(turn.took_ms);
        let now = clock(self.request, self.view.elapsed_ms);
        self.view.past.push(PastAction {
            title: action.words().title,
            outcome: outcome::words(turn.kind, &turn.fields),
            took_ms: turn.took_ms,
        });
        self.view.turns.push(turn);
        self.situation.answered(action);
        match outcome {
            Some(outcome) => self.run.complete(outcome, now).ok(),
            None => {
                self.run.cancel(now);
                Some(())
            }
        }
    }

    fn store(&mut self, store: agent_run::Store) {
        let folder = format!("/runs/{}/", self.request.run_id);
        let path = store.path.split_once(&folder);
        let path = path.map_or(&*store.path, |(_, path)| path);
        let content = String::from_utf8_lossy(&store.content);
        let stored_after = self.view.turns.len() as u32;
        let mut files = self.view.files.iter_mut();
        match files.find(|file| file.path == path) {
            Some(file) => {
                if store.mode == StoreMode::Replace {
                    file.content.clear();
                }
                file.content += &content;
                file.stored_after = stored_after;
            }
            None => self.view.files.push(EvidenceFile {
                path: path.to_owned(),
                content: content.into_owned(),
                stored_after,
            }),
        }
    }

    fn finish(self, steps: &[Step], finished: Option<Finished>) -> RunView {
        let progress = self.run.progress();
        let has_ended = finished.is_some();
        let stage = |stage: agent_run::Stage| Stage {
            number: stage.number().to_owned(),
            title: stage.title().to_owned(),
            outcome: match progress.stages.iter().find(|(it, _)| *it == stage) {
                Some((_, agent_run::StageOutcome::Begun)) => StageOutcome::Present,
                Some((_, agent_run::StageOutcome::Passed)) => StageOutcome::Passed,
                Some((_, agent_run::StageOutcome::Failed(code))) => {
                    StageOutcome::Failed(code.name().to_owned())
                }
                None if has_ended => StageOutcome::Skipped,
                None => StageOutcome::Ahead,
            },
        };
        let of_run = |stages: &[agent_run::Stage]| StageGroup {
            step: None,
            stages: stages.iter().copied().map(stage).collect(),
        };
        let mut stages = vec![of_run(&agent_run::Stage::BEFORE_STEPS)];
        stages.extend(steps.iter().enumerate().map(|(number, step)| {
            let parts = agent_run::StepStage::ALL.into_iter();
            let parts = parts.map(|part| stage(agent_run::Stage::Step(number, part)));
            StageGroup {
                step: Some(step.id.as_ref().unwrap_or(&step.tool).clone()),
                stages: parts.collect(),
            }
        }));
        stages.push(of_run(&[agent_run::Stage::Summary]));
        RunView {
            stages,
            episodes: progress.episodes,
            head: progress.head,
            end: finished.map(end),
            ..self.view
        }
    }
}

fn end(finished: Finished) -> RunEnd {
    RunEnd {
        status: finished.status.name().to_owned(),
        code: finished.code.map(|code| code.name().to_owned()),
        message: finished.message,
        directory: finished.directory,
        evidence_complete: finished.evidence_complete,
        text: finished.text.iter().map(|span| &*span.text).collect(),
    }
}
