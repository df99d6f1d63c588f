//! Apps that are compiled for a test, and served at a socket.

use agent_pack::{TARGET, Toolchain, Workspace};
use agent_wasi_app::{App, Log, Settings, component};
use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;
use tempfile::TempDir;
use tokio::net::UnixListener;

/// The time that an action without its own limit may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// Returns the module of an app of `tests/apps`.
pub(crate) fn app(name: &str) -> Vec<u8> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let workspace = Workspace::at(root.join("../.."));
    let toolchain = Toolchain::find(&workspace).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let module = folder.path().join("app.wasm");
    let mut rustc = toolchain.rustc();
    rustc.args([
        "--edition",
        "2021",
        "--crate-type",
        "cdylib",
        "--target",
        TARGET,
    ]);
    rustc
        .args(["-C", "opt-level=2", "-C", "panic=abort", "-o"])
        .arg(&module);
    rustc.arg(root.join(format!("tests/apps/{name}.rs")));
    assert!(rustc.status().unwrap().success());
    fs::read(module).unwrap()
}

#[derive(Default)]
struct Text(Mutex<Vec<u8>>);

impl Log for Text {
    fn write(&self, bytes: &[u8]) {
        self.0.lock().unwrap().extend_from_slice(bytes);
    }

    fn note(&self, line: &str) {
        self.write(format!("{line}\n").as_bytes());
    }
}

/// An app that is served until the test ends.
pub(crate) struct Served {
    folder: TempDir,
    log: Arc<Text>,
}

impl Served {
    pub(crate) fn new(wasm: &[u8], settings: Settings) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("app.wasm");
        fs::write(&path, component(wasm.to_vec()).unwrap()).unwrap();
        let log = Arc::new(Text::default());
        let app = App::load(&path, settings, Arc::clone(&log) as Arc<dyn Log>).unwrap();
        let app = Arc::new(app);
        let listener =
            std::os::unix::net::UnixListener::bind(folder.path().join("socket")).unwrap();
        listener.set_nonblocking(true).unwrap();
        // The thread ends with the process of the test.
        thread::spawn(move || {
            let mut runtime = tokio::runtime::Builder::new_current_thread();
            let runtime = runtime.enable_all().build().unwrap();
            runtime.block_on(async {
                let listener = UnixListener::from_std(listener).unwrap();
                while let Ok((stream, _)) = listener.accept().await {
                    tokio::spawn(Arc::clone(&app).serve(stream));
                }
            });
        });
        Self { folder, log }
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.folder.path().join("socket")
    }

    pub(crate) fn log(&self) -> String {
        String::from_utf8(self.log.0.lock().unwrap().clone()).unwrap()
    }

    /// Sends bytes.
    pub(crate) fn send(&self, text: &str) -> UnixStream {
        let mut stream = UnixStream::connect(self.socket()).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(text.as_bytes()).unwrap();
        stream
    }

    /// Sends a request with one more header. Returns the status and the body.
    pub(crate) fn ask(&self, method: &str, path: &str, header: &str, body: &str) -> (u16, String) {
        let length = body.len();
        let header = match header {
            "" => String::new(),
            header => format!("{header}\r\n"),
        };
        let mut stream = self.send(&format!(
            "{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{header}Content-Length: {length}\r\n\r\n"
        ));
        stream.write_all(body.as_bytes()).unwrap();
        let answer = read(&mut stream);
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let body = match head.to_lowercase().contains("transfer-encoding: chunked") {
            true => joined(body),
            false => body.to_owned(),
        };
        (head[9..12].parse().unwrap(), body)
    }

    pub(crate) fn get(&self, path: &str) -> (u16, String) {
        self.ask("GET", path, "", "")
    }
}

/// Reads to the end of a stream.
pub(crate) fn read(stream: &mut UnixStream) -> String {
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    String::from_utf8(answer).unwrap()
}

/// Returns the content of a body in chunks.
fn joined(mut body: &str) -> String {
    let mut content = String::new();
    while let Some((size, rest)) = body.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap();
        content.push_str(&rest[..size]);
        body = rest[size..].strip_prefix("\r\n").unwrap();
    }
    content
}
