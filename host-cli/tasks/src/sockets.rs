//! The sockets of tasks: in a folder that only this user can enter. \[2, 4\]

use crate::{Error, ErrorKind, Identity, TaskId};
use agent_ownership::refuse_foreign;
use rustix::process::getuid;
use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::{
    DirBuilderExt as _, FileTypeExt as _, MetadataExt as _, PermissionsExt as _,
};
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::path::{Path, PathBuf};

/// The mode of the folder: only this user can enter it.
const FOLDER_MODE: u32 = 0o700;
/// The mode of a socket.
const SOCKET_MODE: u32 = 0o600;
/// Permissions of a mode.
const PERMISSIONS: u32 = 0o7777;

/// A folder for sockets that was checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SocketFolder(PathBuf);

impl SocketFolder {
    /// Returns the first of the usual folders that can be used: `/run/mcpd/sock`, else `/tmp/mcpd`, else the
    /// same with the number of this user, where `/tmp/mcpd` belongs to another one.
    ///
    /// # Errors
    ///
    /// The reason of each folder.
    pub fn usual() -> Result<Self, Error> {
        let own = format!("/tmp/mcpd-{}", getuid().as_raw());
        Self::first_of(&["/run/mcpd/sock".into(), "/tmp/mcpd".into(), own.into()])
    }

    /// Returns the first folder that can be used. A missing one is made.
    ///
    /// # Errors
    ///
    /// The reason of each folder.
    pub fn first_of(folders: &[PathBuf]) -> Result<Self, Error> {
        let mut reasons = Vec::new();
        for folder in folders {
            match check(folder) {
                Ok(()) => return Ok(Self(folder.clone())),
                Err(reason) => reasons.push(reason),
            }
        }
        let message = format!("no folder for sockets can be used: {}", reasons.join("; "));
        Err(Error::new(ErrorKind::Unavailable, message))
    }

    /// Returns the path of a task's socket.
    #[must_use]
    pub fn socket(&self, id: &TaskId) -> PathBuf {
        self.0.join(format!("{id}.sock"))
    }
}

/// The sockets of one program's tasks that have no file. Their names are abstract: other users can connect, and are
/// sent away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AbstractSockets(String);

impl AbstractSockets {
    /// Returns sockets with names that no other program has.
    ///
    /// # Errors
    ///
    /// When this process can't be told from others.
    pub fn own() -> Result<Self, Error> {
        let own = Identity::own().map_err(Error::system(Path::new("/proc/self")))?;
        Ok(Self(format!("\0mcpd-{}-{}", own.pid, own.start_ticks)))
    }

    /// Returns the name of a task's socket.
    #[must_use]
    pub fn socket(&self, id: &TaskId) -> PathBuf {
        format!("{}/{id}.sock", self.0).into()
    }
}

/// Returns whether the socket of a task has an abstract name instead of a file.
#[must_use]
pub fn is_abstract(socket: &Path) -> bool {
    socket.as_os_str().as_encoded_bytes().starts_with(b"\0")
}

/// Makes a folder if it is missing, and checks it.
fn check(folder: &Path) -> Result<(), String> {
    let failed = |error: io::Error| format!("`{}`: {error}", folder.display());
    let made = DirBuilder::new()
        .recursive(true)
        .mode(FOLDER_MODE)
        .create(folder);
    made.map_err(failed)?;
    let metadata = fs::symlink_metadata(folder).map_err(failed)?;
    if metadata.is_symlink() {
        return Err(format!("`{}` is a symbolic link", folder.display()));
    }
    if metadata.uid() != getuid().as_raw() {
        return Err(format!("`{}` belongs to another user", folder.display()));
    }
    let mode = metadata.mode() & PERMISSIONS;
    if mode != FOLDER_MODE {
        return Err(format!(
            "`{}` has the mode 0o{mode:o} instead of 0o{FOLDER_MODE:o}",
            folder.display()
        ));
    }
    refuse_foreign(folder).map_err(|foreign| foreign.to_string())
}

/// Returns the path of the socket at which the supervisor of a task reports to gateways whether a connection to the
/// task's socket waits for its app. `agent_app_proxy` has the same rule.
pub(crate) fn wait_socket(socket: &Path) -> PathBuf {
    socket.with_extension("wait")
}

/// Listens at a path, whose folder is checked again. A socket of this user without a listener is
/// removed first. An abstract name has no folder.
pub(crate) fn listen(path: &Path) -> Result<UnixListener, Error> {
    if is_abstract(path) {
        let name = &path.as_os_str().as_encoded_bytes()[1..];
        let bound = SocketAddr::from_abstract_name(name)
            .and_then(|address| UnixListener::bind_addr(&address))
            .and_then(|listener| listener.set_nonblocking(true).map(|()| listener));
        return bound.map_err(Error::system(Path::new("the abstract socket")));
    }
    let folder = path.parent().unwrap_or(Path::new("/"));
    check(folder).map_err(|reason| Error::new(ErrorKind::Unavailable, reason))?;
    remove_stale(path)?;
    let failed = Error::system(path);
    let listener = UnixListener::bind(path).map_err(&failed)?;
    fs::set_permissions(path, Permissions::from_mode(SOCKET_MODE)).map_err(&failed)?;
    listener.set_nonblocking(true).map_err(&failed)?;
    Ok(listener)
}

/// Removes a socket of this user without a listener. Anything else of that name is refused.
pub(crate) fn remove_stale(path: &Path) -> Result<(), Error> {
    if is_abstract(path) {
        return Ok(());
    }
    let metadata = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        metadata => metadata.map_err(Error::system(path))?,
    };
    let shown = path.display();
    let foreign = |why: &str| Err(Error::new(ErrorKind::Conflict, format!("`{shown}` {why}")));
    if !metadata.file_type().is_socket() {
        return foreign("is not a socket");
    }
    if metadata.uid() != getuid().as_raw() {
        return foreign("belongs to another user");
    }
    match UnixStream::connect(path) {
        Ok(_) => foreign("is in use"),
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            fs::remove_file(path).map_err(Error::system(path))
        }
        Err(error) => Err(Error::system(path)(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::{AbstractSockets, SocketFolder, is_abstract, listen, remove_stale, wait_socket};
    use crate::TaskId;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _, symlink};
    use std::os::unix::net::UnixListener;
    use std::path::Path;

    #[test]
    fn only_a_folder_of_this_user_alone_is_used() {
        let place = tempfile::tempdir().unwrap();
        let path = |name: &str| place.path().join(name);
        fs::create_dir(path("open")).unwrap();
        fs::set_permissions(path("open"), Permissions::from_mode(0o755)).unwrap();
        fs::create_dir(path("other")).unwrap();
        fs::set_permissions(path("other"), Permissions::from_mode(0o700)).unwrap();
        symlink(path("other"), path("link")).unwrap();
        fs::write(path("file"), "").unwrap();
        let candidates = ["open", "link", "file"].map(path);
        let refused = SocketFolder::first_of(&candidates).unwrap_err().to_string();
        for reason in ["0o755", "is a symbolic link", "file"] {
            assert!(refused.contains(reason), "{refused}");
        }
        if rustix::process::getuid().is_root() {
            std::os::unix::fs::chown(path("other"), Some(65534), None).unwrap();
            let refused = SocketFolder::first_of(&[path("other")]).unwrap_err();
            assert!(refused.to_string().contains("another user"), "{refused}");
        }
        let new = [path("open"), path("new/sock")];
        let folder = SocketFolder::first_of(&new).unwrap();
        let id = TaskId::parse("ab12cd").unwrap();
        assert_eq!(folder.socket(&id), path("new/sock/ab12cd.sock"));
        assert_eq!(
            fs::metadata(path("new/sock")).unwrap().mode() & 0o7777,
            0o700
        );
    }

    #[test]
    fn stale_sockets_are_removed_and_others_are_not() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("sock");
        SocketFolder::first_of(std::slice::from_ref(&folder)).unwrap();
        let path = folder.join("a.sock");
        let first = listen(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, 0o600);
        assert!(listen(&path).unwrap_err().to_string().contains("in use"));
        drop(first);
        assert!(path.exists());
        listen(&path).unwrap();

        fs::write(folder.join("file"), "kept").unwrap();
        assert!(listen(&folder.join("file")).is_err());
        assert_eq!(fs::read(folder.join("file")).unwrap(), b"kept");
        let target = folder.join("target");
        drop(UnixListener::bind(&target).unwrap());
        symlink(&target, folder.join("link")).unwrap();
        assert!(listen(&folder.join("link")).is_err());
        assert!(
            fs::symlink_metadata(&target)
                .unwrap()
                .file_type()
                .is_socket()
        );
        if rustix::process::getuid().is_root() {
            std::os::unix::fs::chown(&target, Some(65534), None).unwrap();
            assert!(listen(&target).is_err());
            assert!(target.exists());
        }
        fs::set_permissions(&folder, Permissions::from_mode(0o777)).unwrap();
        assert!(listen(&folder.join("b.sock")).is_err());
    }

    #[test]
    fn an_abstract_socket_has_a_name_and_no_file() {
        let id = TaskId::parse("ab12cd").unwrap();
        let socket = AbstractSockets::own().unwrap().socket(&id);
        assert!(is_abstract(&socket) && !is_abstract(Path::new("/run/mcpd/sock/ab12cd.sock")));
        assert!(socket.as_os_str().len() <= 107);
        let listener = listen(&socket).unwrap();
        assert!(listen(&socket).is_err());
        remove_stale(&socket).unwrap();
        listen(&wait_socket(&socket)).unwrap();
        drop(listener);
        listen(&socket).unwrap();
    }
}
