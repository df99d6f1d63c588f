//! A Unix socket of one user, and its connections.

use super::listener::{Protocol, serve_plainly};
use agent_host::Failure;
use agent_ownership::refuse_foreign;
use bytes::Bytes;
use hyper::body::{Body, Incoming};
use hyper::{Request, Response};
use std::error::Error;
use std::fs::{self, File, Permissions};
use std::io::{self, ErrorKind};
use std::os::fd::AsFd as _;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use tokio::net;

/// Maximum number of connections that wait to be accepted.
const QUEUE: u32 = 1024;

/// A Unix socket that only this user can connect to. Dropping it removes it.
pub struct PrivateSocket {
    listener: UnixListener,
    path: PathBuf,
}

impl PrivateSocket {
    /// Listens at a path, where a socket that nobody listens at may be left.
    ///
    /// # Errors
    ///
    /// When another program listens there, another file is there, the path can be changed by other users, or the system
    /// refuses a socket.
    pub fn bind(path: &Path) -> Result<Self, Failure> {
        let shown = path.display();
        clear(path)?;
        let listener = listen(path).map_err(|error| {
            Failure::new(format_args!(
                "the socket `{shown}` can't be opened: {error}"
            ))
            .help("name another path with `--socket`")
        })?;
        let socket = Self {
            listener,
            path: path.to_owned(),
        };
        refuse_foreign(path).map_err(|foreign| {
            Failure::new(format_args!("the socket `{shown}` is not safe: {foreign}"))
                .help("name a path in a folder of this user with `--socket`")
        })?;
        Ok(socket)
    }

    /// Returns its connections for one of several threads, each of which gets some.
    ///
    /// # Errors
    ///
    /// When the system refuses another descriptor.
    pub fn connections(&self) -> Result<PrivateConnections, Failure> {
        let shared = self.listener.try_clone().map(PrivateConnections);
        shared.map_err(|error| Failure::new(format_args!("the socket can't be shared: {error}")))
    }
}

/// The connections of a [`PrivateSocket`] for one thread.
pub struct PrivateConnections(UnixListener);

impl PrivateConnections {
    /// Answers requests of the connections, of HTTP/1.1 and of HTTP/2, for ever.
    ///
    /// # Errors
    ///
    /// When the system refuses to wait for connections.
    pub async fn serve<F, B>(
        self,
        answer: impl Fn(Request<Incoming>) -> F + 'static,
    ) -> Result<(), Failure>
    where
        F: Future<Output = Response<B>> + 'static,
        B: Body<Data = Bytes> + 'static,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        let own = net::UnixListener::from_std(self.0)
            .map_err(|error| Failure::new(format_args!("the socket can't be awaited: {error}")))?;
        let accept = async || Ok(own.accept().await?.0);
        serve_plainly(accept, Protocol::Either, answer).await;
        Ok(())
    }
}

impl Drop for PrivateSocket {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Removes a socket of a program that ended. Nothing else is ever removed.
fn clear(path: &Path) -> Result<(), Failure> {
    let shown = path.display();
    match fs::symlink_metadata(path) {
        Ok(found) if found.file_type().is_socket() => {}
        Ok(_) => {
            let message = format_args!("`{shown}` exists, and is not a socket");
            return Err(Failure::new(message).help("name another path with `--socket`"));
        }
        Err(_) => return Ok(()),
    }
    match UnixStream::connect(path) {
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
            let _ = fs::remove_file(path);
            Ok(())
        }
        _ => {
            let message = format_args!("another program listens at `{shown}`");
            Err(Failure::new(message).help("end it, or name another path with `--socket`"))
        }
    }
}

/// Makes the socket. It has its mode before it has its name, so that no other user can connect in between.
fn listen(path: &Path) -> io::Result<UnixListener> {
    let socket = net::UnixSocket::new_stream()?;
    let file = File::from(socket.as_fd().try_clone_to_owned()?);
    file.set_permissions(Permissions::from_mode(0o600))?;
    socket.bind(path)?;
    socket.listen(QUEUE)?.into_std()
}
