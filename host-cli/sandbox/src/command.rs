//! The command to run, and what it may reach.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

/// Folders of which no part can be granted: each sandbox has its own.
const OWN_FOLDERS: [&str; 3] = ["/dev", "/proc", "/sys"];

/// The port of a command's proxy, in a network that has no other service.
pub const PROXY_PORT: u16 = 3128;

/// The variables of [`Network::Proxy`] that name the proxy. Programs know one or the other case.
pub(crate) const PROXY_VARIABLES: [&str; 6] = [
    "ALL_PROXY",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "all_proxy",
    "http_proxy",
    "https_proxy",
];

/// A variable by which Node.js obeys them.
pub(crate) const NODE_USES_PROXY: [&str; 2] = ["NODE_USE_ENV_PROXY", "1"];

/// A command with its grants. Nothing else of the machine is reachable, save the system folders,
/// which can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// The program, as an absolute path.
    pub program: PathBuf,
    /// The arguments after the program's name, in any bytes but NUL.
    pub arguments: Vec<OsString>,
    /// The environment. The sandbox adds `HOME`, `TMPDIR` and `PWD`, and what leads to a proxy
    /// of [`Network::Proxy`]; it passes on nothing of its own environment. A value reaches the command alone and is in no command line.
    pub env: BTreeMap<OsString, OsString>,
    /// The working folder, by default the home. A folder inside `read`, `write` or the home, as an
    /// absolute path.
    pub cwd: Option<PathBuf>,
    /// Files and folders that the command may read and execute, as absolute paths.
    pub read: Vec<PathBuf>,
    /// Files and folders that the command may also change, as absolute paths.
    pub write: Vec<PathBuf>,
    /// Folders of the machine that have another path inside, by that path. Only the bubblewrap tier has
    /// them.
    pub mounts: BTreeMap<PathBuf, Mount>,
    /// The command's home.
    pub home: Home,
    /// The command's network.
    pub network: Network,
}

/// A folder of the machine, for a command that sees it at another path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// The folder, as an absolute path.
    pub folder: PathBuf,
    /// Whether the command may change it.
    pub writable: bool,
}

/// The home folder of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Home {
    /// An empty folder that vanishes with the command.
    #[default]
    Private,
    /// An existing folder, which the command may change.
    Folder(PathBuf),
}

/// The network of a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Network {
    /// None.
    #[default]
    None,
    /// None but a proxy at [`PROXY_PORT`] of the loopback address, to which the environment leads. Its
    /// connections arrive at [`Child::proxy`](crate::Child::proxy). Only the bubblewrap tier has it.
    Proxy,
    /// None, but the caller can connect to what the command listens at, by
    /// [`Child::inside`](crate::Child::inside). Only the bubblewrap tier has it.
    Inbound,
    /// Both of these: the command has a proxy, and the caller can connect to it.
    InboundAndProxy,
    /// The network of the machine, with its loopback services: weaker than any other choice.
    Host,
}

impl Network {
    /// Returns whether the command shares no network with the machine.
    pub(crate) fn is_own(self) -> bool {
        match self {
            Self::None | Self::Proxy | Self::Inbound | Self::InboundAndProxy => true,
            Self::Host => false,
        }
    }

    /// Returns whether the command has a proxy.
    pub(crate) fn has_proxy(self) -> bool {
        matches!(self, Self::Proxy | Self::InboundAndProxy)
    }

    /// Returns whether the caller can connect to the command.
    pub(crate) fn is_inbound(self) -> bool {
        matches!(self, Self::Inbound | Self::InboundAndProxy)
    }
}

impl Command {
    /// Returns a command without arguments, environment, grants and network.
    #[must_use]
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            arguments: Vec::new(),
            env: BTreeMap::new(),
            cwd: None,
            read: Vec::new(),
            write: Vec::new(),
            mounts: BTreeMap::new(),
            home: Home::default(),
            network: Network::default(),
        }
    }

    /// Checks what no sandbox can give, with the first reason.
    ///
    /// A granted path has to exist and be absolute, without `.` and `..`. A path to read inside a
    /// path to write is refused: Landlock can't take back a right, and both tiers behave alike.
    pub(crate) fn check(&self) -> Result<(), String> {
        check_path("the program", &self.program)?;
        for argument in &self.arguments {
            if argument.as_encoded_bytes().contains(&0) {
                return Err("an argument contains a NUL byte".to_owned());
            }
        }
        for (name, value) in &self.env {
            let bytes = name.as_encoded_bytes();
            if bytes.is_empty() || bytes.contains(&b'=') || bytes.contains(&0) {
                return Err(format!(
                    "{name:?} can't be the name of an environment variable"
                ));
            }
            if value.as_encoded_bytes().contains(&0) {
                return Err(format!(
                    "the environment variable {name:?} contains a NUL byte"
                ));
            }
        }
        for path in self.read.iter().chain(self.folders_to_write()) {
            check_grant(path)?;
        }
        for read in &self.read {
            if let Some(write) = self
                .folders_to_write()
                .find(|write| read.starts_with(write))
            {
                return Err(format!(
                    "{} can't be read-only inside {}, which can be changed",
                    read.display(),
                    write.display()
                ));
            }
        }
        for (inside, mount) in &self.mounts {
            check_path("the place of a folder", inside)?;
            let own = OWN_FOLDERS.iter().any(|own| inside.starts_with(own));
            if own || inside.components().count() < 2 {
                return Err(format!(
                    "a folder can't be put at {}, which the sandbox makes",
                    inside.display()
                ));
            }
            check_grant(&mount.folder)?;
        }
        if let Home::Folder(home) = &self.home
            && !home.is_dir()
        {
            return Err(format!("the home {} is not a folder", home.display()));
        }
        if let Some(cwd) = &self.cwd {
            check_path("the working folder", cwd)?;
            let mut grants = self.read.iter().chain(self.folders_to_write());
            let granted = grants.any(|grant| cwd.starts_with(grant)) && cwd.is_dir();
            if !granted && !self.mounts.contains_key(cwd) {
                return Err(format!(
                    "the working folder must be a folder inside a granted path; {} is not one",
                    cwd.display()
                ));
            }
        }
        Ok(())
    }

    /// Lists what the command may change: `write`, and the home if it is a folder of the machine.
    pub(crate) fn folders_to_write(&self) -> impl Iterator<Item = &PathBuf> {
        let home = match &self.home {
            Home::Private => None,
            Home::Folder(home) => Some(home),
        };
        self.write.iter().chain(home)
    }
}

fn check_path(subject: &str, path: &Path) -> Result<(), String> {
    let plain = |part: Component<'_>| matches!(part, Component::RootDir | Component::Normal(_));
    if !path.is_absolute() {
        Err(format!(
            "{subject} must be an absolute path; {} is not one",
            path.display()
        ))
    } else if !path.components().all(plain) {
        Err(format!(
            "{subject} must be a path without `..`; {} has one",
            path.display()
        ))
    } else if path.as_os_str().as_encoded_bytes().contains(&0) {
        Err(format!("{subject} contains a NUL byte"))
    } else {
        Ok(())
    }
}

fn check_grant(path: &Path) -> Result<(), String> {
    check_path("a granted path", path)?;
    if path.parent().is_none() {
        return Err("the root folder can't be granted".to_owned());
    }
    // The path as it is written, and the path that it leads to.
    let target = path
        .canonicalize()
        .map_err(|error| format!("{} can't be granted: {error}", path.display()))?;
    for own in OWN_FOLDERS {
        if path.starts_with(own) || target.starts_with(own) || target.parent().is_none() {
            return Err(format!(
                "{} can't be granted: nothing of / itself and {} can",
                path.display(),
                OWN_FOLDERS.join(", ")
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Command, Home};
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;

    fn refused(change: impl FnOnce(&mut Command)) -> String {
        let mut command = Command::new("/usr/bin/env");
        assert_eq!(command.check(), Ok(()));
        change(&mut command);
        command.check().unwrap_err()
    }

    #[test]
    fn relative_paths_are_refused() {
        assert!(refused(|command| command.program = "env".into()).contains("absolute"));
        assert!(refused(|command| command.program = "./env".into()).contains("absolute"));
        assert!(refused(|command| command.cwd = Some("here".into())).contains("absolute"));
        assert!(refused(|command| command.read = vec!["usr".into()]).contains("absolute"));
        assert!(refused(|command| command.program = "/usr/../bin/env".into()).contains("`..`"));
    }

    #[test]
    fn grants_have_to_exist_and_leave_the_sandbox_its_own_folders() {
        assert!(refused(|command| command.read = vec!["/no-such".into()]).contains("/no-such"));
        for path in ["/", "/proc", "/dev/null", "/sys/kernel"] {
            for write in [false, true] {
                let reason = refused(|command| match write {
                    false => command.read = vec![path.into()],
                    true => command.write = vec![path.into()],
                });
                assert!(reason.contains("can't be granted"), "{reason}");
            }
        }
        let home = Home::Folder("/usr/bin/env".into());
        assert!(refused(|command| command.home = home).contains("not a folder"));
    }

    #[test]
    fn links_out_of_a_grant_are_followed_before_it_is_judged() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("/proc", &link).unwrap();
        assert!(refused(|command| command.write = vec![link]).contains("can't be granted"));
    }

    #[test]
    fn the_working_folder_has_to_be_granted() {
        for cwd in ["/usr", "/no/such/folder"] {
            let reason = refused(|command| command.cwd = Some(cwd.into()));
            assert!(reason.contains(cwd), "{reason}");
        }
        refused(|command| {
            command.read = vec!["/usr/bin".into()];
            command.cwd = Some("/usr/bin/env".into());
        });
        let mut command = Command::new("/usr/bin/env");
        command.read = vec!["/usr".into()];
        command.cwd = Some("/usr/bin".into());
        assert_eq!(command.check(), Ok(()));
    }

    #[test]
    fn a_read_only_part_of_a_changeable_folder_is_refused() {
        let reason = refused(|command| {
            command.write = vec!["/usr".into()];
            command.read = vec!["/usr/bin".into()];
        });
        assert!(reason.contains("read-only inside"), "{reason}");
    }

    #[test]
    fn bytes_that_the_system_would_misread_are_refused() {
        let nul = || OsString::from_vec(b"a\0b".to_vec());
        assert!(refused(|command| command.arguments = vec![nul()]).contains("NUL"));
        assert!(refused(|command| command.env = [("A".into(), nul())].into()).contains("NUL"));
        for name in ["", "A=B"] {
            refused(|command| command.env = [(name.into(), "x".into())].into());
        }
    }
}
