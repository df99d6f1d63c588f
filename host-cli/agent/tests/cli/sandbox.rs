//! `sandbox check`.

use crate::project::Project;

#[test]
fn this_machine_has_a_sandbox_and_its_report_says_so() {
    let project = Project::empty();
    project
        .agent("sandbox check")
        .exits(0)
        .answers("programs run in the sandbox `bubblewrap`")
        .answers("✓ bubblewrap  passed its trial run")
        .notes_nothing();
    let report = project.agent("sandbox check --format json").exits(0).json();
    assert_eq!(report["best"], "bubblewrap");
    assert_eq!(report["seccomp"], true);
    let tiers = report["tiers"].as_array().unwrap();
    assert_eq!(tiers.len(), 2);
    for tier in tiers {
        let is_missing = tier.get("obstacle").is_some();
        assert_eq!(tier["passed"], !is_missing, "{tier}");
        assert!(tier["weaknesses"].is_array(), "{tier}");
    }
    project.agent("sandbox check --format sarif").exits(2);
}
