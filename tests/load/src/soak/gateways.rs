//! The gateways of the test: one over HTTP, and one for each client over standard streams.

use crate::tally::Tally;
use crate::watch::Watch;
use agent_load::message::Endpoint;
use agent_load::process::signal;
use agent_load::project::{Gateway, OPERATOR, Project, Result};
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The size of an audit log that is continued in another file, in bytes.
const AUDIT_BYTES: u64 = 1 << 20;

/// The folder of the audit log of the gateway over HTTP.
const HTTP: &str = "http";

/// The time in which a gateway ends.
const FAREWELL: Duration = Duration::from_secs(30);

pub(crate) struct Gateways {
    http: Gateway,
    pub(crate) endpoint: Endpoint,
    pub(crate) pipes: Vec<Pipes>,
}

/// A gateway over its standard streams.
pub(crate) struct Pipes {
    pub(crate) child: Child,
    pub(crate) input: Option<ChildStdin>,
    /// The lines of its output.
    pub(crate) lines: Receiver<String>,
}

impl Gateways {
    pub(crate) fn start(project: &Project, stdio: u64) -> Result<Self> {
        let folder = |name: &str| {
            let folder = project.folder.join(name);
            fs::create_dir(&folder)?;
            Ok::<_, std::io::Error>(folder.join("audit.jsonl"))
        };
        let size = format!("--audit-size {AUDIT_BYTES}");
        let http = Gateway::start(project, &folder(HTTP)?, &size)?;
        let mut pipes = Vec::new();
        for number in 0..stdio {
            let audit = folder(&format!("stdio-{number}"))?;
            let messages = File::create(audit.with_file_name("gateway.log"))?;
            let line = format!("serve --servers {OPERATOR} {size} --audit");
            let mut child = project
                .command(&line)
                .arg(&audit)
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(messages)
                .spawn()?;
            let output = child.stdout.take().ok_or("standard output was piped")?;
            let (sender, lines) = channel();
            thread::spawn(move || {
                let lines = BufReader::new(output).lines();
                lines
                    .map_while(|it| it.ok())
                    .all(|it| sender.send(it).is_ok());
            });
            pipes.push(Pipes {
                input: child.stdin.take(),
                child,
                lines,
            });
        }
        Ok(Self {
            endpoint: http.endpoint.clone(),
            http,
            pipes,
        })
    }

    /// Returns the names and processes of all gateways.
    pub(crate) fn processes(&self) -> Vec<(String, u32)> {
        let mut all = vec![("the gateway over HTTP".to_owned(), self.http.child.id())];
        for (number, pipes) in self.pipes.iter().enumerate() {
            all.push((format!("stdio gateway {number}"), pipes.child.id()));
        }
        all
    }

    /// Ends the gateways: one by a signal, the others by the end of their input. No process may be left.
    pub(crate) fn end(mut self, tally: &Tally, watch: &mut Watch) {
        let left = watch.processes();
        if let Err(error) = signal(self.http.child.id(), "TERM") {
            tally.fail(format!("the gateway can't be ended: {error}"));
        }
        ended("the gateway over HTTP", &mut self.http.child, tally);
        for (number, pipes) in self.pipes.iter_mut().enumerate() {
            drop(pipes.input.take());
            ended(&format!("stdio gateway {number}"), &mut pipes.child, tally);
        }
        let end = Instant::now() + FAREWELL;
        loop {
            let alive: Vec<_> = left.iter().filter(|it| it.is_alive()).collect();
            if alive.is_empty() {
                return;
            }
            if Instant::now() > end {
                for process in alive {
                    tally.fail(format!("a process is left: {:?}", process.arguments));
                    // It was started by a gateway of this test.
                    let _ = process.kill();
                }
                return;
            }
            sleep(Duration::from_millis(100));
        }
    }
}

fn ended(name: &str, child: &mut Child, tally: &Tally) {
    let end = Instant::now() + FAREWELL;
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return,
            Ok(Some(status)) => return tally.fail(format!("{name} ended with {status}")),
            Ok(None) if Instant::now() < end => sleep(Duration::from_millis(50)),
            Ok(None) => {
                let _ = child.kill();
                return tally.fail(format!("{name} does not end"));
            }
            Err(error) => return tally.fail(format!("{name}: {error}")),
        }
    }
}

/// Verifies the audit logs, which have a decision for every call.
pub(crate) fn verify(project: &Project, tally: &Tally) -> Result<()> {
    let mut decisions = 0;
    for folder in fs::read_dir(&project.folder)? {
        let folder = folder?.path();
        if !folder.join("audit.jsonl").exists() {
            continue;
        }
        let files = parts(&folder)?;
        let mut command = project.command("audit");
        let verified = command.args(&files).stderr(Stdio::piped()).output()?;
        let said = String::from_utf8_lossy(&verified.stderr);
        let said = said.trim();
        let name = folder.file_name().unwrap_or_default().display();
        println!("{name}: {} files, {said}", files.len());
        if !verified.status.success() {
            tally.fail(format!("the audit log of {name} does not verify: {said}"));
        }
        if name.to_string() == HTTP && files.len() < 2 {
            tally.fail(format!("the audit log of {name} was never continued"));
        }
        for file in files {
            let text = fs::read_to_string(file)?;
            decisions += text
                .lines()
                .filter(|it| it.contains(r#""kind":"decision""#))
                .count();
        }
    }
    let calls = tally.calls();
    if (decisions as u64) < calls {
        tally.fail(format!(
            "{calls} calls were answered, and {decisions} are in the audit logs"
        ));
    }
    Ok(())
}

/// Returns the files of a log in their order: `audit.N.jsonl` by the number of its first record, and the last one.
fn parts(folder: &std::path::Path) -> Result<Vec<PathBuf>> {
    let mut parts = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let Some(rest) = name.strip_prefix("audit.") else {
            continue;
        };
        let number = rest.split('.').next().and_then(|it| it.parse().ok());
        parts.push((number.unwrap_or(u64::MAX), path));
    }
    parts.sort();
    Ok(parts.into_iter().map(|(_, path)| path).collect())
}
