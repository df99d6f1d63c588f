//! A folder of tasks with its daemon.

use serde_json::{Value, json};
use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The time that an action without its own limit may take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A folder of tasks, with a daemon that ends with it, and its apps too.
pub(crate) struct Bed {
    folder: TempDir,
    daemon: Option<Child>,
    /// Where programs are found, if not where the tests find them.
    path: Option<OsString>,
    /// More variables of the environment.
    variables: Vec<(&'static str, String)>,
}

/// A response over HTTP.
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) body: String,
}

impl Bed {
    /// Starts a daemon at any port, with more options.
    pub(crate) fn new(options: &[&str]) -> Self {
        Self::with_path(None, options)
    }

    /// Starts a daemon that finds programs elsewhere.
    pub(crate) fn with_path(path: Option<OsString>, options: &[&str]) -> Self {
        let mut bed = Self::not_started();
        bed.path = path;
        bed.start(options);
        bed
    }

    /// Starts a daemon with more variables of the environment.
    pub(crate) fn with_variables(variables: Vec<(&'static str, String)>, options: &[&str]) -> Self {
        let mut bed = Self::not_started();
        bed.variables = variables;
        bed.start(options);
        bed
    }

    /// Makes a folder without a daemon.
    pub(crate) fn not_started() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            daemon: None,
            path: None,
            variables: Vec::new(),
        }
    }

    /// Starts the daemon at any port, also again.
    pub(crate) fn start(&mut self, options: &[&str]) {
        self.start_at("0", options);
    }

    /// Starts the daemon, whose gateway gets a port.
    pub(crate) fn start_at(&mut self, port: &str, options: &[&str]) {
        self.spawn(&[&["--port", port], options].concat());
        let pid = self.pid();
        let address = self.path(".mcpd/.state/daemon.json");
        self.eventually("the daemon listens", || {
            let text = fs::read_to_string(&address).ok()?;
            let value: Value = serde_json::from_str(&text).ok()?;
            let address = value["address"].as_str()?.to_owned();
            // The file may be that of the daemon before.
            let is_own = value["pid"] == pid;
            TcpStream::connect(address).ok().filter(|_| is_own)
        });
    }

    /// Starts the daemon, and does not wait for it.
    pub(crate) fn spawn(&mut self, options: &[&str]) {
        let log = fs::File::options()
            .create(true)
            .append(true)
            .open(self.path("daemon.log"))
            .unwrap();
        let mut daemon = self.command(&["mcpd"]);
        let daemon = daemon.args(options).stdin(Stdio::null()).stderr(log);
        self.daemon = Some(daemon.spawn().unwrap());
    }

    /// Returns the process of the daemon.
    pub(crate) fn pid(&self) -> i64 {
        self.daemon.as_ref().unwrap().id().into()
    }

    /// Kills the daemon, without a warning.
    pub(crate) fn kill(&mut self) {
        if let Some(mut daemon) = self.daemon.take() {
            daemon.kill().unwrap();
            daemon.wait().unwrap();
        }
    }

    /// Waits until the daemon has ended by itself.
    pub(crate) fn ended(&mut self) {
        if let Some(mut daemon) = self.daemon.take() {
            let status = self.eventually("the daemon ends", || daemon.try_wait().unwrap());
            assert!(status.success(), "{status}");
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = mcp();
        command.args(arguments);
        self.placed(command)
    }

    /// Returns a call of a shell.
    pub(crate) fn shell(&self, line: &str) -> Command {
        let mut shell = Command::new("bash");
        shell.args(["-c", line]);
        self.placed(shell)
    }

    fn placed(&self, mut command: Command) -> Command {
        command.current_dir(self.folder.path());
        // The files of the user who runs the tests are neither read nor written.
        command.env("XDG_CONFIG_HOME", self.path("config"));
        command.env("XDG_DATA_HOME", self.path("data"));
        command.envs(self.path.iter().map(|path| ("PATH", path)));
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Calls the program.
    pub(crate) fn mcp(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Calls the program, which must succeed. Returns what it prints.
    pub(crate) fn done(&self, arguments: &[&str]) -> String {
        let output = self.mcp(arguments);
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {errors}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Returns the tasks.
    pub(crate) fn tasks(&self) -> Vec<Value> {
        let list = self.done(&["list", "--format", "json"]);
        let list: Value = serde_json::from_str(&list).unwrap();
        list["tasks"].as_array().unwrap().clone()
    }

    /// Returns a task.
    pub(crate) fn task(&self, id: &str) -> Value {
        let tasks = self.tasks().into_iter();
        let mut found = tasks.filter(|task| task["task_id"] == id);
        found.next().unwrap_or_else(|| panic!("no task {id}"))
    }

    /// Sends a request to the daemon with its token.
    pub(crate) fn daemon(&self, method: &str, path: &str, body: &str) -> Response {
        self.daemon_with(method, path, &[], body)
    }

    pub(crate) fn daemon_with(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Response {
        let token = fs::read_to_string(self.path(".mcpd/.state/token")).unwrap();
        let token = format!("Bearer {}", token.trim());
        let mut all = vec![
            ("Authorization", &*token),
            ("Content-Type", "application/json"),
        ];
        all.extend(headers);
        let url = format!("http://{}{path}", self.address());
        request(method, &url, &all, body)
    }

    /// Returns the address of the daemon.
    pub(crate) fn address(&self) -> String {
        let text = fs::read_to_string(self.path(".mcpd/.state/daemon.json")).unwrap();
        let value: Value = serde_json::from_str(&text).unwrap();
        value["address"].as_str().unwrap().to_owned()
    }

    /// Returns the URL at which the gateway has an app, whether it runs or not.
    pub(crate) fn app_url(&self, id: &str) -> String {
        let log = fs::read_to_string(self.path("daemon.log")).unwrap();
        let (_, last) = log.rsplit_once("apps are at ").unwrap();
        format!("{}apps/{id}/", last.lines().next().unwrap())
    }

    /// Calls a verb for a task. Returns its envelope.
    pub(crate) fn verb(&self, name: &str, task: Option<&str>, input: &Value) -> Value {
        let mut request = json!({ "input": input });
        if let Some(task) = task {
            request["task_id"] = task.into();
        }
        let path = format!("/verbs/{name}");
        let response = self.daemon("POST", &path, &request.to_string());
        serde_json::from_str(&response.body)
            .unwrap_or_else(|_| panic!("{} {}", response.status, response.body))
    }

    /// Opens a task with these files instead of those of a plan. Returns its id.
    pub(crate) fn task_with(&self, files: &[(&str, &str)]) -> String {
        let plan = self.verb("plan.create", None, &json!({ "prompt": "hello" }));
        let id = plan["data"]["task_id"].as_str().unwrap().to_owned();
        let writes = files
            .iter()
            .map(|(path, content)| json!({ "path": path, "content": content }));
        let writes: Vec<_> = writes.collect();
        let applied = self.verb("fs.apply", Some(&id), &json!({ "writes": writes }));
        assert_eq!(applied["ok"], true, "{applied}");
        id
    }

    /// Waits until something is there.
    pub(crate) fn eventually<T>(&self, what: &str, mut look: impl FnMut() -> Option<T>) -> T {
        let end = Instant::now() + PATIENCE;
        loop {
            if let Some(found) = look() {
                return found;
            }
            let log = fs::read_to_string(self.path("daemon.log")).unwrap_or_default();
            assert!(Instant::now() < end, "{what}\n{log}");
            sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Bed {
    fn drop(&mut self) {
        // The apps outlive the daemon: each has to be ended.
        for supervisor in supervisors(self.folder.path()) {
            let _ = Command::new("kill").arg(supervisor.to_string()).status();
        }
        self.kill();
    }
}

/// Returns a call of the program under its second name.
pub(crate) fn mcp() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_agent"));
    command.arg0("mcp");
    command
}

/// Returns the supervisors of the apps of a folder that run.
pub(crate) fn supervisors(folder: &Path) -> Vec<i64> {
    let Ok(entries) = fs::read_dir(folder.join(".mcpd/.state")) else {
        return Vec::new();
    };
    let running = entries.filter_map(|entry| {
        let text = fs::read_to_string(entry.ok()?.path()).ok()?;
        let run: Value = serde_json::from_str(&text).ok()?;
        let is_running = run["phase"].as_str()? != "ended";
        let pid = run["supervisor"]["pid"].as_i64()?;
        // One that was killed stays listed until its new parent takes note.
        let status = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let lives = !status.contains(") Z ");
        (is_running && lives).then_some(pid)
    });
    running.collect()
}

/// Sends a request to a URL of this machine.
pub(crate) fn request(method: &str, url: &str, headers: &[(&str, &str)], body: &str) -> Response {
    let rest = url.strip_prefix("http://").unwrap();
    let (host, path) = rest.split_once('/').unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut head = format!("{method} /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n");
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    // A test may announce a body that it never sends.
    if !headers.iter().any(|(name, _)| *name == "Content-Length") {
        head.push_str(&format!("Content-Length: {}\r\n", body.len()));
    }
    head.push_str("\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    // A server may answer, and close, before it has the whole body \[RFC 9112, 9.5\].
    let is_answered_early = is_closed(stream.write_all(body.as_bytes()));
    let mut answer = Vec::new();
    let is_cut = is_closed(stream.read_to_end(&mut answer).map(drop));
    assert!(!is_cut || is_answered_early, "the answer of {url} is cut");
    let answer = String::from_utf8_lossy(&answer);
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let is_chunked = head.to_lowercase().contains("transfer-encoding: chunked");
    Response {
        status: head[9..12].parse().unwrap(),
        body: match is_chunked {
            true => joined(body),
            false => body.to_owned(),
        },
    }
}

/// Returns whether the other side closed the connection. Panics at any other error.
fn is_closed(result: io::Result<()>) -> bool {
    let closed = [ErrorKind::BrokenPipe, ErrorKind::ConnectionReset];
    match result {
        Ok(()) => false,
        Err(error) if closed.contains(&error.kind()) => true,
        Err(error) => panic!("{error}"),
    }
}

/// Returns the content of a body in chunks of ASCII.
fn joined(mut body: &str) -> String {
    let mut content = String::new();
    while let Some((size, rest)) = body.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap();
        content.push_str(&rest[..size]);
        body = rest[size..].strip_prefix("\r\n").unwrap();
    }
    content
}

/// Sends a request for a URL.
pub(crate) fn get(url: &str) -> Response {
    request("GET", url, &[], "")
}
