//! The programs that are measured.

use agent_load::process::{memory, processor_time};
use std::error::Error;
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Time in which a program begins to listen.
const START: Duration = Duration::from_secs(60);

/// A running program, which is killed at last.
pub(crate) struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Running {
    /// Starts a program, and waits until it listens.
    pub(crate) fn start(
        command: &mut Command,
        listens: impl Fn() -> bool,
    ) -> Result<Self, Box<dyn Error>> {
        let child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let running = Self(child);
        let end = Instant::now() + START;
        while !listens() {
            if Instant::now() > end {
                return Err(format!("{command:?} does not listen").into());
            }
            sleep(Duration::from_millis(1));
        }
        Ok(running)
    }

    /// Starts a decision point in a folder, with a worker thread and more arguments.
    pub(crate) fn pdp(
        program: &Path,
        folder: &Path,
        (socket, more): (&Path, &[&str]),
    ) -> Result<Self, Box<dyn Error>> {
        let mut command = Command::new(program);
        command
            .current_dir(folder)
            .args(["--policy", "policy.rego", "--threads", "1"]);
        command.arg("--socket").arg(socket).args(more);
        Self::start(&mut command, || UnixStream::connect(socket).is_ok())
    }

    /// Starts another engine with a worker thread.
    pub(crate) fn other(
        program: &Path,
        engine: &str,
        socket: &Path,
    ) -> Result<Self, Box<dyn Error>> {
        let policies = Path::new(env!("CARGO_MANIFEST_DIR")).join("policies");
        let policy = match engine {
            "cedar" => "policy.cedar",
            _ => "policy.rego",
        };
        let mut command = Command::new(program);
        command
            .arg(engine)
            .arg(policies.join(policy))
            .arg(socket)
            .arg("1");
        Self::start(&mut command, || UnixStream::connect(socket).is_ok())
    }

    /// Starts Envoy, which asks two decision points about each request. Returns also its port.
    pub(crate) fn envoy(
        program: &Path,
        folder: &Path,
        sockets: &[PathBuf; 2],
    ) -> Result<(Self, u16), Box<dyn Error>> {
        let port = free_port()?;
        let [first, second] = sockets.each_ref().map(|it| it.display().to_string());
        let config = include_str!("envoy.yaml")
            .replace("PORT", &port.to_string())
            .replace("FIRST", &first)
            .replace("SECOND", &second);
        let path = folder.join("envoy.yaml");
        std::fs::write(&path, config)?;
        let mut command = Command::new(program);
        command.args([
            "--concurrency",
            "1",
            "--use-dynamic-base-id",
            "--log-level",
            "error",
            "-c",
        ]);
        command.arg(path);
        let listens = || TcpStream::connect(("127.0.0.1", port)).is_ok();
        Ok((Self::start(&mut command, listens)?, port))
    }

    /// Starts NATS, which brings each writing to the disk. Returns also its address.
    pub(crate) fn nats(program: &Path, folder: &Path) -> Result<(Self, String), Box<dyn Error>> {
        let port = free_port()?;
        let path = folder.join("nats.conf");
        let store = folder.join("store");
        let text = format!(
            "listen: 127.0.0.1:{port}\njetstream {{ store_dir: {store:?}, sync_interval: always }}\n"
        );
        std::fs::write(&path, text)?;
        let mut command = Command::new(program);
        command.arg("--config").arg(path);
        let listens = || TcpStream::connect(("127.0.0.1", port)).is_ok();
        Ok((
            Self::start(&mut command, listens)?,
            format!("127.0.0.1:{port}"),
        ))
    }

    pub(crate) fn processor_time(&self) -> Duration {
        processor_time(self.0.id()).unwrap_or_default()
    }

    /// Returns the memory that is in use, in MiB.
    pub(crate) fn memory(&self) -> f64 {
        memory(self.0.id()).unwrap_or_default() as f64 / f64::from(1 << 20)
    }

    /// Returns the memory that is in use, in MiB, with what is shared divided by those who share it.
    pub(crate) fn own_memory(&self) -> Option<f64> {
        let text = std::fs::read_to_string(format!("/proc/{}/smaps_rollup", self.0.id())).ok()?;
        let line = text.lines().find_map(|it| it.strip_prefix("Pss:"))?;
        let kib: f64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
        Some(kib / 1024.0)
    }
}

fn free_port() -> Result<u16, Box<dyn Error>> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}
