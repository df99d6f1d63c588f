//! Runs on a terminal: the question for approval, and progress.

use crate::canary;
use crate::interrupts::assert_cancelled;
use crate::processes::send;
use crate::project::{Project, Run};
use crate::run_plan::approval::needs_approval;
use crate::run_plan::server::Server;
use crate::run_plan::{sleeps, summary};
use crate::serve::client::Served;
use crate::serve::project_of;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::ptr;
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// What a terminal sends for Ctrl-C and Ctrl-D.
const CTRL_C: &str = "\u{3}";
const CTRL_D: &str = "\u{4}";

const SERVE: [&str; 3] = ["serve", "--servers", "servers.local.yaml"];

const RUN: [&str; 3] = ["run-plan", "--plan", "plan.json"];

/// A program on a separate terminal.
struct Terminal {
    master: File,
    child: Child,
    shown: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

impl Terminal {
    #[expect(
        unsafe_code,
        reason = "the standard library has no terminals for other programs"
    )]
    fn start(mut command: Command) -> Self {
        let (mut master, mut slave) = (-1, -1);
        let (name, modes, size) = (ptr::null_mut(), ptr::null(), ptr::null());
        // SAFETY: the numbers live through the call, which writes them; the others may be null.
        let opened = unsafe { libc::openpty(&raw mut master, &raw mut slave, name, modes, size) };
        assert_eq!(opened, 0, "a terminal");
        // SAFETY: the two have no other owner.
        let (master, slave) =
            unsafe { (OwnedFd::from_raw_fd(master), OwnedFd::from_raw_fd(slave)) };
        let stream = || slave.try_clone().expect("a stream");
        command.stdin(stream()).stdout(stream()).stderr(stream());
        command.env("NO_COLOR", "1");
        let ours = master.as_raw_fd();
        // SAFETY: the functions may be called between fork and exec, and have no memory effects.
        unsafe {
            command.pre_exec(move || {
                libc::close(ours);
                let is_leader = libc::setsid() >= 0 && libc::ioctl(0, libc::TIOCSCTTY, 0) == 0;
                is_leader
                    .then_some(())
                    .ok_or_else(std::io::Error::last_os_error)
            });
        }
        let child = command.spawn().expect("the program");
        // Otherwise the terminal would have no end.
        drop((command, slave));
        let master = File::from(master);
        let shown = Arc::new(Mutex::new(Vec::new()));
        let (kept, mut output) = (Arc::clone(&shown), master.try_clone().expect("a stream"));
        let reader = thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(read @ 1..) = output.read(&mut buffer) {
                kept.lock().unwrap().extend(&buffer[..read]);
            }
        });
        Self {
            master,
            child,
            shown,
            reader,
        }
    }

    fn shown(&self) -> String {
        String::from_utf8_lossy(&self.shown.lock().unwrap()).into_owned()
    }

    #[track_caller]
    fn await_text(&self, text: &str) {
        let began = Instant::now();
        while !self.shown().contains(text) {
            let shown = self.shown();
            assert!(began.elapsed() < Duration::from_secs(30), "{shown}");
            thread::sleep(Duration::from_millis(20));
        }
    }

    fn type_text(&mut self, text: &str) {
        self.master.write_all(text.as_bytes()).expect("a terminal");
    }

    /// Returns how the terminal treats what is typed.
    #[expect(unsafe_code, reason = "the standard library reads no modes")]
    fn modes(&self) -> [u32; 4] {
        // SAFETY: the structure lives through the call, and all zeros are a valid one.
        let modes = unsafe {
            let mut modes: libc::termios = std::mem::zeroed();
            assert_eq!(libc::tcgetattr(self.master.as_raw_fd(), &raw mut modes), 0);
            modes
        };
        [modes.c_iflag, modes.c_oflag, modes.c_cflag, modes.c_lflag]
    }

    /// Waits for the program's end, and looks for secrets in all that it left.
    #[track_caller]
    fn end(mut self, project: &Project) -> Run {
        let code = self.child.wait().expect("its end").code();
        self.reader.join().expect("all that was shown");
        let stdout = String::from_utf8_lossy(&self.shown.lock().unwrap()).replace("\r\n", "\n");
        let run = Run {
            code,
            stdout,
            stderr: String::new(),
        };
        canary::assert_hidden(&run, &project.path(""));
        run
    }
}

/// Starts a run that asks for approval, and waits for its question.
fn asking() -> (Project, Server, Terminal) {
    let (project, server) = needs_approval();
    let terminal = Terminal::start(project.command(RUN));
    terminal.await_text("approve? [y/N] ");
    (project, server, terminal)
}

fn calls(server: &Server) -> usize {
    let methods = server.methods().into_iter();
    methods.filter(|it| it == "tools/call").count()
}

#[test]
fn the_question_shows_what_is_approved_and_yes_approves() {
    let (project, server, mut terminal) = asking();
    let shown = terminal.shown().replace("\r\n", "\n");
    // The project gives two secrets as arguments.
    let warnings = shown
        .lines()
        .take_while(|it| it.starts_with("warning: the secret"));
    let warned: usize = warnings.map(|it| it.len() + 1).sum();
    let shown = &shown[warned..];
    let checked = project.agent(
        "plan check plan.json --tool-pool tool-pool.json --profile profile.json --format json",
    );
    let digest = checked.exits(0).json()["authorized"].clone();
    let digest = digest.as_str().unwrap();
    let question = format!(
        "step `search`: core:mcp/search with {{\"query\":\"mars\"}}\ndigest {digest}\napprove? [y/N] "
    );
    assert_eq!(shown, question);
    assert_eq!(calls(&server), 0, "before the answer");
    terminal.type_text("y\n");
    terminal.end(&project).exits(0).answers("completed: p");
    assert_eq!(calls(&server), 1);
    let approvals = &summary(&project)["approvals"];
    assert_eq!(approvals[0]["by"], "terminal");
    assert_eq!(approvals[0]["digest"], digest);
}

#[test]
fn every_other_answer_refuses() {
    for answer in ["n\n", "\n", "yes please\n", CTRL_D] {
        let (project, server, mut terminal) = asking();
        terminal.type_text(answer);
        let ended = terminal.end(&project).exits(1);
        drop(ended.answers("policy_denied APPROVAL_REQUIRED"));
        assert_eq!(
            summary(&project)["reason"],
            "APPROVAL_REQUIRED",
            "{answer:?}"
        );
        assert_eq!(calls(&server), 0, "{answer:?}");
    }
}

#[test]
fn what_was_typed_before_the_question_is_no_answer() {
    let (project, server) = needs_approval();
    let mut terminal = Terminal::start(project.command(RUN));
    terminal.type_text("y\n");
    terminal.await_text("approve? [y/N] ");
    thread::sleep(Duration::from_millis(500));
    assert_eq!(calls(&server), 0, "it waits");
    terminal.type_text("n\n");
    let ended = terminal.end(&project).exits(1);
    drop(ended.answers("policy_denied APPROVAL_REQUIRED"));
    assert_eq!(calls(&server), 0);
}

#[test]
fn a_question_can_be_interrupted() {
    for signal in [None, Some(libc::SIGTERM)] {
        let (project, server, mut terminal) = asking();
        let modes = terminal.modes();
        match signal {
            None => terminal.type_text(CTRL_C),
            Some(signal) => send(&terminal.child, signal),
        }
        terminal.await_text("evidence: ");
        assert_eq!(terminal.modes(), modes);
        let ended = terminal.end(&project);
        let (_, rest) = ended.stdout.split_once("approve? [y/N] ").unwrap();
        let (line, _) = rest.split_once('\n').unwrap();
        assert!(["", "^C"].contains(&line), "its line ends: {rest:?}");
        assert_cancelled(&project, ended);
        assert_eq!(calls(&server), 0);
    }
}

#[test]
fn a_gateway_on_a_terminal_names_what_it_waits_for() {
    let project = project_of("stdio", "");
    let mut terminal = Terminal::start(project.command(SERVE));
    terminal.await_text("waits for the MCP client that starts it");
    terminal.type_text(CTRL_D);
    terminal.end(&project).exits(0);
    let served = Served::start(&project, "--servers servers.local.yaml");
    served.end().exits(0).notes_not("waits for");
}

#[test]
fn a_refusal_on_a_terminal_ends_with_how_it_is_seen() {
    const HINT: &str = "`--open` shows why in the playground";
    let project = Project::unsatisfiable();
    let page = ("AGENT_PLAYGROUND", "page");
    let run = |project: &Project, line: &[&str], variable: Option<&str>| {
        let mut command = project.command(line);
        command.envs(variable.map(|value| ("CI", value)));
        command.envs([page]);
        Terminal::start(command).end(project)
    };
    let refused = run(&project, &["resolve"], None);
    assert_eq!(refused.code, Some(1), "{refused:#?}");
    let last = refused.stdout.lines().last().unwrap_or_default();
    assert!(last.starts_with(HINT), "{refused:#?}");

    let quiet: [(&[&str], Option<&str>); 4] = [
        (&["resolve"], Some("true")),
        (&["resolve", "--quiet"], None),
        (&["resolve", "--format", "json"], None),
        (&["validate"], None),
    ];
    for (line, variable) in quiet {
        let refused = run(&project, line, variable);
        assert!(!refused.stdout.contains(HINT), "{line:?}: {refused:#?}");
    }
    // There is no page to show.
    let without = Terminal::start(project.command(["resolve"])).end(&project);
    assert!(!without.stdout.contains(HINT), "{without:#?}");
    let piped = project.agent("resolve").exits(1);
    assert!(!piped.stderr.contains(HINT), "{piped:#?}");
    let satisfied = run(&Project::new(), &["resolve"], None);
    assert!(!satisfied.stdout.contains(HINT), "{satisfied:#?}");
}

#[test]
fn progress_is_drawn_on_a_terminal_alone() {
    let (project, _) = sleeps("2");
    let terminal = Terminal::start(project.command(RUN));
    let ended = terminal.end(&project).exits(0);
    let line = "running /usr/bin/sleep...\r\u{1b}[2K";
    assert!(ended.stdout.contains(line), "{ended:?}");
    let (project, _) = sleeps("2");
    let ended = project.agent("run-plan --plan plan.json").exits(0);
    assert!(!ended.stderr.contains("running"), "{ended:?}");
}
