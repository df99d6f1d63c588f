//! What the tests share: tasks in a separate place, their apps, and a look at what is left of them.

#![allow(dead_code, reason = "each test file uses a part")]

use agent_tasks::{
    App, AskedLimits, Change, Memory, Run, SocketFolder, SourcePath, Spec, Started, Task, Tasks,
};
use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The interpreter of the system, which a sandbox can read.
pub(crate) const PYTHON: &str = "/usr/bin/python3";

/// The variable that names a copy of the program that the tests start.
const PROGRAM: &str = "AGENT_TASKS_TEST_PROGRAM";

/// The user and group `nobody`, whom the kernel treats as any user.
const NOBODY: u32 = 65534;

/// Longer than anything takes on a busy machine.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// A server that answers with its own text, at the port and address in the place of `ADDRESS`.
pub(crate) const SERVER: &str = r#"
import http.server, os, socket, sys
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    def do_GET(self):
        body = b'Hello, World!'
        self.send_response(200)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_): pass
class Server(http.server.ThreadingHTTPServer):
    address_family = socket.AF_INET6 if ':' in ADDRESS[0] else socket.AF_INET
    request_queue_size = 256
server = Server(ADDRESS, Handler)
print('listening on', server.server_address[1], flush=True)
server.serve_forever()
"#;

/// A place with a folder of tasks and one of sockets.
pub(crate) struct Place {
    pub(crate) folder: TempDir,
    pub(crate) tasks: Tasks,
    pub(crate) sockets: SocketFolder,
}

impl Place {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let tasks = Tasks::open(&folder.path().join(".mcpd")).unwrap();
        let sockets = SocketFolder::first_of(&[folder.path().join("sock")]).unwrap();
        Self {
            folder,
            tasks,
            sockets,
        }
    }

    /// Makes a task with a file `app.py`.
    pub(crate) fn task(&self, program: &str) -> Task {
        let task = self.tasks.create(&Memory::default()).unwrap();
        let source = task.source().unwrap();
        source.apply(vec![write("app.py", program)]).unwrap();
        task
    }

    /// Describes a run of `app.py`.
    pub(crate) fn spec(&self, task: &Task) -> Spec {
        Spec {
            app: App::Commands(vec![
                [PYTHON, "-I", "-S", "-B", "app.py"]
                    .map(str::to_owned)
                    .into(),
            ]),
            env: BTreeMap::new(),
            port: 8080,
            socket: self.sockets.socket(task.id()),
            ready_regex: None,
            ready_timeout: LONG,
            limits: AskedLimits::default(),
            grace: Duration::from_secs(5),
            idle: None,
            folders: BTreeMap::new(),
            read: Vec::new(),
            readonly: false,
            egress: Vec::new(),
            secrets: BTreeMap::new(),
        }
    }

    /// Starts a task that gets ready.
    pub(crate) fn ready(&self, task: &Task) -> Run {
        match task.start(supervisor(), self.spec(task)).unwrap() {
            Started::Ready(run) => run,
            other => panic!("{other:?}: {}", log(task)),
        }
    }
}

impl Drop for Place {
    /// Ends what a failed test has left running.
    fn drop(&mut self) {
        for listed in self.tasks.list().unwrap_or_default() {
            if let Ok(task) = self.tasks.task(&listed.id) {
                let _ = task.stop(Duration::ZERO);
            }
        }
    }
}

/// Returns the words of the first command.
pub(crate) fn first_command(spec: &mut Spec) -> &mut Vec<String> {
    match &mut spec.app {
        App::Commands(commands) => &mut commands[0],
        App::Runner(_) | App::Component(_) => panic!("no command"),
    }
}

/// A program at the port that it is asked for.
pub(crate) fn server() -> String {
    SERVER.replace("ADDRESS", "('127.0.0.1', int(os.environ['PORT']))")
}

pub(crate) fn supervisor() -> Command {
    let mut command = Command::new(program());
    command.arg("supervise");
    command
}

/// The program that the tests start, or a copy of it that an unprivileged user can reach.
pub(crate) fn program() -> PathBuf {
    let usual = || env!("CARGO_BIN_EXE_agent-tasks-test-program").into();
    std::env::var_os(PROGRAM).map_or_else(usual, PathBuf::from)
}

/// Runs the tests of this file that match `filter` as an unprivileged user, unless this is one.
pub(crate) fn run_unprivileged(filter: &str) {
    if !rustix::process::getuid().is_root() {
        return;
    }
    // The user may not reach the folder of the build.
    let folder = tempfile::tempdir().unwrap();
    let (tests, copy) = (folder.path().join("tests"), folder.path().join("program"));
    for (from, to) in [
        (std::env::current_exe().unwrap(), &tests),
        (program(), &copy),
    ] {
        // Not by this process: a child of another test would have the copy open for writing.
        let copied = Command::new("cp").arg(from).arg(to).status();
        assert!(copied.unwrap().success());
    }
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let output = Command::new(tests)
        .args([filter])
        .env(PROGRAM, copy)
        .current_dir("/")
        .uid(NOBODY)
        .gid(NOBODY)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && !text.contains(" 0 passed"),
        "{text}"
    );
}

pub(crate) fn write(path: &str, content: &str) -> Change {
    Change::Write {
        path: SourcePath::parse(path).unwrap(),
        content: content.into(),
        mode: 0o644,
    }
}

pub(crate) fn remove(path: &str) -> Change {
    Change::Remove {
        path: SourcePath::parse(path).unwrap(),
    }
}

pub(crate) fn log(task: &Task) -> String {
    String::from_utf8_lossy(&fs::read(task.path().join("run.log")).unwrap()).into_owned()
}

/// Asks a task over its socket. Returns the answer up to the end of its body.
pub(crate) fn get(socket: &Path) -> std::io::Result<String> {
    let mut connection = UnixStream::connect(socket)?;
    connection.set_read_timeout(Some(LONG))?;
    connection.write_all(b"GET / HTTP/1.1\r\nHost: task\r\nConnection: close\r\n\r\n")?;
    let mut answer = String::new();
    connection.read_to_string(&mut answer)?;
    Ok(answer)
}

/// Waits until something is so.
pub(crate) fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < LONG, "never: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Returns the processes whose command line or working folder names a marker.
pub(crate) fn processes(marker: &str) -> Vec<i32> {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let marked = processes.filter(|process| {
        let line = fs::read(process.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(marker)
    });
    let id = |process: fs::DirEntry| process.file_name().to_str()?.parse().ok();
    marked.filter_map(id).collect()
}

/// Lists the control groups of a process's commands.
pub(crate) fn groups(supervisor: i32) -> Vec<String> {
    let prefix = format!("agent-sandbox-{supervisor}-");
    let mut found = Vec::new();
    let mut folders = vec![Path::new("/sys/fs/cgroup").to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                if entry.file_name().to_string_lossy().starts_with(&prefix) {
                    found.push(entry.path().display().to_string());
                }
                folders.push(entry.path());
            }
        }
    }
    found
}
