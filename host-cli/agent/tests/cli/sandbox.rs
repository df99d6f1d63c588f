//! `sandbox`.

use crate::project::Project;

#[test]
fn this_machine_has_a_sandbox_and_its_report_says_so() {
    let project = Project::empty();
    project
        .agent("sandbox")
        .exits(0)
        .answers("programs run in the sandbox `bubblewrap`")
        .answers("✓ bubblewrap  passed its trial run")
        .notes_nothing();
    let report = project.agent("sandbox --format json").exits(0).json();
    assert_eq!(report["best"], "bubblewrap");
    assert_eq!(report["seccomp"], true);
    let tiers = report["tiers"].as_array().unwrap();
    assert_eq!(tiers.len(), 2);
    for tier in tiers {
        let is_missing = tier.get("obstacle").is_some();
        assert_eq!(tier["passed"], !is_missing, "{tier}");
        assert!(tier["weaknesses"].is_array(), "{tier}");
    }
    let groups = agent_sandbox::control_groups();
    let expected = [
        ("cpu_percent", groups.cpu_percent),
        ("cpu_time", groups.cpu_time),
        ("memory", groups.memory),
        ("processes", groups.processes),
    ];
    let expected: Vec<_> = expected.iter().filter(|it| it.1).map(|it| it.0).collect();
    assert_eq!(report["control_groups"], serde_json::json!(expected));
    project.agent("sandbox --format sarif").exits(2);
}
