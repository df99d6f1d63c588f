//! The socket at which a running gateway says how it is doing.

use super::state;
use agent_host::{Failure, output};
use agent_ownership::create_private;
use std::fs::{self, Permissions};
use std::io::{self, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream as Stream;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::io::AsyncWriteExt as _;
use tokio::net::UnixListener;
use tokio::task::spawn_local;
use tokio::time::timeout;

/// Maximum size of a status, in bytes.
const STATUS_BYTES: u64 = 16 << 20;

/// Time in which a gateway says its status, and in which the client has to read it.
const TIME: Duration = Duration::from_secs(5);

/// The end of the name of a socket, which begins with the id of the gateway's process.
const END: &str = "sock";

/// The socket of this gateway. Dropping it removes it.
pub(crate) struct Control {
    listener: UnixListener,
    path: PathBuf,
}

impl Control {
    /// Opens a socket that only this user can connect to.
    pub(crate) fn open() -> Result<Self, Failure> {
        let folder = state::folder()?;
        let path = folder.join(format!("{}.{END}", std::process::id()));
        let opened = || {
            create_private(&folder)?;
            // One of an earlier process with this id.
            let _ = fs::remove_file(&path);
            let listener = UnixListener::bind(&path)?;
            fs::set_permissions(&path, Permissions::from_mode(0o600))?;
            Ok::<_, io::Error>(listener)
        };
        let listener = opened().map_err(|error| {
            let path = path.display();
            Failure::new(format_args!("the socket `{path}` can't be opened: {error}"))
        })?;
        Ok(Self { listener, path })
    }

    /// Says the status to each client, for ever.
    pub(crate) async fn serve(self, status: impl Fn() -> String) {
        loop {
            match self.listener.accept().await {
                Ok((mut stream, _)) => {
                    let status = status();
                    spawn_local(async move {
                        let _ = timeout(TIME, stream.write_all(status.as_bytes())).await;
                    });
                }
                Err(error) => {
                    output::note(format_args!("`agent status` was not answered: {error}"));
                    tokio::time::sleep(TIME).await;
                }
            }
        }
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Returns what the running gateways of this user say, ordered by the names of their sockets.
///
/// # Errors
///
/// When this user has no folder of their own, or the folder can't be read.
pub fn running() -> Result<Vec<String>, Failure> {
    let folder = state::folder()?;
    let entries = match fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => {
            let folder = folder.display();
            return Err(Failure::new(format_args!("can't read `{folder}`: {error}")));
        }
    };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let is_socket = |path: &PathBuf| path.extension().is_some_and(|it| it == END);
    let mut paths: Vec<_> = paths.filter(is_socket).collect();
    paths.sort();
    Ok(paths.iter().filter_map(|path| ask(path)).collect())
}

fn ask(path: &Path) -> Option<String> {
    let stream = match Stream::connect(path) {
        Ok(stream) => stream,
        Err(error) => {
            if error.kind() == io::ErrorKind::ConnectionRefused {
                // Its gateway was killed.
                let _ = fs::remove_file(path);
            }
            return None;
        }
    };
    stream.set_read_timeout(Some(TIME)).ok()?;
    let mut text = String::new();
    stream.take(STATUS_BYTES).read_to_string(&mut text).ok()?;
    (!text.is_empty()).then_some(text)
}
