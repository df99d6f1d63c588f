//! The tier with namespaces: the arguments of bubblewrap and its start.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Seek, Write};
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{self, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use rustix::fs::{MemfdFlags, memfd_create};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use super::cgroup::{self, Cgroup, Resource};
use super::child_setup::ChildSetup;
use super::guard::Guarded;
use super::launch::{Launched, end_group, give_up, spawn_error};
use super::seccomp::Gaps;
use super::tree::{self, Tree};
use super::{readable, rlimits, seccomp};
use crate::command::{NODE_USES_PROXY, PROXY_VARIABLES};
use crate::{Command, Home, Limits, Network, PROXY_PORT, Tier};

/// Where distributions install bubblewrap.
const PROGRAMS: [&str; 4] = [
    "/usr/bin/bwrap",
    "/bin/bwrap",
    "/usr/local/bin/bwrap",
    "/run/current-system/sw/bin/bwrap",
];

/// The user and group inside, for every user outside.
const USER: &str = "1000";
/// The home inside, if it is private.
const PRIVATE_HOME: &str = "/home/agent";
/// The folder for temporary files inside.
const TEMPORARY: &str = "/tmp";
const HOST_NAME: &str = "sandbox";

const PASSWD: &str = "\
root:x:0:0::/:/usr/sbin/nologin
agent:x:1000:1000::/home/agent:/bin/sh
nobody:x:65534:65534::/:/usr/sbin/nologin
";
const GROUP: &str = "root:x:0:\nagent:x:1000:\nnogroup:x:65534:\n";
const HOSTS: &str = "127.0.0.1 localhost\n::1 localhost\n127.0.0.1 sandbox\n";

/// Processes of the sandbox itself: the one outside of the namespaces and the first one inside.
const OWN_PROCESSES: u32 = 2;
/// Those of them that are inside.
const OWN_PROCESSES_INSIDE: u32 = 1;

/// Room for processes of the supervisor that enter the user namespace for a moment, to make a socket. The kernel
/// counts them as the command's: without room it refuses the process at which the command would be seen to
/// exceed its number, and a command that waits then is never ended.
const ROOM_FOR_VISITORS: u64 = 16;

/// Maximum size of a folder in memory, in bytes: what bubblewrap takes.
const MAX_FOLDER: u64 = i64::MAX as u64;

/// How long bubblewrap may take until it has made its namespaces.
const START_TIMEOUT: Duration = Duration::from_secs(60);

/// Maximum length of a message of bubblewrap about its failure, in bytes.
const MAX_MESSAGE: u64 = 4 << 10;

/// Returns the program's path.
pub(super) fn program() -> Option<&'static Path> {
    readable::find(&PROGRAMS)
}

/// Returns whether this bubblewrap can limit the size of a folder in memory: since 0.7.
pub(super) fn sizes_folders() -> bool {
    static SIZES: OnceLock<bool> = OnceLock::new();
    *SIZES.get_or_init(|| {
        let help = program().map(|program| {
            let mut help = process::Command::new(program);
            help.env_clear().arg("--help").stdin(Stdio::null()).output()
        });
        let Some(Ok(help)) = help else { return false };
        let text = [help.stdout, help.stderr].concat();
        String::from_utf8_lossy(&text).contains("--size BYTES")
    })
}

/// Starts a command.
pub(super) fn launch(
    command: &Command,
    limits: &Limits,
    use_groups: bool,
) -> Result<Launched, String> {
    let program = program().ok_or("bubblewrap is not installed")?;
    if limits.cpu_percent.is_some() && !(use_groups && cgroup::has(Resource::CpuShare)) {
        return Err("no control group can limit the share of processor time".to_owned());
    }
    let group = match use_groups {
        true => Cgroup::new(limits, OWN_PROCESSES)
            .map_err(|error| format!("no control group can be made: {error}"))?,
        false => Cgroup::none(),
    };
    let pieces = Pieces::new(command, limits)
        .map_err(|error| format!("the sandbox can't be prepared: {error}"))?;
    let mut bwrap = process::Command::new(program);
    bwrap
        .env_clear()
        .current_dir("/")
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    for (option, file) in &pieces.inherited {
        if let Some(option) = option {
            bwrap.arg(option).arg(file.as_raw_fd().to_string());
        }
    }
    bwrap
        .arg("--")
        .arg(&command.program)
        .args(&command.arguments);
    let guarded = Guarded::new();
    let setup = ChildSetup {
        announcement: Some(guarded.announcement()),
        groups: group.doors().map_err(|error| error.to_string())?,
        keep: pieces.inherited.into_iter().map(|(_, file)| file).collect(),
        ..ChildSetup::default()
    };
    setup.prepare(&mut bwrap);
    let mut child = bwrap
        .spawn()
        .map_err(|error| spawn_error(program, &error))?;
    // With it go our copies of the inherited files: the pipes end with bubblewrap.
    drop(bwrap);

    // Everything is in place, and bubblewrap waits to start the command.
    let mut status = BufReader::new(File::from(pieces.status));
    let mut line = String::new();
    let first = tree::wait(status.get_ref().as_fd(), START_TIMEOUT)
        .then(|| status.read_line(&mut line))
        .and_then(|_| child_pid(&line))
        .and_then(|pid| Some((pid, pidfd_open(pid, PidfdFlags::empty()).ok()?)));
    let Some((first, first_handle)) = first else {
        end_group(&mut child);
        let mut message = Vec::new();
        if let Some(stderr) = child.stderr.take() {
            let _ = stderr.take(MAX_MESSAGE).read_to_end(&mut message);
        }
        return Err(message_of(&message));
    };
    // Until it may start the command, the first process stays in the group that is announced.
    guarded.add(first);
    let tree = match Tree::namespace(&child, first, first_handle) {
        Ok(tree) => tree,
        Err(error) => return Err(give_up(child, &error)),
    };
    let memory = !(use_groups && cgroup::has(Resource::Memory));
    let processes = rlimits::counts_processes()
        .then(|| u64::from(limits.processes) + u64::from(OWN_PROCESSES_INSIDE) + ROOM_FOR_VISITORS);
    let limited = rlimits::apply_to(first, &rlimits::list(limits, memory, processes));
    let mut launched = Launched {
        child,
        tree,
        group,
        guarded: Some(guarded),
        status: Some(status),
        private: None,
        proxy: None,
        inside: None,
    };
    match limited {
        // A first process that is gone has failed, and says why on standard error.
        Ok(()) | Err(rustix::io::Errno::SRCH) => {}
        Err(error) => {
            launched.abandon();
            return Err(format!("the limits can't be set: {error}"));
        }
    }
    if let Err(error) = launched.reach_network(command.network, first) {
        launched.abandon();
        return Err(format!("its network can't be reached: {error}"));
    }
    // Without a reader bubblewrap has failed, which its standard error explains.
    let _ = File::from(pieces.go).write_all(b"1");
    Ok(launched)
}

/// Returns what bubblewrap wrote about its failure, without its name.
pub(crate) fn message_of(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let text = text.trim();
    match text.strip_prefix("bwrap: ").unwrap_or(text) {
        "" => "bubblewrap ended without a message".to_owned(),
        message => message.to_owned(),
    }
}

/// Returns whether the command was started, by the rest of bubblewrap's status: it has an exit code
/// only then.
pub(super) fn was_started(mut status: impl Read) -> bool {
    let mut rest = String::new();
    let read = status.read_to_string(&mut rest);
    read.is_ok() && rest.contains("\"exit-code\"")
}

/// Parses the first line of the status, such as `{ "child-pid": 42, "net-namespace": 7 }`.
fn child_pid(line: &str) -> Option<Pid> {
    let (_, rest) = line.split_once("\"child-pid\":")?;
    let rest = rest.trim_start();
    let digits = rest
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(rest.len());
    Pid::from_raw(rest[..digits].parse().ok()?)
}

/// The files between this process and bubblewrap.
struct Pieces {
    /// Those that bubblewrap inherits, with the option that it takes each by.
    inherited: Vec<(Option<&'static str>, OwnedFd)>,
    /// The end of bubblewrap's status that is read here.
    status: OwnedFd,
    /// What is written here starts the command.
    go: OwnedFd,
}

impl Pieces {
    fn new(command: &Command, limits: &Limits) -> io::Result<Self> {
        let (status, status_in) = pipe_with(PipeFlags::CLOEXEC)?;
        let (go_out, go) = pipe_with(PipeFlags::CLOEXEC)?;
        let filter = seccomp::filter(Tier::Bubblewrap, command.network, Gaps::default());
        let filter = memory_file(&seccomp::to_bytes(&filter))?;
        let mut inherited = vec![
            (Some("--json-status-fd"), status_in),
            (Some("--block-fd"), go_out),
            // The end of a pipe is as good as a byte: if this process is killed, bubblewrap itself keeps the
            // pipe open, and waits until the guard ends it. The command does not get it.
            (Some("--sync-fd"), go.try_clone()?),
            (Some("--seccomp"), filter),
        ];

        let mut arguments = Arguments::default();
        let mut file = |arguments: &mut Arguments, text: &str, path: &str| -> io::Result<()> {
            let content = memory_file(text.as_bytes())?;
            arguments.file(content.as_raw_fd(), path);
            inherited.push((None, content));
            Ok(())
        };
        arguments.namespaces(command.network);
        arguments.system(command.network, limits);
        file(&mut arguments, PASSWD, "/etc/passwd")?;
        file(&mut arguments, GROUP, "/etc/group")?;
        if command.network.is_own() {
            file(&mut arguments, HOSTS, "/etc/hosts")?;
        }
        arguments.grants(command, limits);
        arguments.environment(command);
        // Not on bubblewrap's command line: it can be read inside, and outside by every user.
        inherited.push((Some("--args"), memory_file(&arguments.0)?));
        Ok(Self {
            inherited,
            status,
            go,
        })
    }
}

/// Makes a file in memory. A descriptor for it is closed on `exec` unless it is kept.
fn memory_file(content: &[u8]) -> io::Result<OwnedFd> {
    let mut file = File::from(memfd_create(c"agent-sandbox", MemfdFlags::CLOEXEC)?);
    file.write_all(content)?;
    file.rewind()?;
    Ok(file.into())
}

/// Arguments of bubblewrap, each ended by NUL.
#[derive(Default)]
struct Arguments(Vec<u8>);

impl Arguments {
    fn add<const N: usize>(&mut self, arguments: [&OsStr; N]) {
        for argument in arguments {
            self.0.extend(argument.as_bytes());
            self.0.push(0);
        }
    }

    fn words<const N: usize>(&mut self, words: [&str; N]) {
        self.add(words.map(OsStr::new));
    }

    fn bind(&mut self, option: &str, path: &Path) {
        self.add([OsStr::new(option), path.as_os_str(), path.as_os_str()]);
    }

    fn file(&mut self, content: RawFd, path: &str) {
        self.words(["--ro-bind-data", &content.to_string(), path]);
    }

    /// A folder in memory.
    fn folder(&mut self, path: &str, limits: &Limits) {
        if sizes_folders() {
            // A size of 0 would be none.
            let size = limits.file_bytes.clamp(1, MAX_FOLDER);
            self.words(["--size", &size.to_string()]);
        }
        self.words(["--tmpfs", path]);
    }

    fn namespaces(&mut self, network: Network) {
        // Without the first, bubblewrap goes on where it can't have a user namespace.
        self.words(["--unshare-user", "--unshare-pid", "--unshare-ipc"]);
        self.words(["--unshare-uts", "--unshare-cgroup-try"]);
        if network.is_own() {
            self.words(["--unshare-net"]);
        }
        self.words(["--uid", USER, "--gid", USER]);
        self.words(["--hostname", HOST_NAME]);
        self.words(["--die-with-parent", "--new-session"]);
        self.words(["--cap-drop", "ALL"]);
    }

    fn system(&mut self, network: Network, limits: &Limits) {
        for folder in readable::FOLDERS {
            let path = Path::new(folder);
            match fs::read_link(path) {
                Ok(target) => self.add([
                    OsStr::new("--symlink"),
                    target.as_os_str(),
                    path.as_os_str(),
                ]),
                Err(_) if path.is_dir() => self.bind("--ro-bind", path),
                Err(_) => {}
            }
        }
        let network = match network.is_own() {
            true => &[][..],
            false => &readable::ETC_OF_NETWORK,
        };
        for path in readable::ETC.iter().chain(network) {
            self.bind("--ro-bind-try", Path::new(path));
        }
        self.words(["--proc", "/proc"]);
        for path in readable::MASKED
            .iter()
            .filter(|path| Path::new(path).exists())
        {
            // Without devices on the mount, it can't even be opened.
            self.words(["--ro-bind", "/dev/null", path]);
        }
        self.words(["--remount-ro", "/proc"]);
        self.words(["--dev", "/dev"]);
        self.folder("/dev/shm", limits);
        self.words(["--remount-ro", "/dev"]);
        self.folder(TEMPORARY, limits);
    }

    fn grants(&mut self, command: &Command, limits: &Limits) {
        if command.home == Home::Private {
            self.folder(PRIVATE_HOME, limits);
        }
        // A folder before what is in it, which else would be hidden.
        let read = command.read.iter().map(|path| ("--ro-bind", path));
        let write = command.folders_to_write().map(|path| ("--bind", path));
        let mut grants: Vec<(&str, &PathBuf)> = read.chain(write).collect();
        grants.sort_by_key(|(_, path)| path.components().count());
        for (option, path) in grants {
            self.bind(option, path);
        }
        for (inside, mount) in &command.mounts {
            let option = if mount.writable {
                "--bind"
            } else {
                "--ro-bind"
            };
            self.add([
                OsStr::new(option),
                mount.folder.as_os_str(),
                inside.as_os_str(),
            ]);
        }
        // The folders of all mounts are made. What holds them is itself a folder in memory.
        self.words(["--remount-ro", "/"]);
    }

    fn environment(&mut self, command: &Command) {
        let home = match &command.home {
            Home::Private => Path::new(PRIVATE_HOME),
            Home::Folder(home) => home,
        };
        let defaults = [("HOME", home.as_os_str()), ("TMPDIR", TEMPORARY.as_ref())];
        for (name, value) in defaults {
            self.words(["--setenv", name]);
            self.add([value]);
        }
        if command.network.has_proxy() {
            let address = format!("http://{}:{PROXY_PORT}", Ipv4Addr::LOCALHOST);
            for name in PROXY_VARIABLES {
                self.words(["--setenv", name, &address]);
            }
            self.words(["--setenv"]);
            self.words(NODE_USES_PROXY);
        }
        for (name, value) in &command.env {
            self.add([OsStr::new("--setenv"), name, value]);
        }
        let cwd: OsString = match &command.cwd {
            Some(cwd) => cwd.into(),
            None => home.into(),
        };
        self.add([OsStr::new("--chdir"), &cwd]);
    }
}

#[cfg(test)]
mod tests {
    use super::{child_pid, message_of, was_started};
    use rustix::process::Pid;

    #[test]
    fn the_status_of_bubblewrap_is_read() {
        let line = "{ \"child-pid\": 9563, \"net-namespace\": 4026532180 }\n";
        assert_eq!(child_pid(line), Pid::from_raw(9563));
        assert_eq!(child_pid("{\"child-pid\":7}"), Pid::from_raw(7));
        assert_eq!(child_pid("{ \"child-pid\": x }"), None);
        assert_eq!(child_pid(""), None);
        assert!(was_started(&b"{ \"exit-code\": 0 }\n"[..]));
        assert!(!was_started(&b""[..]));
    }

    #[test]
    fn messages_lose_the_name_of_the_program() {
        assert_eq!(
            message_of(b"bwrap: execvp /x: No such file\n"),
            "execvp /x: No such file"
        );
        assert!(message_of(b"\n").contains("without a message"));
    }
}
