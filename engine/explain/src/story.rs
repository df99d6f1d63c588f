//! The whole story of one server and one requirement.

use super::verdict::{ServerVerdict, Verdict};
use agent_decide::{CheckOutcome, Comparison, Rejection, Resolution, TieBreak};
use agent_diagnostic::Code;
use agent_model::{Constraints, Index, Name, Residency, ServerView, ToolView};
use agent_text::{Place, Span, nearest};

/// One check in words: the values that were compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// The code of a failure.
    pub code: Code,
    /// The required value; none if nothing is required.
    pub required: Option<String>,
    /// The value of the candidate.
    pub offered: String,
    /// Whether it was passed.
    pub passed: bool,
    /// The place of the required value, or of the status in a snapshot of health.
    pub asked_at: Option<Place>,
}

/// What became of a server for a requirement, check by check.
#[derive(Debug, Clone)]
pub struct Story<'r> {
    /// The number of the requirement.
    pub requirement: usize,
    /// The server.
    pub server: ServerView<'r>,
    /// The answer.
    pub verdict: ServerVerdict<'r>,
    /// Every check, in their order.
    pub checks: Vec<Check>,
}

/// Tell what became of a server for a requirement.
pub fn story<'r>(
    resolution: &'r Resolution,
    requirement: usize,
    server: ServerView<'r>,
) -> Story<'r> {
    let verdict = match (
        resolution.near(requirement, server),
        resolution.selected(requirement),
    ) {
        (Some(near), _) => Verdict::Rejected(near),
        (None, Some(selected)) if selected.rank() != server.rank() => {
            Verdict::Eligible(TieBreak::between(selected, server))
        }
        (None, _) => Verdict::Selected,
    };
    Story {
        requirement,
        server,
        checks: checks(resolution, requirement, server),
        verdict,
    }
}

/// Returns the checks of a record that were made, in words. `place` locates the required value.
pub(super) fn in_words(
    record: Vec<agent_decide::Check<'_>>,
    place: impl Fn(&agent_decide::Check<'_>) -> Option<Place>,
) -> Vec<Check> {
    let made = |check: &agent_decide::Check<'_>| match check.outcome {
        CheckOutcome::Passed => Some(true),
        CheckOutcome::Failed => Some(false),
        CheckOutcome::Deferred | CheckOutcome::Skipped(_) => None,
    };
    let record = record.iter().filter_map(|check| {
        let (required, offered) = values(&check.compared);
        Some(Check {
            code: check.code,
            required,
            offered,
            passed: made(check)?,
            asked_at: place(check),
        })
    });
    record.collect()
}

/// The required value and that of the candidate.
fn values(compared: &Comparison<'_>) -> (Option<String>, String) {
    let list = |names: &[&str]| names.join(", ");
    let required = |names: &[&str]| (!names.is_empty()).then(|| list(names));
    match compared {
        Comparison::Category(category, offered) => (Some((*category).to_owned()), list(offered)),
        Comparison::Scopes(scopes, offered) => (required(scopes), list(offered)),
        Comparison::Residency(required, offered) => {
            let offered: Vec<_> = offered.iter().map(Residency::as_str).collect();
            (required.map(|it| it.as_str().to_owned()), list(&offered))
        }
        Comparison::Sensitivity(required, offered) => (
            required.map(|it| it.as_str().to_owned()),
            offered.as_str().to_owned(),
        ),
        Comparison::Signature(required, signed) => (
            required.then(|| "signed".to_owned()),
            if *signed { "signed" } else { "unsigned" }.to_owned(),
        ),
        Comparison::Capability(pair, offered) => (Some(pair.clone()), list(offered)),
        Comparison::Constraints(tags, blocks) => {
            let blocks: Vec<_> = blocks.iter().map(|tags| list(tags)).collect();
            (required(tags), blocks.join("; or "))
        }
        Comparison::Action(forbids, tool, _) => (
            forbids.then(|| "not forbidden".to_owned()),
            (*tool).to_owned(),
        ),
        Comparison::Policy(answer) => {
            let answer = match answer {
                Some(Rejection::PolicyError { reason }) => reason.name().to_owned(),
                Some(Rejection::PolicyDenied {
                    reason: Some(reason),
                }) => format!("denied: {reason}"),
                Some(_) => "denied".to_owned(),
                None => "allowed".to_owned(),
            };
            (Some("allowed".to_owned()), answer)
        }
        Comparison::Health(status) => (
            Some("HEALTHY or PROBATION".to_owned()),
            status
                .map_or("unknown", |status| status.as_str())
                .to_owned(),
        ),
    }
}

/// The place of a required constraint of data or trust.
pub(super) fn constraint_span(constraints: &Constraints, code: Code) -> Option<Span> {
    match code {
        Code::ResidencyMismatch => constraints.residency.map(|it| it.span),
        Code::SensitivityExceeded => constraints.sensitivity.map(|it| it.span),
        Code::UnsignedNotAllowed => constraints.require_signed.map(|it| it.span),
        _ => None,
    }
}

fn checks(resolution: &Resolution, number: usize, server: ServerView<'_>) -> Vec<Check> {
    let manifest = resolution.manifest();
    let requirement = &manifest.requirements[number];
    in_words(resolution.checks(number, server), |check| {
        let span = match check.code {
            Code::MissingCategory => Some(requirement.category.span),
            Code::MissingScope => requirement.permissions.first().map(|first| first.span),
            code => constraint_span(resolution.constraints(), code),
        };
        span.map(|span| manifest.text.place(span))
    })
}

/// What somebody asks about.
#[derive(Debug, Clone)]
pub struct Subject<'r> {
    /// The servers of that id, ordered by version.
    pub servers: Vec<ServerView<'r>>,
    /// The requirements of that category, in file order.
    pub requirements: Vec<usize>,
    /// The tools of that name.
    pub tools: Vec<ToolView<'r>>,
    /// The requirements of that capability, of the manifest and then of the task.
    pub capabilities: Vec<usize>,
}

/// Find what a name names: a server by `id` or `id@version`, a tool by that with `/tool` behind
/// it, the requirements of a category, or those of a capability by `verb:resource`; or several of
/// these. None if it names nothing.
pub fn subject<'r>(resolution: &'r Resolution, name: &str) -> Option<Subject<'r>> {
    let index = resolution.index();
    let servers = servers(index, name);
    // The name of a tool holds no `/`, so that the last one begins it.
    let tools: Vec<_> = name
        .rsplit_once('/')
        .map(|(server, tool)| {
            let servers = self::servers(index, server).into_iter();
            servers.filter_map(|server| server.tool(tool)).collect()
        })
        .unwrap_or_default();
    let requirements: Vec<_> = resolution
        .manifest()
        .requirements
        .iter()
        .enumerate()
        .filter(|(_, requirement)| requirement.category.value.as_str() == name)
        .map(|(number, _)| number)
        .collect();
    let capabilities: Vec<_> = resolution
        .matching()
        .requirements()
        .enumerate()
        .filter(|(_, requirement)| requirement.capability.pair() == name)
        .map(|(number, _)| number)
        .collect();
    let subject = Subject {
        servers,
        requirements,
        tools,
        capabilities,
    };
    (!subject.is_empty()).then_some(subject)
}

impl Subject<'_> {
    fn is_empty(&self) -> bool {
        self.servers.is_empty()
            && self.requirements.is_empty()
            && self.tools.is_empty()
            && self.capabilities.is_empty()
    }
}

/// The servers of an `id`, or that of an `id@version`.
fn servers<'i>(index: &'i Index, name: &str) -> Vec<ServerView<'i>> {
    // An id holds no `@`, so that the first one ends it.
    match name.split_once('@') {
        None => index.versions(name).collect(),
        Some((id, version)) => index
            .versions(id)
            .filter(|server| server.version() == version)
            .collect(),
    }
}

/// The ids of servers, the required categories and the advertised capabilities that are spelled nearly as `name` is.
pub fn did_you_mean<'r>(resolution: &'r Resolution, name: &str) -> Vec<&'r str> {
    let categories = resolution
        .manifest()
        .requirements
        .iter()
        .map(|requirement| requirement.category.value.as_str());
    let ids = resolution.index().servers().map(ServerView::id);
    let pairs = resolution.index().pair_names();
    nearest(name, categories.chain(ids).chain(pairs), 3)
}
