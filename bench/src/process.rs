//! Whole processes: `agent`, and the same resolution in Python.

use crate::table::Table;
use crate::timing::shortest;
use crate::world::World;
use agent_pack::Workspace;
use std::error::Error;
use std::path::Path;
use std::process::{Command, Stdio};

/// The number of servers from which the naive script is left out: it takes minutes.
const NAIVE_LIMIT: usize = 10_000;

pub(crate) fn measure(
    workspace: &Workspace,
    world: &World,
    table: &mut Table,
) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("agents.md"), &world.manifest)?;
    std::fs::write(folder.path().join("mcp.index.json"), &world.index)?;

    // Built by `cargo xtask bench` beside this program.
    let agent = std::env::current_exe()?.with_file_name("agent");
    let agent_lock = run(
        folder.path(),
        Command::new(&agent).args(["resolve", "--quiet"]),
        table,
        "agent resolve, cold",
    )?;
    let script = |name: &str| workspace.root().join("bench/baseline").join(name);
    let indexed = run(
        folder.path(),
        Command::new("python3").arg(script("indexed.py")),
        table,
        "Python, indexed",
    )?;
    // A baseline must make the same decision.
    assert_eq!(agent_lock, indexed, "the indexed script selects the same");
    if world.servers <= NAIVE_LIMIT {
        let naive = run(
            folder.path(),
            Command::new("python3").arg(script("naive.py")),
            table,
            "Python, naive",
        )?;
        assert_eq!(agent_lock, naive, "the naive script selects the same");
    }
    table.compare(
        "agent resolve / Python, indexed",
        "agent resolve, cold",
        "Python, indexed",
        0.1,
    );
    let peak = peak(folder.path(), &agent)?;
    table.note(format!(
        "`agent resolve` has taken at most {:.0} MB of memory, {:.2} times the index; the target is 1.5.",
        peak as f64 / 1e6,
        peak as f64 / world.index.len() as f64,
    ));
    Ok(())
}

/// Returns the peak of resident memory of `agent resolve`, in bytes.
fn peak(folder: &Path, agent: &Path) -> Result<u64, Box<dyn Error>> {
    // The standard library does not report what an ended process has used.
    const SCRIPT: &str = "import resource, subprocess, sys\n\
        subprocess.run([sys.argv[1], 'resolve', '--quiet'], check=True)\n\
        print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)";
    let mut python = Command::new("python3");
    python.current_dir(folder).args(["-c", SCRIPT]).arg(agent);
    let output = python.stderr(Stdio::inherit()).output()?;
    let kilobytes: u64 = String::from_utf8_lossy(&output.stdout).trim().parse()?;
    Ok(kilobytes * 1024)
}

/// Times a program that writes `agents.lock`, and returns its selections.
fn run(
    folder: &Path,
    command: &mut Command,
    table: &mut Table,
    name: &str,
) -> Result<Vec<(String, String)>, Box<dyn Error>> {
    command
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    let lock = folder.join("agents.lock");
    if lock.exists() {
        std::fs::remove_file(&lock)?;
    }
    let mut failure = None;
    let time = shortest(|| match command.status() {
        Ok(status) if status.success() => {}
        Ok(status) => failure = Some(format!("{name}: {status}")),
        Err(error) => failure = Some(format!("{name}: {error}")),
    });
    if let Some(failure) = failure {
        return Err(failure.into());
    }
    table.add(name, time);
    let lock: serde_json::Value = serde_json::from_slice(&std::fs::read(lock)?)?;
    let selections = lock["selections"]
        .as_array()
        .ok_or("a lock has selections")?;
    Ok(selections
        .iter()
        .map(|selection| {
            (
                selection["hash"].to_string(),
                selection["category"].to_string(),
            )
        })
        .collect())
}
