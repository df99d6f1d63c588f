//! Two rows of parts that run at the same time.
//!
//! A linker, link-time optimisation or a test that waits takes one core and leaves the other one idle.

use agent_pack::Workspace;
use anyhow::{Context as _, Result};
use std::io::{self, Read as _, Write as _, stdout};
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::{env, iter, thread};

use super::{Part, Row, run_all};
use crate::browser::chromium;
use crate::{bubblewrap, status};

/// Runs the parts of both rows at the same time, and returns the number of failures. When the first row is done, it
/// takes parts of the second.
pub(super) fn run(workspace: &Workspace, parts: &[&Part]) -> Result<usize> {
    // Debian's package manager serves one caller at a time.
    bubblewrap::ensure()?;
    chromium::ensure()?;
    let (first, second): (Vec<&Part>, Vec<_>) =
        parts.iter().partition(|part| part.row == Row::First);
    let this = env::current_exe().context("the path of this program is unknown")?;
    let queue = Mutex::new(second.into_iter());
    let next = || queue.lock().ok()?.next();
    let output = Mutex::new(());
    let rest = || {
        let ended = iter::from_fn(next).filter(|part| {
            let ended = printed(workspace, &this, part.name);
            let _whole = output.lock();
            !report(part.name, &ended)
        });
        ended.count()
    };
    let failed = thread::scope(|scope| {
        let second = scope.spawn(rest);
        let failed = run_all(workspace, "Testing", first.iter().map(|part| part.check()));
        failed + rest() + second.join().expect("no part panics")
    });
    Ok(failed)
}

/// Runs a part in a process of its own. Returns its output, and whether it passed.
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

/// Prints the output of a part. Returns whether it passed.
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
    use super::printed;
    use agent_pack::Workspace;
    use std::path::Path;

    #[test]
    fn a_part_passes_as_its_process_does() {
        let workspace = Workspace::of_this_build();
        let part = |program| printed(&workspace, Path::new(program), "a part").unwrap();
        assert_eq!(part("/bin/echo"), (b"test a part\n".to_vec(), true));
        assert!(!part("/bin/false").1);
    }
}
