//! The toolchains of this machine that a sandbox can have.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The folders in which an app finds programs by their names.
const SYSTEM: [&str; 3] = ["/usr/local/bin", "/usr/bin", "/bin"];

/// The program of a toolchain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Toolchain {
    /// The word by which an app calls it.
    pub program: String,
    /// The folders that the app has to read.
    pub read: Vec<PathBuf>,
}

impl Toolchain {
    /// Returns the file of the program.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        let mut system = SYSTEM
            .iter()
            .map(|folder| Path::new(folder).join(&self.program));
        // An absolute path is joined to none.
        let found = system.find(|path| path.exists());
        found.unwrap_or_else(|| PathBuf::from(&self.program))
    }
}

/// Returns the program of a toolchain: that of the system, else the one that this program finds in `PATH`. Only
/// toolchains are found, not any program.
#[must_use]
pub fn toolchain(program: &str) -> Option<Toolchain> {
    if program != "go" {
        return None;
    }
    let mut system = SYSTEM.iter();
    if system.any(|folder| Path::new(folder).join(program).exists()) {
        return Some(Toolchain {
            program: program.to_owned(),
            read: Vec::new(),
        });
    }
    let root = go_root()?;
    Some(Toolchain {
        program: root.join("bin/go").display().to_string(),
        read: whole(&root),
    })
}

/// Returns the folder of the toolchain that is in `PATH`.
fn go_root() -> Option<PathBuf> {
    let output = Command::new("go")
        .args(["env", "GOROOT"])
        .stdin(Stdio::null())
        .output()
        .ok()
        .filter(|it| it.status.success())?;
    let root = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
    root.join("bin/go").is_file().then_some(root)
}

/// Returns a folder with what its links lead to: distributions keep the sources of a toolchain elsewhere.
#[must_use]
pub fn whole(root: &Path) -> Vec<PathBuf> {
    let mut folders = vec![root.to_owned()];
    for entry in root.read_dir().into_iter().flatten().flatten() {
        let Ok(target) = entry.path().canonicalize() else {
            continue;
        };
        if !folders.iter().any(|folder| target.starts_with(folder)) {
            folders.push(target);
        }
    }
    folders
}

#[cfg(test)]
mod tests {
    use super::{toolchain, whole};
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn only_toolchains_are_found() {
        assert_eq!(toolchain("sh"), None);
        assert_eq!(toolchain("python3"), None);
    }

    #[test]
    fn links_of_a_toolchain_lead_to_readable_folders() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        let (root, share) = (folder.join("go"), folder.join("share/src"));
        for path in [&root.join("bin"), &share] {
            fs::create_dir_all(path).unwrap();
        }
        symlink("../share/src", root.join("src")).unwrap();
        symlink("missing", root.join("misc")).unwrap();
        assert_eq!(whole(&root), [root, share]);
    }
}
