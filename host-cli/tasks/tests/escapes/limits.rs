//! Limits that end an app, or slow it: how far it gets, by its own account.

use crate::support::{
    LONG, Place, eventually, first_command, log, processes, run_unprivileged, server, supervisor,
};
use agent_tasks::limits::MAX_LOG_BYTES;
use agent_tasks::{App, AskedLimits, Cause, ForeignRunner, Started};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::thread;

/// Runs a program that never gets ready to its end. Returns the cause and its log.
fn end_of(program: &str, limits: AskedLimits) -> (Cause, String) {
    let place = Place::new();
    let task = place.task(program);
    let mut spec = place.spec(&task);
    spec.limits = limits;
    let cause = match task.start(supervisor(), spec).unwrap() {
        Started::Ended(run) => run.end.unwrap().cause,
        other => panic!("{other:?}"),
    };
    (cause, log(&task))
}

fn limit(name: &str) -> Cause {
    Cause::Limit {
        limit: name.to_owned(),
    }
}

/// Returns the last number that an app has written.
fn last(log: &str) -> u64 {
    log.lines()
        .rev()
        .find_map(|line| line.parse().ok())
        .unwrap_or(0)
}

/// Runs a program that goes on up to `most`, and counts. It has to be ended by a limit before it has more
/// than `allowed`.
fn is_ended_by(name: &str, program: &str, limits: AskedLimits, allowed: u64) {
    let (cause, log) = end_of(program, limits);
    let reached = last(&log);
    assert_eq!(cause, limit(name), "{log}");
    assert!((1..=allowed).contains(&reached), "{name}: {reached}");
}

/// Holds memory in steps, each of which is used.
const MEMORY: &str = "
held = []
for number in range(1, 512):
    held.append(b'x' * (1 << 20))
    print(number, flush=True)";

/// Holds memory in the processes of a tree, each of which has little. The kernel may end one of them before
/// the whole tree is ended: only those that live count.
const MEMORY_OF_TREE: &str = "
import os, time
living = 0
for number in range(16):
    reader, writer = os.pipe()
    if os.fork() == 0:
        held = b'x' * (16 << 20)
        os.write(writer, b'x')
        time.sleep(1000)
    os.close(writer)
    living += len(os.read(reader, 1))
    while os.waitpid(-1, os.WNOHANG)[0]: living -= 1
    print(16 * living, flush=True)";

/// Holds memory in files, none of which is large.
const MEMORY_OF_FILES: &str = "
for folder in ('/tmp', '/dev/shm', '/home/agent'):
    for number in range(200):
        with open(f'{folder}/{number}', 'wb') as file:
            file.write(b'x' * (1 << 20))
        print(number + 1, flush=True)";

/// Holds memory in a file without a name.
const MEMORY_WITHOUT_NAME: &str = "
import os
file = os.memfd_create('held')
for number in range(1, 512):
    os.write(file, b'x' * (1 << 20))
    print(number, flush=True)";

/// Holds memory in segments that belong to no process.
const MEMORY_IN_SEGMENTS: &str = "
import ctypes
libc = ctypes.CDLL(None)
libc.shmat.restype = ctypes.c_void_p
for number in range(1, 512):
    at = libc.shmat(libc.shmget(0, 1 << 20, 0o1600), None, 0)
    ctypes.memset(at, 1, 1 << 20)
    libc.shmdt(ctypes.c_void_p(at))
    print(number, flush=True)";

const PROCESSES: &str = "
import os, time
for number in range(1, 400):
    try:
        if os.fork() == 0: time.sleep(1000)
    except OSError: time.sleep(1000)
    print(number, flush=True)
time.sleep(1000)";

const THREADS: &str = "
import threading, time
for number in range(1, 400):
    try: threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
    except RuntimeError: time.sleep(1000)
    print(number, flush=True)
time.sleep(1000)";

/// Each process starts the next one and ends.
const CHAIN: &str = "
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
for number in range(1, 100_000):
    if os.fork(): time.sleep(0.02); os._exit(0)
    os.setsid()
    if number % 10 == 0: print(number, flush=True)";

/// Fills the disk with files of one MiB, as fast as 500 MB/s. Where each one is, comes first.
const DISK: &str = "
import os, time
for number in range(1, 2000):
    PLACE
    os.write(file, b'x' * (1 << 20))
    END
    print(number, flush=True)
    time.sleep(0.002)";

/// Fills the disk with names.
const FILES: &str = "
import os, time
for number in range(1, 100_000):
    MAKE
    if number % 100 == 0:
        print(number, flush=True)
        time.sleep(0.01)";

/// The limits of the tests of disks.
const SMALL: AskedLimits = AskedLimits {
    cpu_pct: None,
    mem_mb: None,
    wall_sec: None,
    pids: None,
    disk_mb: Some(64),
    files: Some(2000),
};

#[test]
fn the_disk_ends_an_app_however_it_is_filled() {
    let disk = |place: &str, end: &str| DISK.replace("PLACE", place).replace("END", end);
    let named = "file = os.open(str(number), os.O_CREAT | os.O_WRONLY)";
    let closed = "os.mkdir(f'f{number}')
    file = os.open(f'f{number}/file', os.O_CREAT | os.O_WRONLY)
    os.chmod(f'f{number}', 0)";
    let programs = [
        disk(named, "os.close(file)"),
        // Files without a name stay as long as a process has them open.
        disk(named, "os.unlink(str(number))"),
        disk(closed, "os.close(file)"),
        // One can be listed, and not be entered.
        disk(&closed.replace(", 0)", ", 0o400)"), "os.close(file)"),
    ];
    thread::scope(|scope| {
        for program in &programs {
            scope.spawn(|| is_ended_by("disk", program, SMALL, 1024));
        }
    });
}

/// A foreign runner that fills the disk when it is asked to start an app. It has the log of the app.
const RUNNER: &str = "#!/usr/bin/python3 -ISB
import os, sys, time
sys.stdin.read()
os.write(9, b'last words\\n')
for number in range(1, 2000):
    with open(f'/app/{number}', 'wb') as file: file.write(b'x' * (1 << 20))
    time.sleep(0.002)
";

#[test]
fn the_disk_ends_an_app_of_a_foreign_runner_too() {
    let place = Place::new();
    let task = place.task("");
    let program = place.folder.path().join("runner");
    fs::write(&program, RUNNER).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let mut spec = place.spec(&task);
    spec.app = App::Runner(ForeignRunner {
        program,
        manifest: "{}".to_owned(),
    });
    spec.limits = SMALL;
    let Started::Ended(run) = task.start(supervisor(), spec).unwrap() else {
        panic!("{}", log(&task));
    };
    assert_eq!(run.end.unwrap().cause, limit("disk"));
    assert!(log(&task).contains("last words"), "{}", log(&task));
    let files = fs::read_dir(task.work_path()).unwrap().count();
    assert!((64..1024).contains(&files), "{files}");
}

#[test]
fn the_number_of_names_ends_an_app() {
    let programs = [
        "os.symlink('none', str(number))",
        "os.mkdir(str(number))",
        "os.mkdir('deep'); os.chdir('deep')",
    ]
    .map(|make| FILES.replace("MAKE", make));
    thread::scope(|scope| {
        for program in &programs {
            scope.spawn(|| is_ended_by("files", program, SMALL, 50_000));
        }
    });
}

#[test]
fn names_of_one_file_and_removed_files_fill_nothing() {
    let program = "
import os, time
with open('file', 'wb') as file: file.write(b'x' * (8 << 20))
for number in range(100): os.link('file', str(number))
end = time.monotonic() + 3
while time.monotonic() < end:
    with open('again', 'wb') as file: file.write(b'x' * (8 << 20))
    time.sleep(0.01)
    os.unlink('again')";
    let (cause, log) = end_of(program, SMALL);
    assert_eq!(cause, Cause::Exited { code: 0 }, "{log}");
}

#[test]
fn a_user_without_rights_is_limited_too() {
    run_unprivileged("the_disk_ends");
}

#[test]
fn memory_ends_an_app_however_it_is_held() {
    let groups = agent_sandbox::control_groups();
    let limits = AskedLimits {
        mem_mb: Some(96),
        ..AskedLimits::default()
    };
    // Elsewhere the sum is only watched, and files in memory belong to no process.
    if groups.memory {
        thread::scope(|scope| {
            for (program, allowed) in [
                (MEMORY, 96),
                // With one that has ended and is not yet seen to.
                (MEMORY_OF_TREE, 96 + 16),
                (MEMORY_OF_FILES, 96),
                (MEMORY_WITHOUT_NAME, 96),
                (MEMORY_IN_SEGMENTS, 96),
            ] {
                scope.spawn(move || is_ended_by("mem_mb", program, limits, allowed));
            }
        });
    }
}

#[test]
fn a_bomb_of_processes_or_threads_ends_itself_only() {
    let place = Place::new();
    let other = place.task(&server());
    place.ready(&other);
    let limits = AskedLimits {
        pids: Some(24),
        ..AskedLimits::default()
    };
    let allowed = match agent_sandbox::control_groups().processes {
        true => 24,
        // It is watched, 20 times a second.
        false => 400,
    };
    thread::scope(|scope| {
        for program in [PROCESSES, THREADS] {
            scope.spawn(move || is_ended_by("pids", program, limits, allowed));
        }
    });
    let run = place.tasks.task(other.id()).unwrap().stop(LONG).unwrap();
    assert_eq!(run.unwrap().end.unwrap().cause, Cause::Stopped);
}

#[test]
fn nobody_outlives_the_wall_time_or_the_end_of_the_app() {
    // Long enough for three processes to start on a busy machine.
    let wall = |seconds| AskedLimits {
        wall_sec: Some(seconds),
        ..AskedLimits::default()
    };
    let sleeper = "
import ctypes, os, signal, sys, time
if os.fork() == 0:
    os.setsid()
    for number in (1, 2, 15): signal.signal(number, signal.SIG_IGN)
    # PR_SET_PDEATHSIG: none.
    ctypes.CDLL(None).prctl(1, 0)
    if os.fork() == 0:
        print('outlives', flush=True)
        time.sleep(1000)
    os._exit(0)
";
    for (name, seconds, then, cause) in [
        ("wall", 5, "time.sleep(1000)", limit("wall_sec")),
        ("exit", 60, "time.sleep(2)", Cause::Exited { code: 0 }),
        (
            "crash",
            60,
            "time.sleep(2); os.abort()",
            Cause::Signal { signal: 6 },
        ),
    ] {
        let place = Place::new();
        let marker = format!("outlives-{name}-{}", std::process::id());
        let task = place.task(&format!("{sleeper}{then}"));
        let mut spec = place.spec(&task);
        spec.limits = wall(seconds);
        first_command(&mut spec).push(marker.clone());
        let ended = thread::scope(|scope| {
            let run = scope.spawn(|| task.start(supervisor(), spec));
            eventually("the processes start", || processes(&marker).len() >= 3);
            run.join().unwrap().unwrap()
        });
        let Started::Ended(run) = ended else {
            panic!("{ended:?}");
        };
        assert_eq!(run.end.unwrap().cause, cause, "{name}");
        assert_eq!(log(&task), "outlives\n");
        let left = processes(&marker);
        assert!(left.is_empty(), "{name}: {left:?}");
    }
    // A process whose parent is gone is not counted as the app, and ends with it.
    let (cause, _) = end_of(CHAIN, wall(1));
    assert!([limit("wall_sec"), Cause::Exited { code: 0 }].contains(&cause));
}

#[test]
fn many_processes_share_one_share_of_processor_time() {
    if !agent_sandbox::control_groups().cpu_percent {
        return;
    }
    let limits = AskedLimits {
        cpu_pct: Some(20),
        ..AskedLimits::default()
    };
    let program = "
import os, time
end = time.monotonic() + 2
for _ in range(4):
    if os.fork() == 0:
        while time.monotonic() < end: pass
        os._exit(0)
for _ in range(4): os.wait()
print(round(1000 * sum(os.times()[:4])))";
    let (cause, log) = end_of(program, limits);
    assert_eq!(cause, Cause::Exited { code: 0 }, "{log}");
    // Two seconds at 20 percent, and what it takes to start.
    assert!((1..800).contains(&last(&log)), "{log}");
}

#[test]
fn a_flood_of_output_fills_no_disk() {
    let program = "
import os
for _ in range(48): os.write(1, b'x' * (1 << 20))";
    let (cause, log) = end_of(program, AskedLimits::default());
    assert_eq!(cause, Cause::Exited { code: 0 });
    let length = u64::try_from(log.len()).unwrap();
    let with_its_end = MAX_LOG_BYTES + 100;
    assert!((MAX_LOG_BYTES..with_its_end).contains(&length), "{length}");
}
