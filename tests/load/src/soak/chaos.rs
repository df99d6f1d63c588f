//! Servers that are killed, stopped and started again, at random.

use agent_load::process::{Process, signal};
use agent_load::project::{Member, Result};
use agent_load::random::Random;
use agent_load::server::Server;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The pauses between two strikes, in milliseconds.
const PAUSE_MS: (u64, u64) = (700, 2_500);

/// The longest time for which a server is down or stopped, in milliseconds.
const DOWN_MS: u64 = 3_000;

/// The time before the end in which no server is struck.
const CALM: Duration = Duration::from_secs(3);

/// The servers over HTTP, which this program starts, and the choices about all servers.
pub(crate) struct Chaos {
    program: PathBuf,
    members: Vec<Member>,
    running: Vec<Http>,
    /// Processes of servers that are stopped, and when they go on.
    stopped: Vec<(u32, Instant)>,
    random: Random,
    next: Instant,
    /// Numbers of servers that were killed, and that were stopped.
    struck: (u32, u32),
}

/// A server over HTTP.
struct Http {
    server: Server,
    port: String,
    child: Child,
    /// When it is started again.
    down: Option<Instant>,
}

impl Chaos {
    /// Starts the servers over HTTP.
    pub(crate) fn new(
        program: &Path,
        members: impl Iterator<Item = Member>,
        random: Random,
    ) -> Result<Self> {
        let mut chaos = Self {
            program: program.to_owned(),
            members: Vec::new(),
            running: Vec::new(),
            stopped: Vec::new(),
            random,
            next: Instant::now(),
            struck: (0, 0),
        };
        for mut member in members {
            if let Some(url) = &mut member.url {
                let (child, found) = start(program, &member.server, "0")?;
                let port = found.rsplit(':').next().and_then(|it| it.split('/').next());
                chaos.running.push(Http {
                    server: member.server.clone(),
                    port: port.unwrap_or_default().to_owned(),
                    child,
                    down: None,
                });
                *url = found;
            }
            chaos.members.push(member);
        }
        Ok(chaos)
    }

    pub(crate) fn members(&self) -> &[Member] {
        &self.members
    }

    /// Returns the names of the servers that gateways start.
    pub(crate) fn started(&self) -> Vec<String> {
        let started = self.members.iter().filter(|it| it.url.is_none());
        started.map(|it| it.server.name.clone()).collect()
    }

    /// Strikes a server if it is time to, and lets others go on. `servers` are those that gateways started.
    pub(crate) fn strike(&mut self, servers: &[Process], end: Instant) {
        let now = Instant::now();
        self.go_on(now);
        if now < self.next || now + CALM > end {
            return;
        }
        let pause = PAUSE_MS.0 + self.random.below(PAUSE_MS.1 - PAUSE_MS.0);
        self.next = now + Duration::from_millis(pause);
        let until = now + Duration::from_millis(self.random.below(DOWN_MS));
        let is_stopped = self.random.below(3) == 0;
        let pid = match self.random.below(2) {
            0 => {
                let server = self.random.below(self.running.len() as u64);
                let Some(http) = self.running.get_mut(usize::try_from(server).unwrap_or(0)) else {
                    return;
                };
                if !is_stopped {
                    self.struck.0 += 1;
                    let _ = http.child.kill();
                    let _ = http.child.wait();
                    http.down = Some(until);
                    return;
                }
                http.child.id()
            }
            _ if servers.is_empty() => return,
            _ => {
                let server = self.random.one(servers);
                if !is_stopped {
                    self.struck.0 += 1;
                    let _ = server.kill();
                    return;
                }
                server.pid
            }
        };
        if signal(pid, "STOP").is_ok() {
            self.struck.1 += 1;
            self.stopped.push((pid, until));
        }
    }

    /// Starts servers again, and lets stopped ones go on, whose time has come.
    fn go_on(&mut self, now: Instant) {
        self.stopped.retain(|(pid, until)| {
            let is_over = *until <= now;
            if is_over {
                let _ = signal(*pid, "CONT");
            }
            !is_over
        });
        for http in &mut self.running {
            // A server ends by itself too.
            if http.down.is_none() && matches!(http.child.try_wait(), Ok(Some(_))) {
                http.down = Some(now);
            }
            if http.down.is_some_and(|until| until <= now)
                && let Ok((child, _)) = start(&self.program, &http.server, &http.port)
            {
                http.child = child;
                http.down = None;
            }
        }
    }

    /// Returns a line about the servers that were struck.
    pub(crate) fn report(&self) -> String {
        let (killed, stopped) = self.struck;
        format!("{killed} times a server was killed, {stopped} times one was stopped")
    }

    /// Lets every server run again.
    pub(crate) fn calm(&mut self) -> Result<()> {
        self.go_on(Instant::now() + Duration::from_millis(DOWN_MS));
        match self.running.iter().find(|it| it.down.is_some()) {
            Some(http) => Err(format!("{} does not start again", http.server.name).into()),
            None => Ok(()),
        }
    }
}

impl Drop for Chaos {
    fn drop(&mut self) {
        for http in &mut self.running {
            // It may have ended by itself.
            let _ = http.child.kill();
            let _ = http.child.wait();
        }
    }
}

/// Starts a server, and returns it with its URL.
fn start(program: &Path, server: &Server, port: &str) -> Result<(Child, String)> {
    let mut child = Command::new(program)
        .args(server.arguments("http"))
        .arg(port)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()?;
    let output = child.stdout.take().ok_or("standard output was piped")?;
    let mut url = String::new();
    BufReader::new(output).read_line(&mut url)?;
    match url.trim() {
        "" => {
            child.wait()?;
            Err(format!("{} does not listen", server.name).into())
        }
        url => Ok((child, url.to_owned())),
    }
}
