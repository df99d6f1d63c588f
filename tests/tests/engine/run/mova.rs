//! Runs over a copy of MOVA's core \[3, 2\].

use super::super::plan::mova::core_of;
use super::{audiences, keep, plan_of, report};
use agent_audit::{EvidenceFile, Folder, verify};
use agent_json_schema::Library;
use agent_run::Documents;
use agent_tests::run::{Ended, behave, options, run};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The project's equivalents, and MOVA's own core where a copy of it is at hand.
fn copies() -> Vec<PathBuf> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../schemas/mova");
    let reference = option_env!("AGENT_MOVA_REFERENCE").map(PathBuf::from);
    [own].into_iter().chain(reference).collect()
}

fn folder(ended: &Ended) -> Folder {
    let files = ended.files.iter().map(|(path, text)| EvidenceFile {
        path: path.clone(),
        content: text.clone().into_bytes(),
    });
    Folder::new(files.collect())
}

#[test]
fn runs_over_a_copy_leave_evidence_that_it_accepts() {
    for copy in copies() {
        let core = core_of(&copy);
        let library = Arc::new(Library::with_core(core.clone()).expect("a core"));
        let mut seen = Vec::new();
        for steps in [keep(), report(), audiences()] {
            for profile in [None, Some(b"{}".to_vec())] {
                let base = plan_of(steps.clone());
                let documents = Documents {
                    mova: core.clone(),
                    profile: profile.or(base.profile.clone()),
                    ..base
                };
                let ended = run(documents, options(), behave);
                seen.push(ended.code().0);
                let problems = verify(&folder(&ended), Some(&library));
                assert!(problems.is_empty(), "{}: {problems:#?}", copy.display());
            }
        }
        let (allowed, denied) = (None, Some("validation_failed"));
        assert_eq!(seen, [allowed, denied].repeat(3), "{}", copy.display());
    }
}

#[test]
fn the_catalogues_of_the_copy_decide() {
    let mut core = core_of(&copies()[0]);
    let name = "global.episode_type_catalog_v1";
    let (_, types) = core
        .iter_mut()
        .find(|it| it.0 == name)
        .expect("a catalogue");
    let text = String::from_utf8(types.clone()).expect("UTF-8");
    *types = text.replace("execution", "elsewhere").into_bytes();
    let library = Arc::new(Library::with_core(core).expect("a core"));
    let ended = run(plan_of(keep()), options(), behave);
    let problems = verify(&folder(&ended), Some(&library));
    let is_of_types = problems
        .iter()
        .filter(|it| it.message.contains("episode types"));
    assert_eq!(
        is_of_types.count(),
        ended.episodes().len() - 1,
        "{problems:#?}"
    );
}

#[test]
fn a_core_that_cannot_be_used_leaves_evidence() {
    let whole = core_of(&copies()[0]);
    let without = |name: &str| whole.iter().filter(|it| it.0 != name).cloned().collect();
    let mut torn = whole.clone();
    torn[0].1 = b"{".to_vec();
    let cases: [(Vec<_>, &str); 3] = [
        (
            without("ds.connector_core_v1"),
            "`ds.connector_core_v1` is missing",
        ),
        (
            without("global.security_catalog_v1"),
            "the catalogue `global.security_catalog_v1` is missing",
        ),
        (torn, "is not JSON"),
    ];
    for (mova, message) in cases {
        let documents = Documents {
            mova,
            ..plan_of(keep())
        };
        let ended = run(documents, options(), behave);
        assert_eq!(ended.code().0, Some("validation_failed"), "{message}");
        assert_eq!(ended.effects, [""; 0], "{message}");
        let found = &ended.finished.message;
        assert!(
            found.contains("MOVA's core can't be used") && found.contains(message),
            "{found}"
        );
        let report: Value =
            serde_json::from_str(&ended.files["validation_report.json"]).expect("JSON");
        assert_eq!(report["verdict"], "deny");
        assert_eq!(ended.security_events(), ["mova_agent:validation_failed"]);
    }
}
