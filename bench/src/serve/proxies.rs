//! The processes that calls go through.

use super::Programs;
use super::comparison::NGINX;
use agent_load::message::{Endpoint, Generation};
use agent_load::project::endpoint;
use agent_load::server::Server;
use std::error::Error;
use std::io::{BufRead as _, BufReader};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The time in which nginx listens.
const START: Duration = Duration::from_secs(10);

/// What is measured.
#[derive(Clone)]
pub(super) struct Subject {
    pub(super) name: &'static str,
    /// Where it is called.
    pub(super) endpoint: Endpoint,
    /// The process whose time is measured.
    pub(super) pid: u32,
}

/// A process that prints its URL first, and ends with this value.
pub(super) struct Running {
    child: Child,
    pub(super) url: String,
}

impl Running {
    /// Starts the server that is called.
    pub(super) fn server(programs: &Programs, server: &Server) -> Result<Self, Box<dyn Error>> {
        let mut command = Command::new(&programs.server);
        Self::start(command.args(server.arguments("http")))
    }

    /// Starts the proxy that is built on the Rust SDK.
    pub(super) fn rmcp(
        programs: &Programs,
        url: &str,
        generation: Generation,
    ) -> Result<Self, Box<dyn Error>> {
        let mut command = Command::new(&programs.rmcp);
        Self::start(command.args([url, generation.name()]))
    }

    fn start(command: &mut Command) -> Result<Self, Box<dyn Error>> {
        let started = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
        let child = started.map_err(|error| format!("{command:?}: {error}"))?;
        let mut running = Self {
            child,
            url: String::new(),
        };
        if let Some(output) = running.child.stdout.take() {
            let mut output = BufReader::new(output);
            output.read_line(&mut running.url)?;
            running.child.stdout = Some(output.into_inner());
        }
        running.url.truncate(running.url.trim_end().len());
        Ok(running)
    }

    pub(super) fn subject(&self, name: &'static str) -> Result<Subject, Box<dyn Error>> {
        let endpoint = endpoint(&self.url, "").ok_or_else(|| format!("{name} has no URL"))?;
        Ok(Subject {
            name,
            endpoint,
            pid: self.child.id(),
        })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// nginx as a plain reverse proxy, with the folder of its files.
pub(super) struct Nginx {
    running: Running,
    address: SocketAddr,
    _folder: tempfile::TempDir,
}

impl Nginx {
    pub(super) fn subject(&self) -> Subject {
        Subject {
            name: NGINX,
            endpoint: Endpoint {
                address: self.address,
                path: "/mcp".to_owned(),
                token: String::new(),
            },
            pid: self.running.child.id(),
        }
    }
}

/// Starts nginx before a server. It keeps its connections to both sides.
pub(super) fn nginx(program: &Path, url: &str) -> Result<Nginx, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let server = endpoint(url, "").ok_or("the server has no URL")?.address;
    // nginx does not say which free port it took.
    let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
    let own = folder.path().display();
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|kind| format!("  {kind}_temp_path {own}/{kind};\n"))
        .concat();
    let config = format!(
        "daemon off;\nmaster_process off;\npid {own}/pid;\nerror_log {own}/error.log;\n\
         events {{ worker_connections 1024; }}\n\
         http {{\n  access_log off;\n  keepalive_requests 1000000;\n{temporary}\
           upstream server {{ server {server}; keepalive 64; keepalive_requests 1000000; }}\n  \
           server {{\n    listen {address};\n    location / {{\n      proxy_pass http://server;\n      \
           proxy_http_version 1.1;\n      proxy_set_header Connection \"\";\n    }}\n  }}\n}}\n"
    );
    let file = folder.path().join("nginx.conf");
    std::fs::write(&file, config)?;
    let mut command = Command::new(program);
    command
        .args(["-e", "stderr", "-p"])
        .arg(folder.path())
        .arg("-c")
        .arg(file);
    let started = command.stdin(Stdio::null()).spawn();
    let child = started.map_err(|error| format!("{command:?}: {error}"))?;
    let nginx = Nginx {
        running: Running {
            child,
            url: String::new(),
        },
        address,
        _folder: folder,
    };
    let end = Instant::now() + START;
    while TcpStream::connect(address).is_err() {
        if Instant::now() > end {
            return Err("nginx does not listen".into());
        }
        sleep(Duration::from_millis(20));
    }
    Ok(nginx)
}
