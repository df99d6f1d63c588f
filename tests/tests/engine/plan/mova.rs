//! The corpus over MOVA's own core, which is not part of the repository.

use super::corpus::{Case, cases};
use agent_decide::{PlanPolicy, authorize_plan};
use agent_diagnostic::{Code, Finding};
use agent_explain::plan_findings;
use agent_json_schema::{CATALOGUES, Library};
use agent_text::Place;
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// Where MOVA's repository is.
const MOVA: Option<&str> = option_env!("AGENT_MOVA_REFERENCE");

/// The schemas and the catalogues of a copy of MOVA, by name.
pub(crate) fn core_of(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let folders = [folder.to_owned(), folder.join("schemas")];
    let folders = folders.iter().filter(|folder| folder.is_dir());
    let entries = folders.flat_map(|folder| fs::read_dir(folder).expect("a folder"));
    let named = entries.filter_map(|entry| {
        let path = entry.expect("an entry").path();
        let name = path.file_name()?.to_str()?.strip_suffix(".json")?;
        let name = name.strip_suffix(".schema").unwrap_or(name).to_owned();
        Some((name, fs::read(&path).expect("a text")))
    });
    named.collect()
}

/// The library with MOVA's own core.
fn library() -> Arc<Library> {
    let core = core_of(Path::new(MOVA.expect("the folder that build.rs found")));
    Arc::new(Library::with_core(core).expect("a core"))
}

/// All of a finding but its words, and where in the schema the rule stands: a schema of others has
/// other words, and says the same in another order.
#[derive(Debug, PartialEq)]
struct Wordless {
    code: Code,
    reason: Option<Code>,
    pointer: String,
    step: Option<usize>,
    /// The document with the rule.
    rule: Option<String>,
    places: Vec<Place>,
}

impl From<Finding> for Wordless {
    fn from(finding: Finding) -> Self {
        let labels = finding.diagnostic.labels.iter();
        Self {
            places: labels.map(|label| label.place).collect(),
            code: finding.diagnostic.code,
            reason: finding.diagnostic.reason,
            pointer: finding.diagnostic.pointer().to_owned(),
            step: finding.diagnostic.step,
            rule: finding
                .diagnostic
                .rule
                .and_then(|rule| rule.split('#').next().map(str::to_owned)),
        }
    }
}

/// The rules of a case over another core.
fn over(case: &Case, library: &Arc<Library>) -> Arc<PlanPolicy> {
    let [pool, profile] = [&case.rules.pool.text, &case.rules.profile.text]
        .map(|text| text.as_str().as_bytes().to_vec());
    Arc::new(PlanPolicy::new(pool, profile, Some(Arc::clone(library))))
}

/// Whether a case may run, and everything that speaks against it.
fn decide(case: &Case) -> (bool, Vec<Finding>) {
    let answer = authorize_plan(&case.plan, &case.rules, case.context());
    let findings = plan_findings(&case.plan, &case.rules, case.context(), &answer);
    (answer.authorized.is_some(), findings)
}

/// The core of the project, in which some schemas say nothing.
fn lax(silent: &[&str]) -> Arc<Library> {
    let own = Library::own();
    let catalogues = CATALOGUES.map(|name| (name.to_owned(), b"{}".to_vec()));
    let core = own.schemas().filter(|schema| schema.of_mova).map(|schema| {
        let text = own.text(schema.name).expect("a schema");
        let text = if silent.contains(&schema.name) {
            "{}"
        } else {
            text
        };
        (schema.name.to_owned(), text.as_bytes().to_vec())
    });
    let core = core.chain(catalogues).collect();
    Arc::new(Library::with_core(core).expect("a core"))
}

#[test]
fn a_core_that_says_less_allows_no_more() {
    let library = lax(&["ds.connector_core_v1", "ds.instruction_profile_core_v1"]);
    for folder in cases("reject") {
        let mut case = Case::read(&folder);
        let (_, expected) = decide(&case);
        case.rules = over(&case, &library);
        let (_, found) = decide(&case);
        assert_eq!(expected, found, "{}", folder.name());
    }
}

#[test]
#[cfg_attr(
    not(mova_reference),
    ignore = "MOVA is not here: set AGENT_REFERENCE, see tests/README.md"
)]
fn the_core_of_mova_itself_decides_the_same() {
    let library = library();
    let mut allowed = 0;
    for folder in cases("accept").into_iter().chain(cases("reject")) {
        let name = folder.name();
        let mut case = Case::read(&folder);
        let (ours, expected) = decide(&case);
        case.rules = over(&case, &library);
        let (theirs, found) = decide(&case);
        assert_eq!(ours, theirs, "{name}: {found:#?}");
        let [expected, found] =
            [expected, found].map(|it| it.into_iter().map(Wordless::from).collect::<Vec<_>>());
        assert_eq!(expected, found, "{name}");
        allowed += usize::from(ours);
    }
    assert!(allowed >= 60, "{allowed}");
}
