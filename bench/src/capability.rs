//! Required capabilities, against an index that consists mostly of tools.

use crate::native::{load, read_manifest};
use crate::parse;
use crate::table::Table;
use crate::timing::{shortest, shortest_from};
use crate::world::World;
use agent_decide::{EvaluationContext, Matching, PolicyEngine};
use agent_lower as lower;
use agent_model::{Index, Manifest};
use agent_rego as policy;
use std::sync::Arc;
use std::time::Duration;

/// A realistic policy.
const POLICY: &str = include_str!("../../examples/policies/tier.rego");

/// The engine's matching, written as a policy.
const WHOLE: &str = include_str!("../baseline/whole.rego");

pub(crate) fn measure(world: &World) -> Table {
    let mut table = parse::table(world);
    table.note(format!(
        "A process that has loaded the index and done nothing else has taken {:.0} MB, the text of \
         {:.0} MB included.",
        memory::peak_of_loading(&world.index) as f64 / 1e6,
        world.index.len() as f64 / 1e6,
    ));
    let manifest = read_manifest(world.manifest.clone());
    let bytes = || world.index.clone();
    table.add("native: load the index", shortest_from(bytes, load));
    let whole = shortest_from(bytes, |bytes| decide(&manifest, &load(bytes), None));
    table.add_target("native: bytes → every tool matched", whole, 2.0);
    let index = load(world.index.clone());
    assert!(decide(&manifest, &index, None).satisfied());
    let without = shortest(|| decide(&manifest, &index, None));
    table.add("native: warm match", without);
    let policy: Arc<dyn PolicyEngine> = Arc::new(
        policy::read(POLICY.into())
            .expect("the policy is valid")
            .value,
    );
    let with = shortest(|| decide(&manifest, &index, Some(&policy)));
    table.add("native: warm match under a policy", with);
    table.add("the policy's share of it", with.saturating_sub(without));
    table
}

/// Measures a world that is small enough for a policy to decide it as a whole.
pub(crate) fn compare(world: &World) -> Table {
    let mut table = parse::table(world);
    let manifest = read_manifest(world.manifest.clone());
    let index = load(world.index.clone());
    let matching = decide(&manifest, &index, None);
    let (whole, selected) = whole_as_a_policy(world, &manifest);
    let ours: Vec<_> = (0..matching.len())
        .map(|number| matching.selected(number).map(lower::tool_id))
        .collect();
    assert_eq!(ours, selected, "both decide the same");
    const WARM: &str = "native: warm match";
    const WHOLE: &str = "the whole as one policy in Rego";
    table.add(WARM, shortest(|| decide(&manifest, &index, None)));
    table.add(WHOLE, whole);
    table.compare("warm match ÷ the whole in Rego", WARM, WHOLE, 0.01);
    table
}

fn decide(
    manifest: &Arc<Manifest>,
    index: &Arc<Index>,
    policy: Option<&Arc<dyn PolicyEngine>>,
) -> Matching {
    let evaluation_context = EvaluationContext {
        policy: policy.cloned(),
        ..EvaluationContext::default()
    };
    Matching::new(
        Some(Arc::clone(manifest)),
        Arc::clone(index),
        evaluation_context,
    )
}

/// Decides the requirements of a world by one policy, as a user with only an evaluator of Rego
/// would. Returns the time of the evaluation, with loaded data, and the selections.
fn whole_as_a_policy(world: &World, manifest: &Manifest) -> (Duration, Vec<Option<String>>) {
    let index = std::str::from_utf8(&world.index).expect("the index is UTF-8");
    let requirements: Vec<_> = manifest
        .capabilities
        .iter()
        .map(|requirement| {
            serde_json::json!({
                "verb": requirement.capability.verb.as_str(),
                "resource": requirement.capability.resource.to_string(),
            })
        })
        .collect();
    let input = serde_json::json!({ "requirements": requirements }).to_string();
    let mut engine = regorus::Engine::new();
    engine
        .add_policy("whole.rego".to_owned(), WHOLE.to_owned())
        .and_then(|_| engine.add_data_json(index))
        .and_then(|()| engine.set_input_json(&input))
        .expect("the policy and its data are valid");
    let mut answer = None;
    let whole = shortest(|| {
        // A new engine each time, because it caches evaluated rules.
        let selected = engine.clone().eval_rule("data.whole.selected".to_owned());
        answer = Some(selected.expect("the policy is evaluated"));
    });
    let answer = answer.expect("it was evaluated").to_json_str();
    let answer = answer.expect("the answer is JSON");
    (whole, serde_json::from_str(&answer).expect("a list of ids"))
}

/// The cost of loading an index. It is measured in its own process, because freed memory stays with
/// its process.
pub(crate) mod memory {
    use std::path::Path;
    use std::process::Command;

    /// The argument that makes the program [`load`] an index.
    pub(crate) const ARGUMENT: &str = "--memory-of";

    /// Peak resident memory of a process that loads an index, in bytes. 0 if the system does not
    /// report it.
    pub(super) fn peak_of_loading(index: &[u8]) -> u64 {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        std::fs::write(file.path(), index).expect("it can be written");
        let program = std::env::current_exe().expect("this program has a path");
        let mut command = Command::new(program);
        let output = command.arg(ARGUMENT).arg(file.path()).output();
        let said = output.expect("this program runs").stdout;
        let said = String::from_utf8_lossy(&said);
        said.trim().parse().expect("a number of bytes")
    }

    /// Loads an index and prints the peak.
    pub(crate) fn load(path: &Path) {
        let text = std::fs::read(path).expect("the index can be read");
        let index = super::load(text);
        assert!(index.tool_count() > 0);
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB"));
        let kilobytes: u64 = kilobytes
            .and_then(|number| number.parse().ok())
            .unwrap_or(0);
        println!("{}", kilobytes * 1024);
    }
}
