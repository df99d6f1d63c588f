//! A folder by its handle: what is in it is reached by name, without links, whatever becomes of its path.

use rustix::fs::{
    AtFlags, Dir, FileType, Mode, OFlags, RenameFlags, ResolveFlags, fchmod, fstat, fsync, mkdirat,
    openat, openat2, renameat, renameat_with, statat, unlinkat,
};
use rustix::io::Errno;
use std::ffi::CStr;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

/// The mode of folders with files of an app.
pub(crate) const FOLDER_MODE: u32 = 0o755;
/// The modes of what only this user may read.
pub(crate) const PRIVATE_FOLDER_MODE: u32 = 0o700;
pub(crate) const PRIVATE_FILE_MODE: u32 = 0o600;

/// Permissions without the bits for other users and groups to run as.
const PERMISSIONS: u32 = 0o777;

const AS_FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// A file that is not blocked by a pipe or a device of its name.
const TO_READ: OFlags = OFlags::RDONLY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC);

const TO_CREATE: OFlags = OFlags::WRONLY
    .union(OFlags::CREATE)
    .union(OFlags::EXCL)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// An open folder.
#[derive(Debug)]
pub(crate) struct Folder {
    handle: OwnedFd,
    /// For messages, and for those who need a path.
    path: PathBuf,
}

/// A file that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileRead {
    pub(crate) content: Vec<u8>,
    pub(crate) mode: u32,
}

impl Folder {
    /// Opens a folder by its path. Links on the way to it are followed.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let handle = rustix::fs::open(path, flags, Mode::empty())?;
        Ok(Self {
            handle,
            path: path.to_owned(),
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path of an entry, for messages.
    pub(crate) fn path_of(&self, name: impl AsRef<Path>) -> PathBuf {
        self.path.join(name)
    }

    /// Opens a folder of this one by its name.
    pub(crate) fn folder(&self, name: &str) -> io::Result<Self> {
        let handle = openat(&self.handle, name, AS_FOLDER, Mode::empty())?;
        Ok(Self {
            handle,
            path: self.path.join(name),
        })
    }

    /// Opens a folder below this one by the names on the way. It never leaves this folder, even while
    /// folders are moved and makes links.
    pub(crate) fn below(&self, names: &[&str]) -> io::Result<Self> {
        let path: PathBuf = names.iter().collect();
        if names.is_empty() {
            return Ok(Self {
                handle: self.handle.try_clone()?,
                path: self.path.clone(),
            });
        }
        let within =
            ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        match openat2(&self.handle, &path, AS_FOLDER, Mode::empty(), within) {
            Ok(handle) => Ok(Self {
                handle,
                path: self.path.join(path),
            }),
            // A kernel before 5.6, or a filter that does not know the call: one name after the other.
            Err(Errno::NOSYS | Errno::PERM) => {
                let mut folder = self.folder(names[0])?;
                for name in &names[1..] {
                    folder = folder.folder(name)?;
                }
                Ok(folder)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Makes a new folder, of a mode that the umask does not change.
    pub(crate) fn make_folder(&self, name: &str, mode: u32) -> io::Result<Self> {
        mkdirat(&self.handle, name, Mode::from_raw_mode(PRIVATE_FOLDER_MODE))?;
        let folder = self.folder(name)?;
        fchmod(&folder.handle, Mode::from_raw_mode(mode))?;
        Ok(folder)
    }

    /// Opens a folder, and makes it if it is missing.
    pub(crate) fn folder_or_new(&self, name: &str, mode: u32) -> io::Result<Self> {
        match self.make_folder(name, mode) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => self.folder(name),
            made => made,
        }
    }

    /// Creates a file that must be new, of a mode that the umask does not change.
    pub(crate) fn create(&self, name: &str, mode: u32) -> io::Result<File> {
        let private = Mode::from_raw_mode(PRIVATE_FILE_MODE);
        let file = openat(&self.handle, name, TO_CREATE, private)?;
        fchmod(&file, Mode::from_raw_mode(mode & PERMISSIONS))?;
        Ok(file.into())
    }

    /// Writes a file that must be new, and waits until it is stored.
    pub(crate) fn write_new(&self, name: &str, content: &[u8], mode: u32) -> io::Result<()> {
        let mut file = self.create(name, mode)?;
        file.write_all(content)?;
        file.sync_all()
    }

    /// Replaces a file as a whole. `staging` is a name in this folder that no other writer uses.
    pub(crate) fn replace(&self, name: &str, staging: &str, content: &[u8]) -> io::Result<()> {
        self.remove_file(staging)?;
        self.write_new(staging, content, PRIVATE_FILE_MODE)?;
        self.rename(staging, self, name)?;
        self.sync()
    }

    /// Opens a regular file. Links, pipes and devices are refused.
    pub(crate) fn open_file(&self, name: &str) -> io::Result<File> {
        let file = match openat(&self.handle, name, TO_READ, Mode::empty()) {
            Err(Errno::LOOP) => return Err(io::Error::other("it is a symbolic link")),
            // A socket can't be opened.
            Err(Errno::NXIO) => return Err(io::Error::other("it is not a regular file")),
            opened => opened?,
        };
        match FileType::from_raw_mode(fstat(&file)?.st_mode) {
            FileType::RegularFile => Ok(file.into()),
            FileType::Directory => Err(io::Error::other("it is a folder")),
            _ => Err(io::Error::other("it is not a regular file")),
        }
    }

    /// Opens a regular file to append to it. It is made if it is missing.
    pub(crate) fn open_to_append(&self, name: &str) -> io::Result<File> {
        let flags = OFlags::WRONLY
            | OFlags::APPEND
            | OFlags::CREATE
            | OFlags::NOFOLLOW
            | OFlags::NONBLOCK
            | OFlags::CLOEXEC;
        let private = Mode::from_raw_mode(PRIVATE_FILE_MODE);
        let file = File::from(openat(&self.handle, name, flags, private)?);
        match file.metadata()?.is_file() {
            true => Ok(file),
            false => Err(io::Error::other("it is not a regular file")),
        }
    }

    /// Opens a file that locks something, and makes it if it is missing.
    pub(crate) fn open_lock(&self, name: &str) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let private = Mode::from_raw_mode(PRIVATE_FILE_MODE);
        Ok(openat(&self.handle, name, flags, private)?.into())
    }

    /// Reads a regular file; `None` if there is nothing of the name.
    pub(crate) fn read(&self, name: &str, max_bytes: u64) -> io::Result<Option<FileRead>> {
        let file = match self.open_file(name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened?,
        };
        let mode = fstat(&file)?.st_mode & PERMISSIONS;
        let mut content = Vec::new();
        file.take(max_bytes.saturating_add(1))
            .read_to_end(&mut content)?;
        if u64::try_from(content.len()).is_ok_and(|length| length > max_bytes) {
            let message = format!("it is larger than {max_bytes} bytes");
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
        }
        Ok(Some(FileRead { content, mode }))
    }

    /// Moves an entry to another folder. A file of that name is replaced.
    pub(crate) fn rename(&self, name: &str, to: &Self, new_name: &str) -> io::Result<()> {
        Ok(renameat(&self.handle, name, &to.handle, new_name)?)
    }

    /// Gives an entry another name, which must be new. A link is not followed.
    pub(crate) fn rename_to_new(&self, name: &str, new_name: &str) -> io::Result<()> {
        let flags = RenameFlags::NOREPLACE;
        Ok(renameat_with(
            &self.handle,
            name,
            &self.handle,
            new_name,
            flags,
        )?)
    }

    /// Returns whether there is an entry of a name.
    pub(crate) fn has(&self, name: &str) -> io::Result<bool> {
        match statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => Ok(false),
            found => Ok(found.map(|_| true)?),
        }
    }

    /// Removes a file or a link, not what it leads to. One that is missing is no error.
    pub(crate) fn remove_file(&self, name: &str) -> io::Result<()> {
        match unlinkat(&self.handle, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Removes an empty folder. One that is missing or not empty is no error.
    pub(crate) fn remove_folder_if_empty(&self, name: &str) -> io::Result<()> {
        match unlinkat(&self.handle, name, AtFlags::REMOVEDIR) {
            Ok(()) | Err(Errno::NOENT | Errno::NOTEMPTY | Errno::EXIST) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Lists the names and kinds of entries, in order of names. A name that is no text is an error.
    pub(crate) fn entries(&self) -> io::Result<Vec<(String, FileType)>> {
        self.entries_but(|name| {
            Err(io::Error::other(format!(
                "the name {name:?} in it is not Unicode text"
            )))
        })
    }

    /// Lists the names and kinds of entries, in order of names. `other` decides on a name that is no text.
    pub(crate) fn entries_but(
        &self,
        other: impl Fn(&CStr) -> io::Result<()>,
    ) -> io::Result<Vec<(String, FileType)>> {
        let mut found = Vec::new();
        for entry in Dir::read_from(&self.handle)? {
            let entry = entry?;
            let name = entry.file_name();
            if [c".", c".."].contains(&name) {
                continue;
            }
            let Ok(name) = name.to_str() else {
                other(name)?;
                continue;
            };
            let kind = match entry.file_type() {
                FileType::Unknown => {
                    let flags = AtFlags::SYMLINK_NOFOLLOW;
                    let metadata = statat(&self.handle, name, flags)?;
                    FileType::from_raw_mode(metadata.st_mode)
                }
                kind => kind,
            };
            found.push((name.to_owned(), kind));
        }
        found.sort_by(|(a, _), (b, _)| a.cmp(b));
        Ok(found)
    }

    /// Lists the regular files below this folder, in order of paths with `/` between their names. Links
    /// are not followed, even while folders are moved. A name that is no text is left out, and so is a
    /// folder that goes meanwhile.
    pub(crate) fn files(&self, max: usize) -> io::Result<Vec<String>> {
        let mut found = Vec::new();
        let mut folders = vec![String::new()];
        while let Some(path) = folders.pop() {
            let names: Vec<&str> = path.split_terminator('/').collect();
            let folder = match self.below(&names) {
                Err(error) if !names.is_empty() && is_gone(&error) => continue,
                opened => opened?,
            };
            for (name, kind) in folder.entries_but(|_| Ok(()))? {
                match kind {
                    FileType::Directory => folders.push(format!("{path}{name}/")),
                    FileType::RegularFile => found.push(format!("{path}{name}")),
                    _ => {}
                }
            }
            if found.len() + folders.len() > max {
                let message = format!("there are more than {max} files");
                return Err(io::Error::other(message));
            }
        }
        found.sort_unstable();
        Ok(found)
    }

    /// Waits until the names in the folder are stored.
    pub(crate) fn sync(&self) -> io::Result<()> {
        Ok(fsync(&self.handle)?)
    }
}

/// Returns whether there is no folder of a name any more, but nothing or something else.
pub(crate) fn is_gone(error: &io::Error) -> bool {
    let gone = [Errno::NOENT, Errno::NOTDIR, Errno::LOOP];
    gone.iter()
        .any(|it| error.raw_os_error() == Some(it.raw_os_error()))
}

impl AsFd for Folder {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }
}
