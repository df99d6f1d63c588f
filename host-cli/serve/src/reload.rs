//! Documents that are read again when their files change.

use super::gateway::Agent;
use agent_host::contract::diagnostic::Diagnostic;
use agent_host::contract::session::Documents;
use agent_host::{Failure, Hangups, output};
use std::fs;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, SystemTime};
use tokio::select;
use tokio::time::sleep;

/// Time between two looks at the files.
const POLL: Duration = Duration::from_secs(1);

/// Where the documents of agents come from.
pub trait Source {
    /// Returns the files of an agent's documents, also those that don't exist yet.
    fn files(&mut self, agent: usize) -> Vec<PathBuf>;

    /// Reads the documents of an agent.
    ///
    /// # Errors
    ///
    /// When one of them can't be read.
    fn load(&mut self, agent: usize) -> Result<Documents, Failure>;

    /// Shows why the documents that were read last can't be obeyed.
    fn show(&mut self, problems: Vec<Diagnostic>);
}

/// The time and the size of each file; `None` for one that can't be looked at.
type Stamp = Vec<Option<(SystemTime, u64)>>;

fn stamp(files: &[PathBuf]) -> Stamp {
    let look = |path: &PathBuf| {
        let metadata = fs::metadata(path).ok()?;
        Some((metadata.modified().ok()?, metadata.len()))
    };
    files.iter().map(look).collect()
}

/// Loads documents whose files changed, and all of them on SIGHUP, for ever.
pub(crate) async fn watch(agents: &[Rc<Agent>], source: &mut dyn Source, mut hangups: Hangups) {
    let mut files: Vec<_> = (0..agents.len()).map(|it| source.files(it)).collect();
    let mut loaded: Vec<_> = files.iter().map(|it| stamp(it)).collect();
    let mut seen = loaded.clone();
    loop {
        let is_asked = select! {
            () = hangups.next() => true,
            () = sleep(POLL) => false,
        };
        for (number, agent) in agents.iter().enumerate() {
            let now = stamp(&files[number]);
            // Files that are written one after the other are read when no more of them change.
            let is_stable = std::mem::replace(&mut seen[number], now.clone()) == now;
            if !is_asked && (now == loaded[number] || !is_stable) {
                continue;
            }
            reload(number, agent, source);
            files[number] = source.files(number);
            loaded[number] = stamp(&files[number]);
            seen[number] = loaded[number].clone();
        }
    }
}

fn reload(number: usize, agent: &Rc<Agent>, source: &mut dyn Source) {
    let name = match &*agent.service.name {
        "" => String::new(),
        name => format!("{name}: "),
    };
    let loaded = source.load(number);
    match loaded.and_then(|documents| agent.service.reload(documents)) {
        Ok(Ok(())) => output::note(format_args!(
            "{name}the lock and its documents are reloaded"
        )),
        Ok(Err(problems)) => {
            source.show(problems);
            output::note(format_args!(
                "{name}the changed documents are refused; the earlier ones stay in force"
            ));
        }
        Err(failure) => output::note(format_args!(
            "{name}{}; the earlier documents stay in force",
            failure.message
        )),
    }
}
