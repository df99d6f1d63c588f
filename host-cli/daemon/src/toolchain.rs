//! The programs of languages, where the sandbox has them.

use agent_host::contract::daemon::Language;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The folders in which an app finds programs by their names.
const SYSTEM: [&str; 3] = ["/usr/local/bin", "/usr/bin", "/bin"];

/// The programs that command lines name otherwise than the system has them.
const PROGRAMS: [(&str, &str); 1] = [("python", "python3")];

/// What a build of Go needs: its caches in the private `/tmp`, and no network.
const GO: [(&str, &str); 6] = [
    ("GO111MODULE", "auto"),
    ("GOCACHE", "/tmp/go-build"),
    ("GOFLAGS", "-buildvcs=false"),
    ("GOPATH", "/tmp/go"),
    ("GOPROXY", "off"),
    ("GOTOOLCHAIN", "local"),
];

/// What a command needs to find its program.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Toolchain {
    /// The words of the command.
    pub(crate) command: Vec<String>,
    /// The environment, which a request may overwrite.
    pub(crate) env: BTreeMap<String, String>,
    /// The folders that the app has to read.
    pub(crate) read: Vec<PathBuf>,
}

/// Returns what a command of a language needs. A toolchain of Go outside of the system's folders is the one that this
/// program finds in `PATH`.
pub(crate) fn toolchain(language: Language, start: &[String]) -> Toolchain {
    let mut found = Toolchain {
        command: start.to_vec(),
        ..Toolchain::default()
    };
    let Some(program) = found.command.first_mut() else {
        return found;
    };
    let known = PROGRAMS.iter().find(|(name, _)| name == program);
    if let Some((_, name)) = known {
        *program = (*name).to_owned();
    }
    if language == Language::Go {
        found.env = GO
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into();
        let is_of_system = SYSTEM
            .iter()
            .any(|folder| Path::new(folder).join("go").exists());
        if program == "go"
            && !is_of_system
            && let Some(root) = go_root()
        {
            *program = root.join("bin/go").display().to_string();
            found.read = whole(&root);
        }
    }
    found
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
fn whole(root: &Path) -> Vec<PathBuf> {
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
    use agent_host::contract::daemon::Language;
    use std::fs;
    use std::os::unix::fs::symlink;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn python_has_the_name_of_the_system() {
        let found = toolchain(Language::Python, &words("python app.py"));
        assert_eq!(found.command, words("python3 app.py"));
        assert!(found.env.is_empty());
        let found = toolchain(Language::Node, &words("node index.js"));
        assert_eq!(found.command, words("node index.js"));
        let found = toolchain(Language::Go, &words("./app"));
        assert_eq!(found.command, words("./app"));
        assert_eq!(found.env["GOPROXY"], "off");
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
