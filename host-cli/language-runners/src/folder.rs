//! The one folder that a runner sees.

use crate::bindings::agent::runner::types::{ErrorCode, Failure};
use crate::bindings::wasi::filesystem::preopens::get_directories;
use crate::bindings::wasi::filesystem::types::{
    Descriptor, DescriptorFlags, DescriptorType, ErrorCode as Trouble, OpenFlags, PathFlags,
};
use crate::failure;

/// Size of a write, in bytes: a host takes no more at a time.
const PIECE: usize = 64 << 10;

/// The folder of the app.
pub(crate) struct Folder(Descriptor);

impl Folder {
    /// Opens the folder that the host gives.
    pub(crate) fn open() -> Result<Self, Failure> {
        match get_directories().into_iter().next() {
            Some((folder, _)) => Ok(Self(folder)),
            None => Err(failure(
                ErrorCode::Fs,
                "the host gave no folder".to_owned(),
                "report this as a defect of the host",
            )),
        }
    }

    /// Writes a new file, and makes the folders on its way.
    pub(crate) fn write(&self, path: &str, content: &[u8]) -> Result<(), Failure> {
        let names: Vec<_> = path.split('/').collect();
        if names.iter().any(|name| matches!(*name, "" | "." | "..")) {
            let message = format!("`{path}` is not a path in the app's folder");
            let hint = "use a relative path without `.` and `..`";
            return Err(failure(ErrorCode::Plan, message, hint));
        }
        for end in 1..names.len() {
            match self.0.create_directory_at(&names[..end].join("/")) {
                Ok(()) | Err(Trouble::Exist) => {}
                Err(trouble) => return Err(unusable(path, trouble)),
            }
        }
        let new = OpenFlags::CREATE | OpenFlags::EXCLUSIVE;
        let file = self
            .0
            .open_at(PathFlags::empty(), path, new, DescriptorFlags::WRITE)
            .map_err(|trouble| unusable(path, trouble))?;
        let mut written = 0;
        while written < content.len() {
            let end = content.len().min(written + PIECE);
            let count = file.write(&content[written..end], written as u64);
            match count.map_err(|trouble| unusable(path, trouble))? {
                0 => return Err(unusable(path, Trouble::Io)),
                // A count fits: it is at most the size of the piece.
                count => written += count as usize,
            }
        }
        Ok(())
    }

    /// Checks that the app has a file.
    pub(crate) fn require(&self, path: &str) -> Result<(), Failure> {
        let inside = path.strip_prefix("./").unwrap_or(path);
        match self.0.stat_at(PathFlags::SYMLINK_FOLLOW, inside) {
            Ok(found) if found.type_ != DescriptorType::Directory => Ok(()),
            // It may be another folder of the sandbox, or a link out of this one: the program will see.
            Err(Trouble::NotPermitted | Trouble::Access) => Ok(()),
            _ => Err(failure(
                ErrorCode::Plan,
                format!("the app has no file `{path}`"),
                "write it with `fs.apply`, or correct the command line",
            )),
        }
    }
}

fn unusable(path: &str, trouble: Trouble) -> Failure {
    let message = format!("`{path}` can't be written: {}", trouble.message());
    failure(ErrorCode::Fs, message, "correct the paths of the plan")
}
