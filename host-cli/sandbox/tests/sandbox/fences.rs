//! What a command can't reach, in both tiers.

use agent_sandbox::{Command, Home, Network, Sandbox, Tier};
use std::fs;
use std::io::ErrorKind;
use std::net::{TcpListener, UdpSocket};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::Path;

use crate::support::{
    self, PYTHON, copy_program, marker, output, output_of, places, python, run, tiers,
};

/// Prints each name and the result of its expression: `name: done VALUE` or `name: ERRNO`.
const TRY: &str = r#"
import ctypes, errno, os, socket, sys
def attempt(name, action):
    try:
        print(f"{name}: done {action()!r}")
    except OSError as error:
        print(f"{name}: {errno.errorcode.get(error.errno, error.errno)}")
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *arguments):
    answer = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(a) for a in arguments])
    if answer == -1:
        raise OSError(ctypes.get_errno(), "")
    return answer
"#;

fn attempts(actions: &str) -> Command {
    python(&format!("{TRY}\n{actions}"))
}

/// Checks that every line of an output ends with one of some errors.
fn all_refused(sandbox: Sandbox, output: &str, count: usize, errors: &[&str]) {
    assert_eq!(output.lines().count(), count, "{output}");
    for line in output.lines() {
        let (_, answer) = line.split_once(": ").unwrap();
        assert!(errors.contains(&answer), "{sandbox:?}: {line}");
    }
}

#[tokio::test]
async fn the_environment_is_what_was_given() {
    let program = "
import os
for name in sorted(os.environb): print(os.fsdecode(name))";
    for sandbox in tiers().await {
        let mut command = python(program);
        command.env = [("GIVEN".into(), "x".into())].into();
        let names = output_of(sandbox, command).await;
        let mut expected = vec!["GIVEN", "HOME", "PWD", "TMPDIR"];
        // Set by the interpreter itself where the locale is missing.
        if names.contains("LC_CTYPE") {
            expected.insert(2, "LC_CTYPE");
        }
        assert_eq!(names.lines().collect::<Vec<_>>(), expected, "{sandbox:?}");
    }
}

#[tokio::test]
async fn given_variables_replace_those_of_the_sandbox() {
    for sandbox in tiers().await {
        let mut command = python("import os; print(os.environ['HOME'], os.environ['TMPDIR'])");
        command.env = [("HOME".into(), "/h".into()), ("TMPDIR".into(), "/t".into())].into();
        assert_eq!(output_of(sandbox, command).await, "/h /t\n", "{sandbox:?}");
    }
}

#[tokio::test]
async fn a_secret_is_seen_by_the_command_alone() {
    let secret = "secret-of-the-environment";
    let program = "
import os, sys, time
print(os.environ['SECRET'], flush=True)
sys.stdin.read()";
    for sandbox in tiers().await {
        let mut command = python(program);
        let marker = marker();
        command.arguments.push(marker.clone().into());
        command.env = [("SECRET".into(), secret.into())].into();
        let mut child = sandbox.spawn(command, support::ample()).await.unwrap();
        let mut stdout = child.stdout.take().unwrap();
        let mut line = vec![0; secret.len()];
        tokio::io::AsyncReadExt::read_exact(&mut stdout, &mut line)
            .await
            .unwrap();
        assert_eq!(line, secret.as_bytes());

        // Everything that belongs to the command, seen from outside.
        let (mut processes, mut holders) = (0, 0);
        for process in fs::read_dir("/proc").unwrap().flatten() {
            let Ok(cmdline) = fs::read(process.path().join("cmdline")) else {
                continue;
            };
            if !contains(&cmdline, marker.as_bytes()) {
                continue;
            }
            processes += 1;
            assert!(!contains(&cmdline, secret.as_bytes()), "{sandbox:?}");
            let environ = fs::read(process.path().join("environ")).unwrap_or_default();
            holders += usize::from(contains(&environ, secret.as_bytes()));
        }
        // Bubblewrap is there twice, outside and inside, without it.
        let expected = match sandbox.tier() {
            Tier::Bubblewrap => 3,
            Tier::Landlock => 1,
        };
        assert_eq!((processes, holders), (expected, 1), "{sandbox:?}");
        drop(stdout);
        child.wait().await.unwrap();
    }
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

#[tokio::test]
async fn the_first_process_shows_nothing_of_outside() {
    let sandbox = Sandbox::of(Tier::Bubblewrap).await.unwrap();
    let mut command = python(
        "
print(open('/proc/1/environ', 'rb').read())
print('bwrap' in open('/proc/1/cmdline').read())
print('SECRET' in open('/proc/1/cmdline').read())
print('hidden' in open('/proc/1/cmdline').read())",
    );
    command.env = [("SECRET".into(), "hidden-value".into())].into();
    // The program is on the command line, so its words can't be looked for as they are.
    let program = command.arguments.pop().unwrap().into_string().unwrap();
    let program = program
        .replace("'SECRET'", "'SEC' 'RET'")
        .replace("'hidden'", "'hid' 'den'");
    command.arguments.push(program.into());
    assert_eq!(
        output_of(sandbox, command).await,
        "b''\nTrue\nFalse\nFalse\n"
    );
}

#[tokio::test]
async fn only_the_standard_streams_are_open() {
    let program = "
import os
for fd in range(256):
    try: os.fstat(fd)
    except OSError: continue
    print(fd)";
    // A file that this process would pass on to every child.
    let file = fs::File::open("/etc/passwd").unwrap();
    let inheritable = duplicate_inheritable(&file);
    for sandbox in places().await {
        assert_eq!(output(sandbox, program).await, "0\n1\n2\n", "{sandbox:?}");
    }
    drop(inheritable);
}

/// Duplicates a descriptor so that it stays open on `exec`.
fn duplicate_inheritable(file: &fs::File) -> OwnedFd {
    let copy = rustix::io::dup(file).unwrap();
    rustix::io::fcntl_setfd(&copy, rustix::io::FdFlags::empty()).unwrap();
    assert!(copy.as_raw_fd() > 2);
    copy
}

#[tokio::test]
async fn files_outside_can_not_be_read() {
    let outside = tempfile::tempdir().unwrap();
    let file = outside.path().join("file");
    fs::write(&file, "outside").unwrap();
    let link = outside.path().join("link");
    std::os::unix::fs::symlink("/etc/shadow", &link).unwrap();
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let this_process = format!("/proc/{}", std::process::id());
    let paths = [
        "/root",
        "/home",
        "/etc/shadow",
        "/etc/hostname",
        "/etc/ssh",
        "/var/log",
        "/sys/kernel",
        "/run",
        &format!("{this_process}/environ"),
        &format!("{this_process}/cmdline"),
        &format!("{this_process}/cwd/Cargo.toml"),
        &format!("{this_process}/{}/etc/shadow", "root"),
        here.to_str().unwrap(),
        here.join("Cargo.toml").to_str().unwrap(),
        file.to_str().unwrap(),
        link.to_str().unwrap(),
    ]
    .map(|path| format!("{path:?}"));
    let actions = format!(
        "
for path in [{}]:
    attempt(path, lambda: os.listdir(path) if os.path.isdir(path) else open(path).read())",
        paths.join(", ")
    );
    for sandbox in tiers().await {
        let output = output_of(sandbox, attempts(&actions)).await;
        // The private home is in a folder of this name.
        let output = output
            .replace("'agent'", "")
            .replace("\"/home\": done []", "/home: EACCES");
        let output = output.replace("/home: done []", "/home: EACCES");
        all_refused(
            sandbox,
            &output,
            paths.len(),
            &["ENOENT", "EACCES", "EPERM", "ENOTDIR"],
        );
    }
}

#[tokio::test]
async fn files_outside_can_not_be_changed() {
    let outside = tempfile::tempdir().unwrap();
    let readable = tempfile::tempdir().unwrap();
    for folder in [&outside, &readable] {
        fs::write(folder.path().join("file"), "content").unwrap();
    }
    let actions = format!(
        "
for folder in ['/', '/usr', '/usr/bin', '/etc', '/dev', '/proc', '/root', {outside:?}, {readable:?}]:
    attempt(folder + ' new', lambda: open(folder + '/{new}', 'w'))
    attempt(folder + ' folder', lambda: os.mkdir(folder + '/{new}-folder'))
for folder in [{outside:?}, {readable:?}]:
    attempt(folder + ' write', lambda: open(folder + '/file', 'a'))
    attempt(folder + ' truncate', lambda: os.truncate(folder + '/file', 0))
    attempt(folder + ' cut', lambda: os.open(folder + '/file', os.O_RDONLY | os.O_TRUNC))
    attempt(folder + ' remove', lambda: os.remove(folder + '/file'))
    attempt(folder + ' rename', lambda: os.rename(folder + '/file', folder + '/other'))
    attempt(folder + ' link', lambda: os.link(folder + '/file', folder + '/other'))
    attempt(folder + ' mode', lambda: os.chmod(folder + '/file', 0o777))
    attempt(folder + ' owner', lambda: os.chown(folder + '/file', 1000, 1000))
    attempt(folder + ' owner of link', lambda: os.lchown(folder + '/file', 1000, 1000))
    attempt(folder + ' attribute', lambda: os.setxattr(folder + '/file', 'user.x', b'x'))
    attempt(folder + ' mode at', lambda: os.chmod(os.path.basename(folder), 0o777,
        dir_fd=os.open(os.path.dirname(folder), os.O_PATH)))
for change in [lambda fd: os.fchmod(fd, 0o777), lambda fd: os.fchown(fd, 1000, 1000),
        lambda fd: os.setxattr(fd, 'user.x', b'x'), lambda fd: os.removexattr(fd, 'user.x'),
        lambda fd: os.ftruncate(fd, 0)]:
    for file in ['/usr/bin/env', {readable:?} + '/file']:
        attempt(file + ' opened', lambda: change(os.open(file, os.O_RDONLY)))
for file in ['/proc/sys/kernel/core_pattern', '/proc/sysrq-trigger', '/proc/1/oom_score_adj',
        '/usr/bin/env', '/etc/passwd']:
    attempt(file, lambda: os.open(file, os.O_WRONLY))
attempt('device', lambda: os.mknod('/dev/sda', 0o60600, os.makedev(8, 0)))",
        new = marker(),
        outside = outside.path().to_str().unwrap(),
        readable = readable.path().to_str().unwrap(),
    );
    for sandbox in tiers().await {
        let mut command = attempts(&actions);
        command.read = vec![readable.path().into()];
        let output = output_of(sandbox, command).await;
        let errors = [
            "ENOENT", "EACCES", "EPERM", "EROFS", "ENOTDIR", "EXDEV", "EINVAL",
        ];
        all_refused(sandbox, &output, 56, &errors);
        for folder in [&outside, &readable] {
            let entries: Vec<_> = fs::read_dir(folder.path()).unwrap().flatten().collect();
            assert_eq!(entries.len(), 1);
            assert_eq!(fs::read_to_string(entries[0].path()).unwrap(), "content");
        }
    }
}

#[tokio::test]
async fn granted_paths_can_be_used() {
    let readable = tempfile::tempdir().unwrap();
    let writable = tempfile::tempdir().unwrap();
    let home = tempfile::tempdir().unwrap();
    fs::write(readable.path().join("file"), "readable").unwrap();
    let program = "
import os, sys, tempfile
readable, writable = sys.argv[1:]
print(open(readable + '/file').read(), os.getcwd() == writable)
open(writable + '/new', 'w').write('written')
os.mkdir(writable + '/folder')
os.rename(writable + '/new', writable + '/folder/moved')
open(os.environ['HOME'] + '/at-home', 'w').write('home')
tempfile.NamedTemporaryFile().write(b'temporary')
print(open('/dev/null').read() == '', len(open('/dev/urandom', 'rb').read(4)))";
    for sandbox in places().await {
        let mut command = python(program);
        command
            .arguments
            .extend([readable.path().into(), writable.path().into()]);
        command.read = vec![readable.path().into()];
        command.write = vec![writable.path().into()];
        command.cwd = Some(writable.path().into());
        command.home = Home::Folder(home.path().into());
        let output = output_of(sandbox, command).await;
        assert_eq!(output, "readable True\nTrue 4\n", "{sandbox:?}");
        let moved = writable.path().join("folder/moved");
        assert_eq!(fs::read_to_string(moved).unwrap(), "written");
        fs::remove_dir_all(writable.path().join("folder")).unwrap();
        fs::remove_file(home.path().join("at-home")).unwrap();
    }
}

#[tokio::test]
async fn a_private_home_is_empty_and_vanishes() {
    let program = "
import os
home = os.environ['HOME']
print(os.listdir(home), os.listdir(os.environ['TMPDIR']), os.getcwd() == home == os.environ['PWD'])
open(home + '/file', 'w').write('x')
open(os.environ['TMPDIR'] + '/file', 'w').write('x')
print(home)";
    for sandbox in places().await {
        for _ in 0..2 {
            let output = output(sandbox, program).await;
            let (facts, home) = output.split_once('\n').unwrap();
            assert_eq!(facts, "[] [] True", "{sandbox:?}");
            assert!(!Path::new(home.trim()).exists());
        }
    }
}

#[tokio::test]
async fn no_network_is_reached() {
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    let name = marker();
    let address = SocketAddr::from_abstract_name(&name).unwrap();
    let local = UnixListener::bind_addr(&address).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let by_path = UnixListener::bind(&path).unwrap();
    tcp.set_nonblocking(true).unwrap();
    udp.set_nonblocking(true).unwrap();
    local.set_nonblocking(true).unwrap();
    by_path.set_nonblocking(true).unwrap();
    let actions = format!(
        "
def tcp(family, address):
    socket.socket(family, socket.SOCK_STREAM).connect(address)
def udp(address):
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sender.sendto(b'x', address)
    sender.settimeout(0.2)
    return sender.recv(1)
def unix(address):
    socket.socket(socket.AF_UNIX, socket.SOCK_STREAM).connect(address)
attempt('tcp', lambda: tcp(socket.AF_INET, ('127.0.0.1', {tcp})))
attempt('tcp6', lambda: tcp(socket.AF_INET6, ('::ffff:127.0.0.1', {tcp})))
attempt('tcp out', lambda: tcp(socket.AF_INET, ('192.0.2.1', 80)))
attempt('udp out', lambda: udp(('192.0.2.1', 53)))
attempt('abstract', lambda: unix('\\0{name}'))
attempt('path', lambda: unix({path:?}))
attempt('vsock', lambda: socket.socket(40, socket.SOCK_STREAM))
attempt('netlink', lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW))
attempt('packet', lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW))
attempt('raw', lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1))
attempt('bluetooth', lambda: socket.socket(31, socket.SOCK_RAW, 0))
attempt('can', lambda: socket.socket(29, socket.SOCK_RAW, 1))
attempt('crypto', lambda: socket.socket(38, 5, 0))
attempt('vsock pair', lambda: socket.socketpair(40))",
        tcp = tcp.local_addr().unwrap().port(),
        path = path.to_str().unwrap(),
    );
    let to_us = format!(
        "
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sender.sendto(b'x', ('127.0.0.1', {}))",
        udp.local_addr().unwrap().port()
    );
    for sandbox in tiers().await {
        // A socket in a granted folder is no way out either.
        for write in [false, true] {
            let mut command = attempts(&actions);
            match write {
                false => command.read = vec![folder.path().into()],
                true => command.write = vec![folder.path().into()],
            }
            let output = output_of(sandbox, command).await;
            let errors = ["EACCES", "EPERM", "ECONNREFUSED", "ENETUNREACH"];
            all_refused(sandbox, &output, 14, &errors);
        }
        // In the network namespace of the command, this may be sent, and arrives nowhere.
        run(sandbox, attempts(&to_us)).await.unwrap();
        let nothing = |error: std::io::Error| assert_eq!(error.kind(), ErrorKind::WouldBlock);
        nothing(tcp.accept().unwrap_err());
        nothing(local.accept().unwrap_err());
        nothing(by_path.accept().unwrap_err());
        nothing(udp.recv(&mut [0]).unwrap_err());
    }
}

#[tokio::test]
async fn a_command_may_have_the_network_of_the_machine() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let name = marker();
    let address = SocketAddr::from_abstract_name(&name).unwrap();
    let local = UnixListener::bind_addr(&address).unwrap();
    listener.set_nonblocking(true).unwrap();
    local.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let actions = format!(
        "
attempt('tcp', lambda: socket.create_connection(('127.0.0.1', {port})).send(b'x'))
attempt('name', lambda: len(socket.getaddrinfo('localhost', 80)) > 0)
attempt('abstract', lambda: socket.socket(socket.AF_UNIX).connect('\\0{name}'))
attempt('pair', lambda: socket.socketpair(type=socket.SOCK_DGRAM)[0].sendto(b'x', '\\0{name}'))
attempt('vsock', lambda: socket.socket(40, socket.SOCK_STREAM))
attempt('netlink', lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW))"
    );
    for sandbox in tiers().await {
        let mut command = attempts(&actions);
        command.network = Network::Host;
        let output = output_of(sandbox, command).await;
        let refused = ["abstract", "pair", "vsock", "netlink"].map(|it| format!("{it}: EACCES\n"));
        let expected = format!("tcp: done 1\nname: done True\n{}", refused.concat());
        assert_eq!(output, expected, "{sandbox:?}");
        listener.accept().unwrap();
        assert!(local.accept().is_err());
    }
}

#[tokio::test]
async fn dangerous_calls_are_refused() {
    // The numbers of these calls differ between the architectures.
    let (ptrace, mount, unshare, keyctl, readv, perf, chroot, bpf, fallocate) =
        if cfg!(target_arch = "x86_64") {
            (101, 165, 272, 250, 310, 298, 161, 321, 285)
        } else {
            (117, 40, 97, 219, 270, 241, 51, 280, 47)
        };
    let actions = format!(
        "
attempt('io_uring_setup', lambda: call(425, 8, 0))
attempt('ptrace', lambda: call({ptrace}, 0, 0, 0, 0))
attempt('process_vm_readv', lambda: call({readv}, os.getppid(), 0, 0, 0, 0, 0))
attempt('unshare', lambda: call({unshare}, 0x10000000))
attempt('mount', lambda: call({mount}, 0, 0, 0, 0, 0))
attempt('chroot', lambda: call({chroot}, 0))
attempt('keyctl', lambda: call({keyctl}, 0, -3, 0, 0, 0))
attempt('bpf', lambda: call({bpf}, 0, 0, 0))
attempt('perf_event_open', lambda: call({perf}, 0, 0, -1, -1, 0))
attempt('open_tree', lambda: call(428, -100, 0, 0))
attempt('clone3', lambda: call(435, 0, 0))
attempt('future', lambda: call(470, 0))
# At once, a disk would be full before it is measured.
attempt('fallocate', lambda: call({fallocate}, 1, 0, 0, 1 << 30))
attempt('kill all', lambda: os.kill(-1, 0))"
    );
    for sandbox in places().await {
        let output = output_of(sandbox, attempts(&actions)).await;
        let output = match sandbox.tier() {
            // In its own namespace of processes it may.
            Tier::Bubblewrap => output.replace("kill all: done None", "kill all: ESRCH"),
            Tier::Landlock => output,
        };
        let errors = ["EPERM", "ENOSYS", "ESRCH", "ENOTSUP", "EOPNOTSUPP"];
        all_refused(sandbox, &output, 14, &errors);
    }
}

/// Without a namespace they would be those of the machine, also by an id that a program guesses.
#[tokio::test]
async fn system_v_objects_are_not_shared() {
    let calls: [(&str, u32, u32); 12] = [
        ("shmget", 29, 194),
        ("shmat", 30, 196),
        ("shmctl", 31, 195),
        ("shmdt", 67, 197),
        ("semget", 64, 190),
        ("semop", 65, 193),
        ("semctl", 66, 191),
        ("semtimedop", 220, 192),
        ("msgget", 68, 186),
        ("msgsnd", 69, 189),
        ("msgrcv", 70, 188),
        ("msgctl", 71, 187),
    ];
    let actions: String = calls
        .into_iter()
        .map(|(name, x86_64, aarch64)| {
            let number = if cfg!(target_arch = "x86_64") {
                x86_64
            } else {
                aarch64
            };
            format!("attempt('{name}', lambda: call({number}, 0x51a7, 0, 0, 0, 0))\n")
        })
        .collect();
    for sandbox in tiers().await {
        if sandbox.tier() == Tier::Landlock {
            let output = output_of(sandbox, attempts(&actions)).await;
            all_refused(sandbox, &output, 12, &["EPERM"]);
        }
    }
}

#[tokio::test]
async fn other_processes_can_not_be_signalled_or_limited() {
    let actions = format!(
        "
import resource, signal
other = {}
attempt('signal', lambda: os.kill(other, 0))
attempt('signal to a group', lambda: os.killpg(os.getpgid(other) if other else 1, 0))
attempt('limits', lambda: resource.prlimit(other, resource.RLIMIT_CORE))
attempt('affinity', lambda: os.sched_setaffinity(other, [0]))
attempt('priority', lambda: os.setpriority(os.PRIO_PROCESS, other, 0))
attempt('child', lambda: os.kill(os.getpid(), 0))",
        std::process::id()
    );
    for sandbox in tiers().await {
        let output = output_of(sandbox, attempts(&actions)).await;
        let own = "child: done None\n";
        let others = output.strip_suffix(own).unwrap();
        all_refused(sandbox, others, 5, &["EPERM", "ESRCH"]);
    }
}

#[tokio::test]
async fn a_command_has_no_capabilities_and_no_terminal() {
    let program = "
import ctypes, os
libc = ctypes.CDLL(None)
header = (ctypes.c_uint32 * 2)(0x20080522, 0)
data = (ctypes.c_uint32 * 6)()
number = 125 if os.uname().machine == 'x86_64' else 90
assert libc.syscall(number, header, data) == 0
print(list(data), libc.prctl(39, 0, 0, 0, 0))
try: os.open('/dev/tty', os.O_RDWR); print('terminal')
except OSError: print('none')";
    for sandbox in tiers().await {
        let output = output(sandbox, program).await;
        assert_eq!(output, "[0, 0, 0, 0, 0, 0] 1\nnone\n", "{sandbox:?}");
    }
}

#[tokio::test]
async fn programs_outside_of_the_grants_are_not_run() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("program");
    copy_program(Path::new("/usr/bin/env"), &program);
    for sandbox in tiers().await {
        let mut command = Command::new(&program);
        assert!(run(sandbox, command.clone()).await.is_err(), "{sandbox:?}");
        command.read = vec![folder.path().into()];
        assert!(run(sandbox, command).await.unwrap().exit.success());
        assert!(Path::new(PYTHON).exists());
    }
}

#[test]
fn fences_stand_for_an_unprivileged_user() {
    support::run_unprivileged("fences::", "unprivileged");
}
