//! A recorded run, decided again: its effects are replaced by the recorded ones.
//!
//! Every decision is made by the functions that made it in the run. A decision whose basis is redacted,
//! or recorded by its digest only, can't be made again; that is said, and never guessed.

use super::folder::Folder;
use super::members::{at, items, number, string};
use super::problems::At;
use super::recorded::{PLAN, POOL, PROFILE, REPORT, REQUEST, Record, Recorded, SUMMARY};
use super::recorded_call::RecordedCall;
use super::replayed_step::ReplayedStep;
use super::verification::verified;
use agent_api::diagnostic::{Code, Diagnostic, Fix, Label};
use agent_api::plan::{RunProblem, authorized};
use agent_api::render::{Style, StyledSpan};
use agent_api::schema::Library;
use agent_run::{Decided, Documents, accept_goal_again, decide_again, mark_in};
use agent_syntax::Node;
use agent_syntax::json::Writer;
use std::sync::Arc;

/// A run that was decided again.
#[derive(Debug)]
pub struct Replay {
    /// The first difference, if there is one.
    pub difference: Option<Diagnostic>,
    /// Number of decisions that can't be made again.
    pub undecidable: usize,
    /// Every check as JSON that ends with a newline.
    pub json: String,
    /// Every check for people.
    pub text: Vec<StyledSpan>,
}

/// One decision, made again.
#[derive(Debug)]
pub(crate) struct Check<'f> {
    /// The step, unless the decision is about the plan.
    pub(crate) step: Option<String>,
    /// The name of the decision.
    pub(crate) name: &'static str,
    pub(crate) outcome: Outcome,
    /// The record of the decision.
    pub(crate) at: At<'f>,
}

/// The comparison of a decision with the recorded one.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// It is the recorded one.
    Same,
    /// It is another one: the recorded one, and the one of now.
    Differs(String, String),
    /// It can't be made again, for a reason.
    Undecidable(String),
}

impl Outcome {
    /// Compares two decisions: nothing, or the problem that refuses.
    pub(crate) fn of(recorded: Option<&RunProblem>, now: Option<&RunProblem>) -> Self {
        if recorded == now {
            return Self::Same;
        }
        Self::Differs(in_words(recorded), in_words(now))
    }
}

/// Returns a decision in words.
pub(crate) fn in_words(problem: Option<&RunProblem>) -> String {
    match problem {
        None => "allowed".to_owned(),
        Some((code, message)) => format!("refused with {}: {message}", code.name()),
    }
}

/// Decides a recorded run again. `rules` replace documents of the run, and supply those that evidence
/// does not contain.
///
/// # Errors
/// The evidence does not verify. Nothing is decided then.
pub fn replay(
    folder: &Folder,
    core: Option<&Arc<Library>>,
    rules: Documents,
) -> Result<Replay, Vec<Diagnostic>> {
    let (recorded, problems) = verified(folder, core);
    if !problems.is_empty() {
        return Err(problems);
    }
    let Some(verdict) = recorded.verdict() else {
        return Err(Vec::new());
    };
    let mut lacking = Lacking {
        lock: rules.lock.is_none(),
        index: rules.index.is_none(),
        ..Lacking::default()
    };
    let documents = documents(&recorded, rules, &mut lacking);
    let context = at(&verdict.root, "/result_details/policy_context");
    let context = context.map(|it| it.span.of(verdict.file.text.as_str()).to_owned());
    let mut checks = Vec::new();
    if let Some(outcome) = goal_outcome(&recorded, &documents) {
        checks.push(Check {
            step: None,
            name: "goal",
            outcome,
            at: At::start(verdict.file),
        });
    }
    let decided = match RecordedCall::of(verdict) {
        Some(call) => call.decide(&recorded, documents, context),
        None => Ok(decide_again(documents, context)),
    };
    let against = Against::new(&recorded, decided.as_ref().ok());
    let (outcome, goes_on) = match &decided {
        Ok(decided) => plan_outcome(&recorded, verdict, decided, &against, &lacking),
        Err(reason) => (Outcome::Undecidable((*reason).to_owned()), false),
    };
    checks.push(Check {
        step: None,
        name: "plan",
        outcome,
        at: At::start(verdict.file),
    });
    let decided = decided.as_ref().ok().filter(|_| goes_on);
    if let Some((decided, plan)) = decided.and_then(|it| Some((it, it.authorized.as_ref()?))) {
        let mut outputs = Vec::new();
        for number in 0..plan.steps().len() {
            let is_redacted = lacking.redacted.contains(&PLAN);
            let approval = decided.approval.as_deref();
            let planned = (plan, approval, is_redacted);
            let Some(step) = ReplayedStep::new(&recorded, planned, number) else {
                break;
            };
            if !step.replay(&mut outputs, &mut checks) {
                break;
            }
        }
    }
    let answer = Answer {
        run_id: recorded
            .record(SUMMARY)
            .and_then(|it| string(&it.root, "/run_id"))
            .unwrap_or_default(),
        checks: &checks,
        against: &against,
    };
    Ok(Replay {
        difference: answer.difference(),
        undecidable: answer.undecidable(),
        json: answer.json(),
        text: answer.text(),
    })
}

/// What the decision of now lacks.
#[derive(Default)]
struct Lacking {
    /// Whether no lock is given.
    lock: bool,
    /// Whether no index is given.
    index: bool,
    /// The documents that the run could not read, so that evidence does not contain them.
    unreadable: Vec<&'static str>,
    /// The documents that are redacted.
    redacted: Vec<&'static str>,
}

/// Decides again on the goal for which the run asked a planner. Returns `None` if it asked none for a plan of
/// several steps.
fn goal_outcome(recorded: &Recorded<'_>, documents: &Documents) -> Option<Outcome> {
    let mut episodes = recorded.episodes.iter();
    let was_asked = episodes.any(|it| {
        let is = |pointer, text| string(&it.root, pointer) == Some(text);
        is("/result_details/action", "plan")
            && is("/result_details/record", "decision")
            && is("/result_details/facts/task", "steps")
    });
    if !was_asked {
        return None;
    }
    let request = recorded.record(REQUEST);
    let goal = request.and_then(|it| at(&it.root, "/request/goal"));
    let text = goal.filter(|it| !contains_redaction(it));
    let Some(text) = text.and_then(|it| string(it, "")) else {
        return Some(Outcome::Undecidable("the goal is redacted".to_owned()));
    };
    let now = accept_goal_again(documents.clone(), text).err();
    // The planner was asked, so the goal was accepted.
    Some(Outcome::of(None, now.as_ref()))
}

/// Returns the documents to decide on, and notes what is lacking in them.
fn documents(recorded: &Recorded<'_>, rules: Documents, lacking: &mut Lacking) -> Documents {
    let mut of_run = |path: &'static str, given: Option<Vec<u8>>| {
        if given.is_some() {
            return given;
        }
        let record = recorded.record(path)?;
        if record.is_placeholder() {
            if at(&record.root, "/unreadable").is_some() {
                lacking.unreadable.push(path);
            }
            return None;
        }
        if contains_redaction(&record.root) {
            lacking.redacted.push(path);
        }
        Some(record.file.text.as_str().as_bytes().to_vec())
    };
    Documents {
        plan: of_run(PLAN, rules.plan),
        request: of_run(REQUEST, rules.request),
        tool_pool: of_run(POOL, rules.tool_pool),
        profile: of_run(PROFILE, rules.profile),
        ..rules
    }
}

/// Returns whether a value contains the mark of a secret.
pub(crate) fn contains_redaction(node: &Node<'_>) -> bool {
    mark_in(node).is_some()
}

/// The documents that the decision of now has other digests of.
struct Against {
    changed: Vec<Changed>,
}

struct Changed {
    kind: String,
    name: Option<String>,
    recorded: Option<String>,
    now: Option<String>,
}

impl Against {
    fn new(recorded: &Recorded<'_>, decided: Option<&Decided>) -> Self {
        let report = recorded.record(REPORT);
        let listed = report.map(|it| items(&it.root, "/decided_against"));
        let mut changed: Vec<Changed> = Vec::new();
        for entry in listed.unwrap_or_default() {
            let text = |pointer| string(entry, pointer).map(str::to_owned);
            changed.push(Changed {
                kind: text("/document").unwrap_or_default(),
                name: text("/name"),
                recorded: text("/digest"),
                now: None,
            });
        }
        for (kind, name, digest) in decided.iter().flat_map(|it| &it.against) {
            let is_it = |it: &&mut Changed| it.kind == *kind && it.name == *name;
            match changed.iter_mut().find(is_it) {
                Some(entry) => entry.now = Some(digest.clone()),
                None => changed.push(Changed {
                    kind: (*kind).to_owned(),
                    name: name.clone(),
                    recorded: None,
                    now: Some(digest.clone()),
                }),
            }
        }
        changed.retain(|it| it.recorded != it.now);
        Self { changed }
    }

    /// Returns a document of the run that the decision of now lacks.
    fn missing(&self, kind: &str) -> Option<&Changed> {
        let mut changed = self.changed.iter();
        changed.find(|it| it.kind == kind && it.recorded.is_some() && it.now.is_none())
    }
}

/// Compares the decision on the plan with the recorded one. Returns whether the steps can be decided
/// too.
fn plan_outcome(
    recorded: &Recorded<'_>,
    verdict: &Record<'_>,
    decided: &Decided,
    against: &Against,
    lacking: &Lacking,
) -> (Outcome, bool) {
    let is_call = at(&verdict.root, "/result_details/call").is_some();
    let is_planned = recorded.record(PLAN).is_some_and(|it| !it.is_placeholder());
    let decided_as = string(&verdict.root, "/result_details/decided_as");
    if !is_call && !is_planned && decided_as.is_some() {
        let reason = "the planner made no plan for the goal, or was not asked";
        return (Outcome::Undecidable(reason.to_owned()), false);
    }
    let was = string(&verdict.root, "/result_details/authorized");
    let now = decided.authorized.as_ref().map(|plan| authorized(plan).1);
    let undecidable = || undecidable(decided, against, lacking).map(Outcome::Undecidable);
    match (was, now) {
        (Some(was), Some(now)) if was == now || !against.changed.is_empty() => {
            (Outcome::Same, true)
        }
        (Some(was), Some(now)) => {
            let differs =
                || Outcome::Differs(format!("allowed as {was}"), format!("allowed as {now}"));
            (undecidable().unwrap_or_else(differs), true)
        }
        (was, now) => {
            let of_run = recorded_problems(recorded);
            let of_now: Vec<_> = decided.problems.iter().map(|(it, _)| it.clone()).collect();
            if was.is_none() && now.is_none() && of_run == of_now {
                return (Outcome::Same, false);
            }
            let differs = || {
                let mut pairs = of_run.iter().zip(&of_now);
                let first = pairs.position(|(a, b)| a != b);
                let first = first.unwrap_or(of_run.len().min(of_now.len()));
                Outcome::Differs(in_words(of_run.get(first)), in_words(of_now.get(first)))
            };
            (undecidable().unwrap_or_else(differs), false)
        }
    }
}

/// Returns why the decision on the plan can't be made again, if it can't.
fn undecidable(decided: &Decided, against: &Against, lacking: &Lacking) -> Option<String> {
    for (kind, option, is_lacking) in [
        ("lock", "--lock", lacking.lock),
        ("index", "--index", lacking.index),
    ] {
        if let Some(missing) = against.missing(kind).filter(|_| is_lacking) {
            let digest = missing.recorded.as_deref().unwrap_or_default();
            return Some(format!(
                "the run was decided with {kind} {digest}, which evidence does not contain: pass it with `{option}`"
            ));
        }
    }
    let lacks_policy =
        |(_, reason): &(RunProblem, Option<Code>)| *reason == Some(Code::PolicyMissing);
    if decided.problems.iter().any(lacks_policy) {
        let reason = "evidence does not contain the policy: pass it with `--policy`";
        return Some(reason.to_owned());
    }
    if let Some(first) = lacking.unreadable.first() {
        return Some(format!(
            "the run could not read `{first}`, and kept its digest only"
        ));
    }
    let first = lacking.redacted.first()?;
    Some(format!("`{first}` is redacted"))
}

/// Returns the problems of the recorded report.
fn recorded_problems(recorded: &Recorded<'_>) -> Vec<RunProblem> {
    let report = recorded.record(REPORT);
    let problems = report.map(|it| items(&it.root, "/problems"));
    let problems = problems.unwrap_or_default().iter();
    problems.filter_map(problem).collect()
}

/// Returns the code and the message of a recorded problem or stop.
pub(crate) fn problem(node: &Node<'_>) -> Option<RunProblem> {
    let code = Code::named(string(node, "/code")?)?;
    Some((code, string(node, "/message")?.to_owned()))
}

/// The answer while it is rendered.
struct Answer<'a, 'f> {
    run_id: &'a str,
    checks: &'a [Check<'f>],
    against: &'a Against,
}

impl Answer<'_, '_> {
    fn difference(&self) -> Option<Diagnostic> {
        let mut checks = self.checks.iter();
        checks.find_map(|check| {
            let Outcome::Differs(recorded, now) = &check.outcome else {
                return None;
            };
            let what = match &check.step {
                Some(step) => format!("the check `{}` of step `{step}`", check.name),
                None => format!("the {}", check.name),
            };
            let message = format!("{what} was {recorded}; now it is {now}");
            let place = check.at.file.text.place(check.at.span);
            let mut difference = Diagnostic::new(Code::ReplayDiffers, message);
            difference.labels = vec![Label::new(place, "the recorded decision")];
            difference.fixes = vec![Fix::display(Code::ReplayDiffers.help())];
            Some(difference)
        })
    }

    fn undecidable(&self) -> usize {
        let is_it = |it: &&Check<'_>| matches!(it.outcome, Outcome::Undecidable(_));
        self.checks.iter().filter(is_it).count()
    }

    /// Returns whether every decision is the recorded one, or nothing if that can't be known.
    fn is_same(&self) -> Option<bool> {
        match (self.difference(), self.undecidable()) {
            (Some(_), _) => Some(false),
            (None, 0) => Some(true),
            (None, _) => None,
        }
    }

    fn json(&self) -> String {
        let mut w = Writer::pretty();
        w.object(|w| {
            w.key("checks").array(|w| {
                for check in self.checks {
                    w.object(|w| write_check(w, check));
                }
            });
            w.key("documents").array(|w| {
                for changed in &self.against.changed {
                    w.object(|w| {
                        w.key("document").string(&changed.kind);
                        if let Some(name) = &changed.name {
                            w.key("name").string(name);
                        }
                        w.key("now").optional(changed.now.as_deref());
                        w.key("recorded").optional(changed.recorded.as_deref());
                    });
                }
            });
            w.key("run_id").string(self.run_id);
            match self.is_same() {
                Some(same) => w.key("same").bool(same),
                None => w.key("same").null(),
            }
            w.key("undecidable").json(&self.undecidable().to_string());
        });
        w.finish()
    }

    fn text(&self) -> Vec<StyledSpan> {
        let mut spans = Vec::new();
        let mut put = |style, text: &str| {
            spans.push(StyledSpan {
                style,
                text: text.to_owned(),
            });
        };
        let (style, mark, heading) = match self.is_same() {
            Some(true) => (Style::Accepted, "✓ ", "decided as recorded"),
            Some(false) => (Style::Rejected, "✗ ", "decided otherwise"),
            None => (Style::Warning, "? ", "not decidable as a whole"),
        };
        put(style, mark);
        put(Style::Heading, heading);
        put(Style::Plain, ": ");
        put(Style::Name, self.run_id);
        if self.is_same().is_none() {
            let (some, all) = (self.undecidable(), self.checks.len());
            put(
                Style::Plain,
                &format!(": {some} of {all} decisions can't be made again"),
            );
        }
        put(Style::Plain, "\n");
        for changed in &self.against.changed {
            let name = changed.name.as_ref().map(|name| format!(" `{name}`"));
            let how = match (&changed.recorded, &changed.now) {
                (Some(_), Some(_)) => "is another one",
                (Some(_), None) => "is not given",
                _ => "was not given to the run",
            };
            let name = name.unwrap_or_default();
            put(Style::Warning, &format!("  {}{name} {how}\n", changed.kind));
        }
        for check in self.checks {
            put(Style::Plain, "  ");
            match &check.outcome {
                Outcome::Same => put(Style::Accepted, "✓ "),
                Outcome::Differs(..) => put(Style::Rejected, "✗ "),
                Outcome::Undecidable(_) => put(Style::Dim, "? "),
            }
            if let Some(step) = &check.step {
                put(Style::Name, step);
                put(Style::Plain, "  ");
            }
            put(Style::Plain, check.name);
            match &check.outcome {
                Outcome::Same => {}
                Outcome::Differs(recorded, now) => {
                    put(
                        Style::Plain,
                        &format!("\n      recorded: {recorded}\n      now: {now}"),
                    );
                }
                Outcome::Undecidable(reason) => {
                    put(Style::Dim, &format!("  not decidable: {reason}"));
                }
            }
            put(Style::Plain, "\n");
        }
        spans
    }
}

fn write_check(w: &mut Writer, check: &Check<'_>) {
    w.key("check").string(check.name);
    if let Outcome::Differs(_, now) = &check.outcome {
        w.key("now").string(now);
    }
    w.key("outcome").string(match &check.outcome {
        Outcome::Same => "same",
        Outcome::Differs(..) => "differs",
        Outcome::Undecidable(_) => "undecidable",
    });
    match &check.outcome {
        Outcome::Same => {}
        Outcome::Differs(recorded, _) => w.key("recorded").string(recorded),
        Outcome::Undecidable(reason) => w.key("reason").string(reason),
    }
    if let Some(step) = &check.step {
        w.key("step_id").string(step);
    }
}

/// Returns a size of a record, 0 without one.
pub(crate) fn size(node: &Node<'_>, pointer: &str) -> u64 {
    number(node, &format!("{pointer}/bytes")).unwrap_or(0)
}
