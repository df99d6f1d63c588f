//! What is outside of the sandbox: files with secrets, listeners, and a process. No app may reach
//! them.

use crate::support::{PYTHON, Place};
use agent_tasks::Task;
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, ErrorKind};
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A value in the environment of the supervisor.
pub(crate) const VALUE: &str = "value-of-the-host";
const CONTENT: &str = "secret";

/// A process that ends by any signal, and holds shared memory by a key.
const VICTIM: &str = "
import ctypes, sys
key = int(sys.argv[1])
libc = ctypes.CDLL(None)
# With IPC_CREAT.
held = libc.shmget(key, 4096, 0o1600)
assert held >= 0
print('ready', flush=True)
sys.stdin.read()
# IPC_RMID.
libc.shmctl(held, 0, None)
";

pub(crate) struct Outside {
    /// The files of the app that attempts, as it sees them at `/app`.
    pub(crate) app: PathBuf,
    root: PathBuf,
    tasks: PathBuf,
    other: PathBuf,
    secret: PathBuf,
    sockets: PathBuf,
    tcp: TcpListener,
    tcp6: Option<TcpListener>,
    udp: UdpSocket,
    streams: Vec<UnixListener>,
    datagrams: Vec<UnixDatagram>,
    key: i32,
    victims: Vec<Child>,
}

impl Outside {
    pub(crate) fn new(place: &Place, task: &Task, other: &Task) -> Self {
        let root = place.folder.path().to_owned();
        let (app, sockets) = (task.work().unwrap(), root.join("sock"));
        let secret = root.join("secret");
        fs::write(&secret, CONTENT).unwrap();
        let own = std::process::id();
        let name = |kind: &str| SocketAddr::from_abstract_name(format!("{kind}-{own}")).unwrap();
        let streams = vec![
            UnixListener::bind(sockets.join("other.sock")).unwrap(),
            UnixListener::bind(app.join("stream")).unwrap(),
            UnixListener::bind_addr(&name("stream")).unwrap(),
        ];
        let datagrams = vec![
            UnixDatagram::bind(app.join("datagram")).unwrap(),
            UnixDatagram::bind_addr(&name("datagram")).unwrap(),
        ];
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        let tcp6 = TcpListener::bind("[::1]:0").ok();
        let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
        tcp.set_nonblocking(true).unwrap();
        udp.set_nonblocking(true).unwrap();
        if let Some(listener) = &tcp6 {
            listener.set_nonblocking(true).unwrap();
        }
        for listener in &streams {
            listener.set_nonblocking(true).unwrap();
        }
        for listener in &datagrams {
            listener.set_nonblocking(true).unwrap();
        }
        let key = own.cast_signed();
        Self {
            app,
            tasks: place.tasks.path().to_owned(),
            other: other.source_path().join("app.py"),
            root,
            secret,
            sockets,
            tcp,
            tcp6,
            udp,
            streams,
            datagrams,
            key,
            victims: vec![victim(key)],
        }
    }

    /// Starts another process for the attempts without a sandbox, which end it. It stores no memory
    /// under its key, as it could not remove it.
    pub(crate) fn second_victim(&mut self) -> u32 {
        let second = victim(self.key);
        let id = second.id();
        self.victims.push(second);
        id
    }

    /// Describes what is outside, to who sees the files of the app at a path.
    pub(crate) fn describe(&self, app: &Path, supervisor: i32) -> Value {
        let own = std::process::id();
        let namespaces = ["cgroup", "ipc", "mnt", "net", "pid", "user", "uts"].map(|name| {
            let link = fs::read_link(format!("/proc/self/ns/{name}")).unwrap();
            (name.to_owned(), json!(link))
        });
        // Without version 6, an address of a machine that has it is tried.
        let tcp6 = self.tcp6.as_ref().unwrap_or(&self.tcp);
        json!({
            "secret": self.secret,
            "tasks": self.tasks,
            "other_task": self.other,
            "state": self.tasks.join(".state"),
            "sockets": self.sockets,
            "home": self.root,
            "build": env!("CARGO_MANIFEST_DIR"),
            "tcp": self.tcp.local_addr().unwrap().port(),
            "tcp6": tcp6.local_addr().unwrap().port(),
            "udp": self.udp.local_addr().unwrap().port(),
            "socket": self.sockets.join("other.sock"),
            "stream_in_app": app.join("stream"),
            "datagram_in_app": app.join("datagram"),
            "abstract": format!("stream-{own}"),
            "abstract_datagram": format!("datagram-{own}"),
            "victim": self.victims[0].id(),
            "supervisor": supervisor,
            "shared_memory": self.key,
            "value": VALUE,
            "namespaces": Value::Object(namespaces.into_iter().collect()),
        })
    }

    /// Returns the listeners that were reached since the last look.
    fn reached(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut look = |name: String, attempt: &dyn Fn() -> std::io::Result<()>| {
            let mut is_reached = false;
            loop {
                match attempt() {
                    Ok(()) => is_reached = true,
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    Err(error) => panic!("{name}: {error}"),
                }
            }
            if is_reached {
                found.push(name);
            }
        };
        look("tcp".to_owned(), &|| self.tcp.accept().map(drop));
        if let Some(listener) = &self.tcp6 {
            look("tcp6".to_owned(), &|| listener.accept().map(drop));
        }
        look("udp".to_owned(), &|| self.udp.recv(&mut [0; 8]).map(drop));
        for (number, listener) in self.streams.iter().enumerate() {
            look(format!("stream {number}"), &|| listener.accept().map(drop));
        }
        for (number, listener) in self.datagrams.iter().enumerate() {
            let receive = || listener.recv(&mut [0; 8]).map(drop);
            look(format!("datagram {number}"), &receive);
        }
        found
    }

    /// Requires that the attempts without a sandbox have reached everything.
    pub(crate) fn assert_reached(&mut self) {
        let all = 2 + usize::from(self.tcp6.is_some()) + self.streams.len() + self.datagrams.len();
        let reached = self.reached();
        assert_eq!(reached.len(), all, "{reached:?}");
        let mut ended = self.victims.pop().unwrap();
        assert!(!ended.wait().unwrap().success());
    }

    /// Requires that nothing was reached.
    pub(crate) fn assert_untouched(&mut self) {
        let reached = self.reached();
        assert!(reached.is_empty(), "{reached:?}");
        assert_eq!(fs::read_to_string(&self.secret).unwrap(), CONTENT);
        assert!(self.victims[0].try_wait().unwrap().is_none());
        let entries = fs::read_dir(&self.root).unwrap();
        let mut names: Vec<_> = entries.map(|it| it.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, [".mcpd", "secret", "sock"]);
    }
}

impl Drop for Outside {
    fn drop(&mut self) {
        for victim in &mut self.victims {
            // It removes its memory at the end of its input.
            drop(victim.stdin.take());
            let _ = victim.wait();
        }
    }
}

/// Starts a process and waits until it holds its memory.
fn victim(key: i32) -> Child {
    let mut child = Command::new(PYTHON)
        .args(["-I", "-S", "-B", "-c", VICTIM, &key.to_string()])
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    output.read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    child
}
