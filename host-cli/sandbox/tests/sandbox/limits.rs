//! Every limit ends its command, whatever the command does about it, and nothing is left.

use agent_sandbox::{Command, Exit, Finished, Limit, Limits, RunError, Sandbox, Tier, check};
use std::future;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process;
use std::time::{Duration, Instant};
use tokio::io::AsyncReadExt;

use crate::support::{self, ample, count_marked, marker, places, python, run_within, tiers};

/// Adds a marker to a command.
fn marked(program: &str) -> (Command, String) {
    let marker = marker();
    let mut command = python(program);
    command.arguments.push(marker.clone().into());
    (command, marker)
}

/// Runs a program until its end and checks that nothing is left of it.
async fn ended(sandbox: Sandbox, program: &str, limits: Limits) -> Result<Finished, RunError> {
    let (command, marker) = marked(program);
    let result = run_within(sandbox, command, limits).await;
    assert_eq!(count_marked(&marker), 0, "{sandbox:?}");
    result
}

/// Checks which limit ended a program.
async fn exceeds(sandbox: Sandbox, limit: Limit, program: &str, limits: Limits) {
    match ended(sandbox, program, limits).await {
        Err(RunError::LimitExceeded(exceeded, _)) if exceeded == limit => {}
        other => panic!("{sandbox:?}: {other:?}"),
    }
}

/// A wall time that is reached on purpose.
fn short() -> Limits {
    Limits {
        wall_time: Some(Duration::from_millis(700)),
        ..ample()
    }
}

#[tokio::test]
async fn sleeping_past_the_wall_time_is_a_timeout() {
    let program = "
import sys, time
print('log', file=sys.stderr, flush=True)
time.sleep(1000)";
    for sandbox in places().await {
        let begin = Instant::now();
        match ended(sandbox, program, short()).await {
            Err(RunError::Timeout(log)) => assert_eq!(log.bytes, b"log\n", "{sandbox:?}"),
            other => panic!("{sandbox:?}: {other:?}"),
        }
        assert!(begin.elapsed() >= Duration::from_millis(700));
        assert!(begin.elapsed() < Duration::from_secs(60));
    }
}

#[tokio::test]
async fn ignored_signals_do_not_help() {
    let program = "
import signal, time
for number in range(1, 65):
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
while True: time.sleep(1000)";
    for sandbox in places().await {
        let result = ended(sandbox, program, short()).await;
        assert!(matches!(result, Err(RunError::Timeout(_))), "{result:?}");
    }
}

#[tokio::test]
async fn a_daemon_ends_with_its_command() {
    // Forks twice, asks for a session of its own and for another process group.
    let program = "
import os, time
def quietly(action):
    try: action()
    except OSError: pass
read, write = os.pipe()
if os.fork() == 0:
    quietly(os.setsid)
    if os.fork() == 0:
        quietly(lambda: os.setpgid(0, 0))
        os.write(write, b'x')
        os.close(0); os.close(1); os.close(2)
        time.sleep(1000)
    os._exit(0)
os.wait()
os.read(read, 1)
print('daemon runs')";
    for sandbox in places().await {
        let finished = ended(sandbox, program, ample()).await.unwrap();
        assert_eq!(finished.stdout, b"daemon runs\n", "{sandbox:?}");
        assert_eq!(finished.exit, Exit::Code(0));
    }
}

#[tokio::test]
async fn a_daemon_that_holds_the_output_ends_with_its_command() {
    let program = "
import os, time
if os.fork() == 0:
    if os.fork() == 0: time.sleep(1000)
    os._exit(0)
os.wait()
print('end', flush=True)";
    for sandbox in places().await {
        let finished = ended(sandbox, program, ample()).await.unwrap();
        assert_eq!(finished.stdout, b"end\n", "{sandbox:?}");
    }
}

#[tokio::test]
async fn a_chain_of_processes_that_each_live_for_a_moment_ends() {
    let program = "
import os
while True:
    if os.fork(): os._exit(0)";
    // The first process ends at once, and everything with it.
    for sandbox in places().await {
        ended(sandbox, program, ample()).await.unwrap();
    }
    let program = format!("import os, time\nif os.fork(): time.sleep(1000)\n{program}");
    for sandbox in places().await {
        let result = ended(sandbox, &program, short()).await;
        let in_time = matches!(
            result,
            Err(RunError::Timeout(_) | RunError::LimitExceeded(Limit::Processes, _))
        );
        assert!(in_time, "{sandbox:?}: {result:?}");
    }
}

#[tokio::test]
async fn a_fork_bomb_exceeds_the_number_of_processes() {
    let bomb = "
import os, time
while True:
    try: os.fork()
    except OSError: time.sleep(0.01)";
    // Where the number is only watched, a bomb would hurt the machine until it is seen.
    let slow = "
import os, time
while True:
    try:
        if os.fork() == 0: time.sleep(1000)
    except OSError: pass
    time.sleep(0.002)";
    let limits = Limits {
        processes: 20,
        ..ample()
    };
    let groups = check().await.control_groups.processes;
    for sandbox in tiers().await {
        let without = sandbox.without_control_groups();
        if groups {
            exceeds(sandbox, Limit::Processes, bomb, limits.clone()).await;
        }
        exceeds(without, Limit::Processes, slow, limits.clone()).await;
        // The namespace of users has a count of its own, but not for root.
        if !rustix::process::getuid().is_root() && sandbox.tier() == Tier::Bubblewrap {
            exceeds(without, Limit::Processes, bomb, limits.clone()).await;
        }
    }
}

#[tokio::test]
async fn a_few_processes_and_threads_are_no_bomb() {
    let program = "
import subprocess, sys, threading
children = [subprocess.Popen([sys.executable, '-I', '-S', '-c', 'input()'], stdin=subprocess.PIPE)
    for _ in range(4)]
wait = threading.Event()
threads = [threading.Thread(target=wait.wait) for _ in range(4)]
for thread in threads: thread.start()
wait.set()
for child in children: child.communicate(b'x')
print('all ended')";
    let limits = Limits {
        processes: 9,
        ..ample()
    };
    for sandbox in places().await {
        let finished = ended(sandbox, program, limits.clone()).await.unwrap();
        assert_eq!(finished.stdout, b"all ended\n", "{sandbox:?}: {finished:?}");
    }
}

#[tokio::test]
async fn a_single_process_is_enough_for_a_command() {
    let program = "
import os
print('one', flush=True)
os.fork()";
    let limits = Limits {
        processes: 1,
        ..ample()
    };
    for sandbox in places().await {
        let finished = ended(sandbox, "print('one')", limits.clone())
            .await
            .unwrap();
        assert_eq!(finished.stdout, b"one\n", "{sandbox:?}");
    }
    if check().await.control_groups.processes {
        for sandbox in tiers().await {
            exceeds(sandbox, Limit::Processes, program, limits.clone()).await;
        }
    }
}

/// Limits for programs that use memory.
fn little_memory() -> Limits {
    Limits {
        memory_bytes: 64 << 20,
        ..ample()
    }
}

#[tokio::test]
async fn a_memory_bomb_exceeds_the_memory() {
    let program = "
blocks = []
while True: blocks.append(bytearray(1 << 20))";
    let groups = check().await.control_groups.memory;
    for sandbox in tiers().await {
        if groups {
            exceeds(sandbox, Limit::Memory, program, little_memory()).await;
        }
        // Without a group the allocation fails, which the program sees.
        let sandbox = sandbox.without_control_groups();
        let finished = ended(sandbox, program, little_memory()).await.unwrap();
        let log = String::from_utf8(finished.stderr.bytes).unwrap();
        assert!(log.contains("MemoryError"), "{log}");
        assert_eq!(finished.exit, Exit::Code(1));
    }
}

#[tokio::test]
async fn memory_of_many_processes_counts_together() {
    let program = "
import os, time
for _ in range(7):
    if os.fork() == 0: break
block = bytearray(20 << 20)
time.sleep(1000)";
    for sandbox in places().await {
        exceeds(sandbox, Limit::Memory, program, little_memory()).await;
    }
}

#[tokio::test]
async fn shared_memory_counts() {
    let program = "
import mmap, time
block = mmap.mmap(-1, 200 << 20)
for page in range(0, 200 << 20, 4096): block[page] = 1
time.sleep(1000)";
    for sandbox in places().await {
        exceeds(sandbox, Limit::Memory, program, little_memory()).await;
    }
}

#[tokio::test]
async fn spinning_exceeds_the_processor_time() {
    let spin = "
while True: pass";
    let deaf = format!("import signal\nsignal.signal(signal.SIGXCPU, signal.SIG_IGN){spin}");
    // No process reaches a limit of its own, as each spins for 0.2 s only.
    let many = "
import os, time
while True:
    if os.fork() == 0:
        begin = time.process_time()
        while time.process_time() - begin < 0.2: pass
        os._exit(0)
    os.wait()";
    let limits = Limits {
        cpu_time: Some(Duration::from_secs(1)),
        ..ample()
    };
    for sandbox in tiers().await {
        let without = sandbox.without_control_groups();
        for (sandbox, program) in [
            (sandbox, &*deaf),
            (sandbox, many),
            (without, spin),
            (without, many),
        ] {
            exceeds(sandbox, Limit::CpuTime, program, limits.clone()).await;
        }
    }
}

#[tokio::test]
async fn endless_output_exceeds_its_limit() {
    let program = "
import sys
while True: sys.stdout.write('x' * 65536)";
    for sandbox in places().await {
        exceeds(sandbox, Limit::Output, program, ample()).await;
    }
}

#[tokio::test]
async fn output_of_exactly_the_limit_is_whole() {
    let program = "import sys; sys.stdout.write('x' * int(sys.argv[1]))";
    for sandbox in tiers().await {
        for (size, whole) in [(100_000, true), (100_001, false)] {
            let mut command = python(program);
            command.arguments.push(size.to_string().into());
            let limits = Limits {
                stdout_bytes: 100_000,
                ..ample()
            };
            match run_within(sandbox, command, limits).await {
                Ok(finished) => assert!(whole && finished.stdout.len() == size),
                Err(RunError::LimitExceeded(Limit::Output, _)) => assert!(!whole),
                other => panic!("{other:?}"),
            }
        }
    }
}

#[tokio::test]
async fn endless_errors_are_cut_and_end_with_the_wall_time() {
    let program = "
import sys
while True: sys.stderr.write('x' * 65536)";
    let limits = Limits {
        stderr_bytes: 1000,
        ..short()
    };
    for sandbox in places().await {
        match ended(sandbox, program, limits.clone()).await {
            Err(RunError::Timeout(log)) => {
                assert_eq!(log.bytes, [b'x'; 1000]);
                assert!(log.truncated);
            }
            other => panic!("{sandbox:?}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn a_long_log_does_not_end_a_command() {
    let program = "import sys; sys.stderr.write('x' * 1001)";
    for (limit, truncated) in [(1000, true), (1001, false)] {
        let limits = Limits {
            stderr_bytes: limit,
            ..ample()
        };
        for sandbox in tiers().await {
            let finished = ended(sandbox, program, limits.clone()).await.unwrap();
            assert_eq!(finished.stderr.bytes.len() as u64, limit);
            assert_eq!(finished.stderr.truncated, truncated);
            assert_eq!(finished.exit, Exit::Code(0));
        }
    }
}

#[tokio::test]
async fn a_huge_file_exceeds_the_size_of_files() {
    // Python ignores the signal by itself, as many runtimes do.
    let program = "
import os, signal
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
file = open(os.environ['TMPDIR'] + '/file', 'wb')
while True: file.write(bytes(1 << 16))";
    let limits = Limits {
        file_bytes: 1 << 20,
        ..ample()
    };
    for sandbox in places().await {
        exceeds(sandbox, Limit::FileSize, program, limits.clone()).await;
    }
    let program = "
import errno, os
file = open(os.environ['TMPDIR'] + '/file', 'wb', buffering=0)
try:
    while True: file.write(bytes(1 << 16))
except OSError as error: print(errno.errorcode[error.errno], file.tell())";
    for sandbox in places().await {
        let finished = ended(sandbox, program, limits.clone()).await.unwrap();
        let output = String::from_utf8(finished.stdout).unwrap();
        let full = ["EFBIG 1048576\n", "ENOSPC 1048576\n"];
        assert!(full.contains(&output.as_str()), "{sandbox:?}: {output}");
    }
}

#[tokio::test]
async fn private_folders_can_not_be_filled() {
    let program = "
import errno, os
for folder in [os.environ['TMPDIR'], os.environ['HOME'], '/dev/shm']:
    written = 0
    try:
        for number in range(100):
            written += open(f'{folder}/{number}', 'wb', buffering=0).write(bytes(1 << 16))
    except OSError as error: print(errno.errorcode[error.errno], written <= 1 << 20)";
    let limits = Limits {
        file_bytes: 1 << 20,
        ..ample()
    };
    let sandbox = Sandbox::of(Tier::Bubblewrap).await.unwrap();
    let finished = ended(sandbox, program, limits).await.unwrap();
    let output = String::from_utf8(finished.stdout).unwrap();
    assert_eq!(output, "ENOSPC True\n".repeat(3));
}

#[tokio::test]
async fn the_number_of_open_files_is_limited() {
    let program = "
import errno, os
try:
    while True: last = os.dup(0)
except OSError as error: print(errno.errorcode[error.errno], last)";
    let limits = Limits {
        open_files: 32,
        ..ample()
    };
    for sandbox in places().await {
        let finished = ended(sandbox, program, limits.clone()).await.unwrap();
        assert_eq!(finished.stdout, b"EMFILE 31\n", "{sandbox:?}");
    }
}

#[tokio::test]
async fn a_cancelled_command_ends() {
    let program = "
import time
print('x', flush=True)
time.sleep(1000)";
    for sandbox in places().await {
        for delay in [0, 300] {
            let (command, marker) = marked(program);
            let cancel = tokio::time::sleep(Duration::from_millis(delay));
            let result = sandbox.run(command, Vec::new(), ample(), cancel).await;
            assert!(matches!(result, Err(RunError::Cancelled(_))), "{result:?}");
            wait_until_gone(&marker).await;
        }
    }
}

/// Waits for the end of a command that nobody waits for any more.
async fn wait_until_gone(marker: &str) {
    let begin = Instant::now();
    while count_marked(marker) > 0 {
        assert!(begin.elapsed() < Duration::from_secs(60), "{marker}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Starts processes that would go on for long, and says so.
const FAMILY: &str = "
import os, time
for _ in range(3):
    if os.fork() == 0:
        try: os.setsid()
        except OSError: pass
        time.sleep(1000)
print('x', flush=True)
time.sleep(1000)";

#[tokio::test]
async fn dropping_a_child_ends_everything() {
    for sandbox in places().await {
        let (command, marker) = marked(FAMILY);
        let mut child = sandbox.spawn(command, ample()).await.unwrap();
        child.stdout.as_mut().unwrap().read_u8().await.unwrap();
        assert!(count_marked(&marker) >= 4);
        drop(child);
        wait_until_gone(&marker).await;
    }
}

#[tokio::test]
async fn killing_a_child_ends_everything() {
    for sandbox in places().await {
        let (command, marker) = marked(FAMILY);
        let mut child = sandbox.spawn(command, ample()).await.unwrap();
        child.stdout.as_mut().unwrap().read_u8().await.unwrap();
        child.kill();
        let result = child.wait().await;
        assert!(matches!(result, Err(RunError::Cancelled(_))), "{result:?}");
        assert_eq!(count_marked(&marker), 0, "{sandbox:?}");
    }
}

#[tokio::test]
async fn dropping_the_future_of_a_run_ends_everything() {
    for sandbox in places().await {
        let (command, marker) = marked(FAMILY);
        let run = sandbox.run(command, Vec::new(), ample(), future::pending());
        let waited = tokio::time::timeout(Duration::from_millis(300), run).await;
        assert!(waited.is_err());
        wait_until_gone(&marker).await;
    }
}

#[tokio::test]
async fn a_child_without_a_wall_time_runs_until_it_is_ended() {
    let limits = Limits {
        wall_time: None,
        cpu_time: None,
        ..ample()
    };
    for sandbox in tiers().await {
        let (command, marker) = marked(FAMILY);
        let mut child = sandbox.spawn(command, limits.clone()).await.unwrap();
        child.stdout.as_mut().unwrap().read_u8().await.unwrap();
        let early = tokio::time::timeout(Duration::from_millis(300), child.wait()).await;
        assert!(early.is_err());
        wait_until_gone(&marker).await;
    }
}

/// The tier and the marker for the test below, in the environment of its own child.
const KILLED: &str = "SANDBOX_TEST_KILLED";

#[test]
fn commands_end_with_a_killed_host() {
    if let Ok(role) = std::env::var(KILLED) {
        return be_killed(&role);
    }
    for tier in Tier::ALL {
        let marker = marker();
        // What a killed process leaves there is removed here.
        let temporary = tempfile::tempdir().unwrap();
        let mut host = process::Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "limits::commands_end_with_a_killed_host",
                "--nocapture",
            ])
            .env(KILLED, format!("{tier} {marker}"))
            .env("TMPDIR", temporary.path())
            .stdout(process::Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(host.stdout.take().unwrap());
        let ready = output
            .lines()
            .map(Result::unwrap)
            .any(|line| line.contains("READY"));
        assert!(ready && count_marked(&marker) > 0);
        host.kill().unwrap();
        host.wait().unwrap();
        let begin = Instant::now();
        while count_marked(&marker) > 0 {
            assert!(begin.elapsed() < Duration::from_secs(60), "{tier}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Bubblewrap lets the kernel end it with its host only when its namespaces are made: a host that is killed before
/// would leave it for ever.
#[test]
fn no_process_is_left_by_a_host_that_is_killed_while_it_starts_a_command() {
    if let Ok(role) = std::env::var(KILLED) {
        return be_killed(&role);
    }
    const STARTS: u64 = 20;
    let tier = Tier::Bubblewrap;
    let marker = marker();
    for start in 0..STARTS {
        let mut host = process::Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "limits::no_process_is_left_by_a_host_that_is_killed_while_it_starts_a_command",
                "--nocapture",
            ])
            .env(KILLED, format!("{tier} {marker}"))
            .stdout(process::Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(host.stdout.take().unwrap());
        let mut lines = output.lines().map(Result::unwrap);
        assert!(lines.any(|line| line.contains("BEGINS")));
        std::thread::sleep(Duration::from_micros(700 * start));
        host.kill().unwrap();
        host.wait().unwrap();
    }
    let begin = Instant::now();
    while count_marked(&marker) > 0 {
        let left = count_marked(&marker);
        assert!(begin.elapsed() < Duration::from_secs(10), "{left} left");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Starts a command and waits for the end of this process.
fn be_killed(role: &str) {
    let (tier, marker) = role.split_once(' ').unwrap();
    let tier = Tier::ALL
        .into_iter()
        .find(|known| known.name() == tier)
        .unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let sandbox = Sandbox::of(tier).await.unwrap();
        // In the Landlock tier, only the first process ends.
        let program = match tier {
            Tier::Bubblewrap => FAMILY,
            Tier::Landlock => "import time\nprint('x', flush=True)\ntime.sleep(1000)",
        };
        let mut command = python(program);
        command.arguments.push(marker.into());
        std::io::stdout().write_all(b"BEGINS\n").unwrap();
        let mut child = sandbox.spawn(command, ample()).await.unwrap();
        child.stdout.as_mut().unwrap().read_u8().await.unwrap();
        std::io::stdout().write_all(b"READY\n").unwrap();
        future::pending::<()>().await;
    });
}

#[tokio::test]
async fn groups_and_private_folders_are_removed() {
    let left = || {
        let own = format!("agent-sandbox-{}-", process::id());
        let groups = walk("/sys/fs/cgroup")
            .filter(|name| name.starts_with(&own))
            .count();
        let folders = std::fs::read_dir(std::env::temp_dir()).unwrap().flatten();
        let folders = folders.map(|entry| entry.file_name().into_string().unwrap());
        (
            groups,
            folders.filter(|name| name.starts_with(&own)).count(),
        )
    };
    for sandbox in tiers().await {
        let before = left().1;
        let mut child = sandbox.spawn(python(FAMILY), ample()).await.unwrap();
        child.stdout.as_mut().unwrap().read_u8().await.unwrap();
        if check().await.control_groups.processes {
            assert!(left().0 > 0);
        }
        if sandbox.tier() == Tier::Landlock {
            assert!(left().1 > 0);
        }
        child.kill();
        let _ = child.wait().await;
        let begin = Instant::now();
        // Other tests of this process have their own.
        while left().0 > 0 || left().1 > before {
            assert!(begin.elapsed() < Duration::from_secs(120), "{:?}", left());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

#[tokio::test]
async fn locked_private_folders_are_removed() {
    let program = "
import os
print(os.environ['TMPDIR'], os.environ['HOME'])
for folder in [os.environ['TMPDIR'], os.environ['HOME']]:
    os.makedirs(folder + '/a/b/c')
    open(folder + '/a/file', 'w')
    os.symlink('/', folder + '/a/b/link')
    os.mkdir(folder + '/a/b/locked', 0)";
    for sandbox in places().await {
        let finished = ended(sandbox, program, ample()).await.unwrap();
        let output = String::from_utf8(finished.stdout).unwrap();
        assert!(finished.exit.success(), "{:?}", finished.stderr);
        if sandbox.tier() == Tier::Landlock {
            for folder in output.split_whitespace() {
                let folder = Path::new(folder).parent().unwrap();
                assert!(folder.to_str().unwrap().contains("agent-sandbox-"));
                assert!(!folder.exists(), "{}", folder.display());
            }
        }
    }
}

/// The names of all folders below one.
fn walk(root: &str) -> impl Iterator<Item = String> {
    let mut waiting = vec![std::path::PathBuf::from(root)];
    let mut names = Vec::new();
    while let Some(folder) = waiting.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                names.push(entry.file_name().to_string_lossy().into_owned());
                waiting.push(entry.path());
            }
        }
    }
    names.into_iter()
}

#[test]
fn limits_hold_for_an_unprivileged_user() {
    for name in ["bomb", "daemon", "memory", "huge_file", "locked"] {
        support::run_unprivileged(name, "unprivileged");
    }
}
