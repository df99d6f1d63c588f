//! The processes that requests go through.

use agent_app_proxy::{Config, Gateway, Log, TaskState, TaskSummary, Tasks};
use std::error::Error;
use std::io::{self, BufRead as _, BufReader};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread::{park, sleep};
use std::time::{Duration, Instant};

/// The argument with which this program is the gateway.
pub(crate) const ROLE: &str = "gateway";

/// The only task.
const TASK: &str = "ab12cd";

/// Where the app of the task is.
pub(crate) const PREFIX: &str = "/apps/ab12cd";

/// The time in which nginx listens.
const START: Duration = Duration::from_secs(10);

/// A process that prints a line first, and ends with this value.
pub(crate) struct Running {
    child: Child,
    line: String,
}

impl Running {
    /// Starts the app at a socket.
    pub(crate) fn app(socket: &Path) -> io::Result<Self> {
        Self::own(super::app::ROLE, socket)
    }

    /// Starts this program in another role.
    fn own(role: &str, socket: &Path) -> io::Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg(role).arg(socket);
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        if let Some(output) = child.stdout.take() {
            BufReader::new(output).read_line(&mut line)?;
        }
        line.truncate(line.trim_end().len());
        Ok(Self { child, line })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A proxy before the app.
pub(crate) struct Proxy {
    running: Running,
    pub(crate) address: SocketAddr,
}

impl Proxy {
    pub(crate) fn pid(&self) -> u32 {
        self.running.child.id()
    }

    pub(crate) fn gateway(socket: &Path) -> Result<Self, Box<dyn Error>> {
        let running = Running::own(ROLE, socket)?;
        let address = running.line.parse()?;
        Ok(Self { running, address })
    }

    /// Starts nginx with the same routes and headers. It keeps its connections to both sides.
    pub(crate) fn nginx(program: &Path, socket: &Path, own: &Path) -> Result<Self, Box<dyn Error>> {
        // nginx does not say which free port it took.
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let (own, socket) = (own.display(), socket.display());
        let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map(|kind| format!("  {kind}_temp_path {own}/{kind};\n"))
            .concat();
        let config = format!(
            "daemon off;\nmaster_process off;\npid {own}/pid;\nerror_log {own}/error.log;\n\
             events {{ worker_connections 1024; }}\n\
             http {{\n  access_log off;\n  keepalive_requests 1000000;\n  proxy_max_temp_file_size 0;\n{temporary}\
               upstream app {{ server unix:{socket}; keepalive 64; keepalive_requests 1000000; }}\n  \
               server {{\n    listen {address};\n    client_max_body_size 1g;\n    \
                 location {PREFIX}/ {{\n      proxy_pass http://app/;\n      proxy_http_version 1.1;\n      \
                   proxy_set_header Connection \"\";\n      proxy_set_header Host $http_host;\n      \
                   proxy_set_header X-Forwarded-For $remote_addr;\n      \
                   proxy_set_header X-Forwarded-Host $http_host;\n      \
                   proxy_set_header X-Forwarded-Proto $scheme;\n      \
                   proxy_set_header X-Forwarded-Prefix {PREFIX};\n    }}\n  }}\n}}\n"
        );
        let file = Path::new(&own.to_string()).join("nginx.conf");
        std::fs::write(&file, config)?;
        let mut command = Command::new(program);
        command
            .args(["-e", "stderr", "-p"])
            .arg(own.to_string())
            .arg("-c")
            .arg(file);
        let started = command.stdin(Stdio::null()).spawn();
        let child = started.map_err(|error| format!("{command:?}: {error}"))?;
        let line = String::new();
        let running = Running { child, line };
        let end = Instant::now() + START;
        while TcpStream::connect(address).is_err() {
            if Instant::now() > end {
                return Err("nginx does not listen".into());
            }
            sleep(Duration::from_millis(20));
        }
        Ok(Self { running, address })
    }
}

/// The tasks of the gateway: one that runs.
struct OneTask(Arc<Path>);

impl Tasks for OneTask {
    fn state(&self, task_id: &str) -> TaskState {
        match task_id {
            TASK => TaskState::Running(Arc::clone(&self.0)),
            _ => TaskState::Unknown,
        }
    }

    fn list(&self) -> Vec<TaskSummary> {
        Vec::new()
    }

    fn log(&self, _: &str, _: Log) -> Option<Vec<u8>> {
        None
    }
}

/// Serves for ever, after printing the address.
pub(crate) fn serve(socket: &Path) -> io::Result<()> {
    let config = Config {
        port: 0,
        ..Config::default()
    };
    let gateway = Gateway::start(Arc::new(OneTask(socket.into())), config)?;
    let address = gateway.address().map_err(|error| error.kind())?;
    println!("{address}");
    loop {
        park();
    }
}
