//! The whole story of one server and one requirement.

use super::verdict::{ServerVerdict, Verdict};
use agent_decide::{Failures, Resolution, TieBreak};
use agent_diagnostic::Code;
use agent_model::{Constraints, Gate, Index, Manifest, Name, Residency, ServerView, ToolView};
use agent_text::{Place, Span, nearest};

/// One check, and the values that were compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// The code that a failure has.
    pub code: Code,
    /// What is asked for. None: nothing is.
    pub required: Option<String>,
    /// What the server offers.
    pub offered: String,
    /// Whether it was passed.
    pub passed: bool,
    /// Where it is asked for, in the manifest.
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

/// The checks of data and trust, which are the same for servers and tools.
pub(super) fn constraint_checks(
    constraints: &Constraints,
    manifest: Option<&Manifest>,
    failed: Failures,
    gate: Gate,
) -> [Check; 3] {
    let check = |code: Code, required: Option<String>, offered: String, span: Option<Span>| Check {
        code,
        required,
        offered,
        passed: !failed.contains(code),
        asked_at: span.and_then(|span| Some(manifest?.text.place(span))),
    };
    let residencies: Vec<_> = gate.residency().iter().map(Residency::as_str).collect();
    [
        check(
            Code::ResidencyMismatch,
            constraints.residency().map(|r| r.as_str().to_owned()),
            residencies.join(", "),
            constraints.residency.map(|constraint| constraint.span),
        ),
        check(
            Code::SensitivityExceeded,
            constraints.sensitivity().map(|s| s.as_str().to_owned()),
            gate.max_sensitivity().as_str().to_owned(),
            constraints.sensitivity.map(|constraint| constraint.span),
        ),
        check(
            Code::UnsignedNotAllowed,
            constraints.require_signed().then(|| "signed".to_owned()),
            if gate.signed() { "signed" } else { "unsigned" }.to_owned(),
            constraints.require_signed.map(|constraint| constraint.span),
        ),
    ]
}

fn checks(resolution: &Resolution, number: usize, server: ServerView<'_>) -> Vec<Check> {
    let manifest = resolution.manifest();
    let requirement = &manifest.requirements[number];
    let failed = resolution.failures(number, server);
    let check = |code: Code, required: Option<String>, offered: String, span| Check {
        code,
        required,
        offered,
        passed: !failed.contains(code),
        asked_at: Option::map(span, |span| manifest.text.place(span)),
    };
    let list = |names: Vec<&str>| names.join(", ");
    let permissions: Vec<_> = requirement
        .permissions
        .iter()
        .map(|permission| permission.value.as_str())
        .collect();
    let own = [
        check(
            Code::MissingCategory,
            Some(requirement.category.value.to_string()),
            list(server.categories().collect()),
            Some(requirement.category.span),
        ),
        check(
            Code::MissingScope,
            (!permissions.is_empty()).then(|| list(permissions)),
            list(server.scopes().collect()),
            requirement.permissions.first().map(|first| first.span),
        ),
    ];
    let of_constraints = constraint_checks(
        resolution.constraints(),
        Some(manifest),
        failed,
        server.gate(),
    );
    own.into_iter().chain(of_constraints).collect()
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
