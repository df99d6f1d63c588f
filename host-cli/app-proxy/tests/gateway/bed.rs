//! A gateway with its tasks, apps and clients.

use agent_app_proxy::limits::Limits;
use agent_app_proxy::{Config, Gateway, Log, TaskState, TaskSummary, Tasks};
use std::collections::BTreeMap;
use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::ops::RangeInclusive;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use tempfile::TempDir;

/// The id of the task that most tests use.
pub(crate) const TASK: &str = "ab12cd";

/// The time in which everything happens that is waited for.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// What an app answers if nothing else is the matter.
pub(crate) const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// Tasks that a test changes.
#[derive(Default)]
pub(crate) struct Table {
    pub(crate) states: Mutex<BTreeMap<String, TaskState>>,
    pub(crate) list: Mutex<Vec<TaskSummary>>,
    pub(crate) logs: Mutex<BTreeMap<(String, &'static str), Vec<u8>>>,
}

impl Table {
    pub(crate) fn set(&self, task_id: &str, state: TaskState) {
        self.states
            .lock()
            .unwrap()
            .insert(task_id.to_owned(), state);
    }
}

impl Tasks for Table {
    fn state(&self, task_id: &str) -> TaskState {
        let states = self.states.lock().unwrap();
        states.get(task_id).cloned().unwrap_or(TaskState::Unknown)
    }

    fn list(&self) -> Vec<TaskSummary> {
        self.list.lock().unwrap().clone()
    }

    fn log(&self, task_id: &str, log: Log) -> Option<Vec<u8>> {
        let name = match log {
            Log::Run => "run.log",
            Log::Probes => "probes.log",
        };
        self.logs
            .lock()
            .unwrap()
            .get(&(task_id.to_owned(), name))
            .cloned()
    }
}

/// A gateway with its tasks.
pub(crate) struct Bed {
    folder: TempDir,
    pub(crate) tasks: Arc<Table>,
    pub(crate) gateway: Gateway,
}

impl Bed {
    pub(crate) fn new() -> Self {
        Self::with(|_| {})
    }

    /// A gateway with other limits.
    pub(crate) fn with(change: impl FnOnce(&mut Limits)) -> Self {
        let mut limits = Limits::default();
        change(&mut limits);
        Self::at(0, 64_900..=64_999, limits)
    }

    pub(crate) fn at(port: u16, leased_ports: RangeInclusive<u16>, limits: Limits) -> Self {
        let tasks = Arc::new(Table::default());
        let config = Config {
            port,
            leased_ports,
            limits,
        };
        let gateway = Gateway::start(Arc::clone(&tasks) as Arc<dyn Tasks>, config).unwrap();
        Self {
            folder: TempDir::new().unwrap(),
            tasks,
            gateway,
        }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.gateway.address().unwrap()
    }

    pub(crate) fn socket(&self, task_id: &str) -> PathBuf {
        self.folder.path().join(format!("{task_id}.sock"))
    }

    /// Declares a task as running and returns the listener of its app.
    pub(crate) fn listen(&self, task_id: &str) -> UnixListener {
        let socket = self.socket(task_id);
        let listener = UnixListener::bind(&socket).unwrap();
        self.tasks.set(task_id, TaskState::Running(socket.into()));
        listener
    }

    /// Runs an app, each of whose connections is a call of `serve` in a thread of its own.
    pub(crate) fn app(&self, serve: impl Fn(App) + Send + Sync + 'static) {
        let listener = self.listen(TASK);
        let serve = Arc::new(serve);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (stream, serve) = (stream.unwrap(), Arc::clone(&serve));
                stream.set_read_timeout(Some(PATIENCE)).unwrap();
                thread::spawn(move || serve(App { stream }));
            }
        });
    }

    pub(crate) fn client(&self) -> Client {
        Client::new(self.address())
    }

    /// Sends a request for a path of the task over a connection of its own.
    pub(crate) fn get(&self, path: &str) -> Response {
        let mut client = self.client();
        client.send(format!(
            "GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n",
            self.address()
        ));
        client.response()
    }

    /// Ends the gateway. Its folder with the sockets remains.
    pub(crate) fn end(self) -> TempDir {
        drop(self.gateway);
        self.folder
    }
}

/// An app's side of a connection.
pub(crate) struct App {
    pub(crate) stream: UnixStream,
}

impl App {
    /// Reads the head of a request. Nothing at the end of the connection.
    pub(crate) fn head(&mut self) -> Option<String> {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            match self.stream.read(&mut byte) {
                Ok(1) => head.push(byte[0]),
                _ => return None,
            }
        }
        Some(String::from_utf8_lossy(&head).into_owned())
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) {
        // The gateway may have closed the connection, which a test then sees at its client.
        let _ = self.stream.write_all(bytes);
    }

    pub(crate) fn exactly(&mut self, number: usize) -> Vec<u8> {
        let mut bytes = vec![0; number];
        self.stream.read_exact(&mut bytes).unwrap();
        bytes
    }
}

/// Answers every request of a connection with `OK`.
pub(crate) fn ok(mut app: App) {
    while app.head().is_some() {
        app.send(OK);
    }
}

/// A client over TCP.
pub(crate) struct Client {
    pub(crate) stream: TcpStream,
}

/// A response as it came.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Response {
    pub(crate) fn text(&self) -> &str {
        str::from_utf8(&self.body).unwrap()
    }

    /// Returns whether a header has a value.
    pub(crate) fn has(&self, header: &str) -> bool {
        self.head
            .lines()
            .any(|line| line.eq_ignore_ascii_case(header))
    }
}

impl Client {
    pub(crate) fn new(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Self { stream }
    }

    pub(crate) fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream.write_all(bytes.as_ref()).unwrap();
    }

    /// Reads one head.
    pub(crate) fn head(&mut self) -> String {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            let number = self.stream.read(&mut byte).unwrap();
            assert_eq!(
                number,
                1,
                "the head ends early: {:?}",
                String::from_utf8_lossy(&head)
            );
            head.push(byte[0]);
        }
        String::from_utf8(head).unwrap()
    }

    /// Reads a response whose body has a length.
    pub(crate) fn response(&mut self) -> Response {
        let head = self.head();
        let status = head[9..12].parse().unwrap();
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("Content-Length: "));
        let body = match length {
            Some(length) => self.exactly(length.parse().unwrap()),
            None => Vec::new(),
        };
        Response { status, head, body }
    }

    pub(crate) fn exactly(&mut self, number: usize) -> Vec<u8> {
        let mut bytes = vec![0; number];
        self.stream.read_exact(&mut bytes).unwrap();
        bytes
    }

    /// Reads to the end of the connection.
    pub(crate) fn rest(&mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        match self.stream.read_to_end(&mut bytes) {
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => {}
            other => drop(other.unwrap()),
        }
        bytes
    }
}

/// An app that writes down what it gets, one connection after the other.
pub(crate) struct Recorder {
    thread: JoinHandle<Vec<String>>,
    socket: PathBuf,
}

impl Recorder {
    /// Starts the app of the task. Every whole request is answered with `response`.
    pub(crate) fn start(bed: &Bed, response: &'static [u8]) -> Self {
        let (listener, socket) = (bed.listen(TASK), bed.socket(TASK));
        let thread = thread::spawn(move || {
            let mut got = Vec::new();
            for stream in listener.incoming() {
                let stream = stream.unwrap();
                stream.set_read_timeout(Some(PATIENCE)).unwrap();
                let mut app = App { stream };
                loop {
                    let (message, is_whole) = app.message();
                    match &*message {
                        "end" => return got,
                        "" => break,
                        _ => got.push(message),
                    }
                    if !is_whole {
                        break;
                    }
                    app.send(response);
                }
            }
            got
        });
        Self { thread, socket }
    }

    /// Ends the gateway, and returns all that the app got: whole requests, and parts of some.
    pub(crate) fn got(self, bed: Bed) -> Vec<String> {
        let _folder = bed.end();
        UnixStream::connect(self.socket)
            .unwrap()
            .write_all(b"end")
            .unwrap();
        self.thread.join().unwrap()
    }
}

impl App {
    /// Reads a request with its body, or the part of one that arrives.
    fn message(&mut self) -> (String, bool) {
        let mut bytes = Vec::new();
        loop {
            let text = String::from_utf8_lossy(&bytes);
            if let Some((head, body)) = text.split_once("\r\n\r\n") {
                let mut lengths = head
                    .lines()
                    .filter_map(|it| it.strip_prefix("Content-Length: "));
                let length = lengths.next().and_then(|it| it.parse().ok()).unwrap_or(0);
                let is_chunked = head.to_ascii_lowercase();
                let is_chunked = is_chunked.contains("transfer-encoding: chunked");
                let is_whole = match is_chunked {
                    true => body.ends_with("0\r\n\r\n"),
                    false => body.len() >= length,
                };
                if is_whole {
                    return (text.into_owned(), true);
                }
            }
            let mut more = [0; 4096];
            match self.stream.read(&mut more) {
                Ok(0) | Err(_) => return (text.into_owned(), false),
                Ok(number) => bytes.extend_from_slice(&more[..number]),
            }
        }
    }
}

/// Joins chunks: the gateway may cut them elsewhere than the app did.
pub(crate) fn joined(mut chunks: &[u8]) -> Vec<u8> {
    let mut data = Vec::new();
    loop {
        let end = chunks.iter().position(|byte| *byte == b'\r').unwrap();
        let size = usize::from_str_radix(str::from_utf8(&chunks[..end]).unwrap(), 16).unwrap();
        if size == 0 {
            assert_eq!(chunks, b"0\r\n\r\n");
            return data;
        }
        let (chunk, rest) = chunks[end + 2..].split_at(size);
        data.extend_from_slice(chunk);
        chunks = rest.strip_prefix(b"\r\n").unwrap();
    }
}
