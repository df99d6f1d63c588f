//! Tokens that stubs save, by the estimate of `agent tools`.

use super::Programs;
use crate::random::Random;
use crate::tool::tool;
use agent_load::project::Project;
use serde_json::{Map, Value, json};
use std::error::Error;
use std::fs;

/// Numbers of servers, and of the tools of each.
const CORPUS: [(usize, usize); 2] = [(3, 15), (20, 25)];

/// Measures what an agent sees at first of each corpus: all definitions, and stubs.
pub(super) fn measure(programs: &Programs) -> Result<String, Box<dyn Error>> {
    let mut table = "estimated tokens that an agent sees at first\n\n".to_owned();
    table
        .push_str("| tools | servers | all definitions | stubs | saved |\n|--:|--:|--:|--:|--:|\n");
    for (servers, tools) in CORPUS {
        let folder = tempfile::tempdir()?;
        let index: Vec<_> = entries(servers, tools);
        fs::write(
            folder.path().join("mcp.index.json"),
            Value::from(index).to_string(),
        )?;
        let project = Project {
            folder: folder.path().to_owned(),
            agent: programs.agent.clone(),
        };
        let [all, stubs] = ["essential", "on_demand"].map(|load| seen(&project, servers, load));
        let (all, stubs) = (all?, stubs?);
        let saved = 100.0 - 100.0 * stubs as f64 / all as f64;
        table.push_str(&format!(
            "| {} | {servers} | {all} | {stubs} | {saved:.1} % |\n",
            servers * tools
        ));
    }
    Ok(table)
}

/// Returns the tokens of what an agent sees at first if all tools are loaded in one way.
fn seen(project: &Project, servers: usize, load: &str) -> Result<u64, Box<dyn Error>> {
    let requirements: String = (0..servers)
        .map(|number| {
            format!("    - category: of-{number}\n      permissions: []\n      load: {load}\n")
        })
        .collect();
    let manifest =
        format!("---\nname: stubs\nversion: 1.0.0\nrequires:\n  mcp:\n{requirements}---\n");
    fs::write(project.folder.join("agents.md"), manifest)?;
    let resolved = project.command("resolve --quiet").status()?;
    if !resolved.success() {
        return Err(format!("`agent resolve`: {resolved}").into());
    }
    let listed = project.command("tools --format json").output()?;
    let listed: Value = serde_json::from_slice(&listed.stdout)?;
    let estimate = &listed["_meta"]["io.github.agent-engine/token-estimate"]["total"];
    estimate
        .as_u64()
        .ok_or_else(|| "`agent tools` has no estimate".into())
}

/// Returns the index of a corpus.
fn entries(servers: usize, tools: usize) -> Vec<Value> {
    let mut random = Random::new();
    let entry = |server: usize| {
        let tools = (0..tools).map(|number| {
            let (name, definition) = tool(number, &mut random);
            (format!("server_{server}_{name}"), definition)
        });
        let tools: Map<_, _> = tools.collect();
        json!({
            "id": format!("server-{server}"), "version": "1.0.0",
            "endpoint": format!("https://mcp.example/servers/{server}"),
            "categories": [format!("of-{server}")], "scopes": [],
            "data": { "residency": "any", "maxSensitivity": "public" },
            "trust": { "signed": true, "publisher": "Tests" },
            "capabilities": { "tools": tools },
        })
    };
    (0..servers).map(entry).collect()
}
