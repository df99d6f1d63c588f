//! Parts that run beside the others.
//!
//! Link-time optimisation for the browser takes one core for minutes, and so leaves the other one idle.

use agent_pack::Workspace;
use anyhow::{Context as _, Result};
use std::io::{self, Read as _, Write as _, stdout};
use std::path::Path;
use std::process::Command;
use std::{env, thread};

use super::Part;
use crate::browser::chromium;
use crate::{bubblewrap, status};

/// The parts that compile for the browser and measure no times, in the order of their runs.
const BESIDE: [&str; 3] = [
    "the playground is within its budget",
    "the engine's module in the browser",
    "the resolver alone is small and answers the same",
];

/// Runs parts in two rows at the same time: those of [`BESIDE`], and the others. Both end before the parts
/// after the last of [`BESIDE`], which have the machine for themselves. Returns the number of failures.
pub(super) fn run_all(workspace: &Workspace, parts: &[Part]) -> Result<usize> {
    // Debian's package manager serves one caller at a time.
    bubblewrap::ensure()?;
    chromium::ensure()?;
    let is_beside = |part: &Part| BESIDE.contains(&part.0);
    let last = parts.iter().rposition(is_beside);
    let (first, alone) = parts.split_at(last.map_or(0, |last| last + 1));
    let others: Vec<_> = first
        .iter()
        .filter(|part| !is_beside(part))
        .copied()
        .collect();
    let this = env::current_exe().context("the path of this program is unknown")?;
    let failed = thread::scope(|scope| {
        let row = scope.spawn(|| BESIDE.map(|name| printed(workspace, &this, name)));
        let names = BESIDE.join("; ");
        status::doing("Testing", format_args!("beside the others: {names}"));
        let failed = super::run_all(workspace, "Testing", &others);
        let row = row.join().expect("no part panics");
        let row = BESIDE.iter().zip(row);
        failed + row.filter(|(name, ended)| !report(name, ended)).count()
    });
    Ok(failed + super::run_all(workspace, "Testing", alone))
}

/// Runs a part in a process of its own. Returns what it printed, and whether it passed.
fn printed(workspace: &Workspace, this: &Path, name: &str) -> io::Result<(Vec<u8>, bool)> {
    let (mut reader, writer) = io::pipe()?;
    let mut part = Command::new(this);
    part.current_dir(workspace.root()).args(["test", name]);
    let mut child = part.stdout(writer.try_clone()?).stderr(writer).spawn()?;
    // It holds the other end of the pipe.
    drop(part);
    let mut printed = Vec::new();
    reader.read_to_end(&mut printed)?;
    Ok((printed, child.wait()?.success()))
}

/// Prints what a part printed. Returns whether it passed.
fn report(name: &str, ended: &io::Result<(Vec<u8>, bool)>) -> bool {
    status::doing("Tested", name);
    match ended {
        Ok((printed, has_passed)) => {
            // Nobody reads standard output if it can't be written.
            let _ = stdout().write_all(printed);
            *has_passed
        }
        Err(error) => {
            status::error(&anyhow::anyhow!("the part can't be run: {error}"));
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{BESIDE, printed};
    use crate::test::PARTS;
    use agent_pack::Workspace;
    use std::path::Path;

    #[test]
    fn every_part_beside_the_others_is_a_part() {
        for name in BESIDE {
            assert!(PARTS.iter().any(|(part, _)| *part == name), "{name}");
        }
    }

    #[test]
    fn a_part_is_what_its_process_says() {
        let workspace = Workspace::of_this_build();
        let part = |program| printed(&workspace, Path::new(program), "a part").unwrap();
        assert_eq!(part("/bin/echo"), (b"test a part\n".to_vec(), true));
        assert!(!part("/bin/false").1);
    }
}
