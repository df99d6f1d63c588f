//! Runs of tasks in the real sandbox, reached over their sockets.

use agent_tasks::{
    App, AskedLimits, Cause, Error, ErrorKind, Found, Phase, Secret, Started, Tasks,
};

use crate::support::{
    self, LONG, PYTHON, Place, SERVER, eventually, get, groups, log, processes, run_unprivileged,
    server, supervisor,
};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::net::{UnixListener, UnixStream};
use std::thread;
use std::time::Duration;

fn ended(started: Started) -> Cause {
    match started {
        Started::Ended(run) => run.end.unwrap().cause,
        other => panic!("{other:?}"),
    }
}

fn kill(pid: i32) {
    kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
}

/// Runs a program that never gets ready to its end.
fn end_of(program: &str, limits: AskedLimits) -> (Cause, String) {
    let place = Place::new();
    let task = place.task(program);
    let mut spec = place.spec(&task);
    spec.limits = limits;
    let cause = ended(task.start(supervisor(), spec).unwrap());
    (cause, log(&task))
}

#[test]
fn a_task_is_started_answers_and_is_stopped_without_a_trace() {
    let place = Place::new();
    let marker = format!("marker-{}", std::process::id());
    let task = place.task(&server());
    let mut spec = place.spec(&task);
    support::first_command(&mut spec).push(marker.clone());
    let run = match task.start(supervisor(), spec).unwrap() {
        Started::Ready(run) => run,
        other => panic!("{other:?}: {}", log(&task)),
    };
    assert_eq!(run.phase, Phase::Ready);
    assert_eq!(run.port, Some(8080));
    assert!(processes(&marker).contains(&run.pid.unwrap()));
    let answer = get(&run.socket).unwrap();
    assert!(answer.ends_with("\r\n\r\nHello, World!"), "{answer}");
    assert_eq!(log(&task), "listening on 8080\n");
    assert!(matches!(task.find().unwrap(), Found::Running(_)));
    let again = task.start(supervisor(), place.spec(&task)).unwrap_err();
    assert!(again.to_string().contains("already runs"), "{again}");

    let run = task.stop(Duration::from_secs(5)).unwrap().unwrap();
    assert_eq!(run.end.unwrap().cause, Cause::Stopped);
    assert!(processes(&marker).is_empty());
    assert!(!run.socket.exists() && !run.socket.with_extension("wait").exists());
    assert!(groups(run.supervisor.pid).is_empty());
    let names = fs::read_dir(task.path()).unwrap();
    let mut names: Vec<_> = names.map(|it| it.unwrap().file_name()).collect();
    names.sort();
    let expected = [
        "manifest.json",
        "patches",
        "plan.json",
        "probes.log",
        "run.log",
        "source",
    ];
    assert_eq!(names, expected);
    place.ready(&task);
    task.stop(Duration::from_secs(5)).unwrap();
}

#[test]
fn an_app_is_found_wherever_it_listens() {
    for (address, port) in [
        ("('127.0.0.1', 5000)", 5000),
        ("('0.0.0.0', 0)", 0),
        ("('::1', 3000)", 3000),
        ("('::', int(os.environ['PORT']))", 8080),
        ("('127.0.0.2', 8000)", 8000),
    ] {
        let place = Place::new();
        let task = place.task(&SERVER.replace("ADDRESS", address));
        let run = place.ready(&task);
        let found = run.port.unwrap();
        assert!(found == port || port == 0, "{address}: {found}");
        let answer = get(&run.socket).unwrap();
        assert!(answer.ends_with("Hello, World!"), "{address}: {answer}");
        task.stop(LONG).unwrap();
    }
}

#[test]
fn an_app_that_moves_to_another_port_is_found_again() {
    let place = Place::new();
    let task = place.task(
        "
import socket
for port in (8080, 9000):
    server = socket.create_server(('127.0.0.1', port))
    connection, _ = server.accept()
    connection.sendall(b'%d' % port)
    connection.close()
    server.close()
",
    );
    let run = place.ready(&task);
    for port in ["8080", "9000"] {
        let answer = || {
            let mut connection = UnixStream::connect(&run.socket).ok()?;
            let mut text = String::new();
            connection.read_to_string(&mut text).ok()?;
            (!text.is_empty()).then_some(text)
        };
        let mut last = None;
        eventually("an answer", || {
            last = answer();
            last.is_some()
        });
        assert_eq!(last.as_deref(), Some(port));
    }
    let run = task.wait(LONG).unwrap().unwrap();
    assert_eq!(run.end.unwrap().cause, Cause::Exited { code: 0 });
}

#[test]
fn the_app_sees_its_own_world_only() {
    let place = Place::new();
    let task = place.task(
        r#"
import os, socket, sys
# Python adds another variable.
print(sorted(set(os.environ) - {'LC_CTYPE'}), os.getcwd(), os.getuid(), os.environ['GREETING'])
for path in ('/etc/new', '/usr/new', '/new', '/app/new', '/tmp/new'):
    try:
        open(path, 'w').close()
        print('wrote', path)
    except OSError: pass
for address in ('127.0.0.1', '192.0.2.1'):
    try:
        socket.create_connection((address, OUTSIDE), 2)
        print('reached', address)
    except OSError: pass
print([name for name in os.listdir('/proc') if name.isdigit()], flush=True)
print('to stderr', file=sys.stderr)
"#
        .replace("OUTSIDE", "1")
        .as_str(),
    );
    let mut spec = place.spec(&task);
    spec.env = [("GREETING".to_owned(), "hello; $(id)".to_owned())].into();
    let cause = ended(task.start(supervisor(), spec).unwrap());
    assert_eq!(cause, Cause::Exited { code: 0 }, "{}", log(&task));
    let log = log(&task);
    let lines: Vec<&str> = log.lines().collect();
    assert_eq!(
        lines[0],
        "['GREETING', 'HOME', 'PATH', 'PORT', 'PWD', 'TMPDIR'] /app 1000 hello; $(id)"
    );
    assert_eq!(lines[1..3], ["wrote /app/new", "wrote /tmp/new"]);
    assert_eq!(lines[3], "['1', '2']", "{log}");
    assert_eq!(lines[4], "to stderr");
    // In its copy, and not among the files that batches wrote.
    assert!(task.work_path().join("new").exists());
    assert!(!task.source_path().join("new").exists());
}

#[test]
fn commands_run_in_order_until_one_fails() {
    let place = Place::new();
    let task = place.task("print('app')");
    let words = |words: &[&str]| words.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
    let run = |commands: Vec<Vec<String>>| {
        let mut spec = place.spec(&task);
        spec.app = App::Commands(commands);
        ended(task.start(supervisor(), spec).unwrap())
    };
    let cause = run(vec![
        words(&["/bin/echo", "a b", "$HOME `id` \"; exit 9"]),
        words(&[
            "/bin/echo",
            "1",
            "2",
            "3",
            "4",
            "5",
            "6",
            "7",
            "8",
            "9",
            "10",
        ]),
        words(&[PYTHON, "app.py"]),
    ]);
    assert_eq!(cause, Cause::Exited { code: 0 });
    assert_eq!(
        log(&task),
        "a b $HOME `id` \"; exit 9\n1 2 3 4 5 6 7 8 9 10\napp\n"
    );
    let cause = run(vec![words(&["/bin/false"]), words(&["/bin/echo", "never"])]);
    assert_eq!(cause, Cause::Exited { code: 1 });
    let cause = run(vec![words(&["/no/such/program"])]);
    assert_eq!(cause, Cause::Exited { code: 127 });
    assert!(!log(&task).contains("never"));
    let mut spec = place.spec(&task);
    spec.app = App::Commands(vec![]);
    assert!(task.start(supervisor(), spec).is_err());
}

#[test]
fn the_end_of_an_app_has_its_cause() {
    let none = AskedLimits::default();
    let (cause, log) = end_of("import sys; print('bye'); sys.exit(3)", none);
    assert_eq!((cause, &*log), (Cause::Exited { code: 3 }, "bye\n"));
    let (cause, _) = end_of("import os; os.kill(os.getpid(), 11)", none);
    assert_eq!(cause, Cause::Signal { signal: 11 });
    let (cause, log) = end_of("raise SystemError('crash')", none);
    assert_eq!(cause, Cause::Exited { code: 1 });
    assert!(log.contains("SystemError: crash"), "{log}");
}

#[test]
fn limits_end_the_whole_tree() {
    let limit = |limit: &str| Cause::Limit {
        limit: limit.to_owned(),
    };
    let none = AskedLimits::default();
    let wall = AskedLimits {
        wall_sec: Some(1),
        ..none
    };
    let (cause, _) = end_of("import time; time.sleep(1000)", wall);
    assert_eq!(cause, limit("wall_sec"));
    let memory = AskedLimits {
        mem_mb: Some(64),
        ..none
    };
    let (cause, _) = end_of(
        "
import os, sys, time
if os.fork():
    sys.exit(os.waitstatus_to_exitcode(os.wait()[1]))
else:
    held = [bytearray(1 << 20) for _ in range(1000)]
    time.sleep(1000)",
        memory,
    );
    // Without a control group a process can see a failed allocation before the sum is seen.
    let failed = cause == Cause::Exited { code: 1 };
    let may_fail = !agent_sandbox::control_groups().memory;
    assert!(cause == limit("mem_mb") || may_fail && failed, "{cause:?}");
    let pids = AskedLimits {
        pids: Some(16),
        ..none
    };
    let (cause, _) = end_of(
        "
import os, time
while True:
    try:
        if os.fork() == 0: time.sleep(1000)
    except OSError: time.sleep(0.01)",
        pids,
    );
    assert_eq!(cause, limit("pids"));
}

#[test]
fn a_share_of_processor_time_is_enforced_or_refused() {
    let asked = AskedLimits {
        cpu_pct: Some(20),
        ..AskedLimits::default()
    };
    let (cause, log) = end_of(
        "
import time
end = time.monotonic() + 1
while time.monotonic() < end: pass
print(time.process_time() < 0.5)",
        asked,
    );
    match agent_sandbox::control_groups().cpu_percent {
        true => assert_eq!((cause, &*log), (Cause::Exited { code: 0 }, "True\n")),
        false => assert!(matches!(cause, Cause::NotStarted { .. }), "{cause:?}"),
    }
}

#[test]
fn a_line_says_that_the_app_is_ready() {
    let program = "
import time
print('listening soon', flush=True)
time.sleep(0.3)
print('now listening', flush=True)
time.sleep(1000)";
    let place = Place::new();
    let task = place.task(program);
    let mut spec = place.spec(&task);
    spec.ready_regex = Some("^now (listening|serving)$".into());
    match task.start(supervisor(), spec.clone()).unwrap() {
        Started::Ready(run) => assert_eq!((run.port, run.pid.is_some()), (None, true)),
        other => panic!("{other:?}"),
    }
    task.stop(LONG).unwrap();
    spec.ready_regex = Some("never".into());
    spec.ready_timeout = Duration::from_millis(500);
    match task.start(supervisor(), spec.clone()).unwrap() {
        Started::TimedOut(run) => assert_eq!(run.phase, Phase::NotReady),
        other => panic!("{other:?}"),
    }
    assert!(matches!(task.find().unwrap(), Found::Running(_)));
    task.stop(LONG).unwrap();
    spec.ready_regex = Some("(".into());
    let cause = ended(task.start(supervisor(), spec).unwrap());
    assert!(matches!(cause, Cause::NotStarted { reason } if reason.contains("ready.regex")));
}

#[test]
fn an_app_may_end_itself_in_its_grace_time_and_is_killed_after_it() {
    let program = "
import signal, sys, time
def end(*_):
    print('ending', flush=True)
    if KILLED: time.sleep(1000)
    sys.exit(0)
signal.signal(signal.SIGTERM, end)
print('ready', flush=True)
while True: time.sleep(1000)";
    for killed in ["True", "False"] {
        let place = Place::new();
        let task = place.task(&program.replace("KILLED", killed));
        let mut spec = place.spec(&task);
        spec.ready_regex = Some("ready".into());
        spec.grace = Duration::from_millis(500);
        task.start(supervisor(), spec).unwrap();
        let run = task.stop(Duration::from_secs(1)).unwrap().unwrap();
        assert_eq!(run.end.unwrap().cause, Cause::Stopped);
        assert_eq!(log(&task), "ready\nending\n");
    }
}

#[test]
fn an_unused_app_is_ended_and_a_used_one_is_not() {
    let place = Place::new();
    let task = place.task(&server());
    let mut spec = place.spec(&task);
    spec.idle = Some(Duration::from_secs(2));
    let Started::Ready(run) = task.start(supervisor(), spec).unwrap() else {
        panic!("{}", log(&task));
    };
    let held = UnixStream::connect(&run.socket).unwrap();
    thread::sleep(Duration::from_secs(4));
    assert!(matches!(task.find().unwrap(), Found::Running(_)));
    drop(held);
    let run = task.wait(LONG).unwrap().unwrap();
    assert_eq!(run.end.unwrap().cause, Cause::Idle);
}

#[test]
fn nothing_is_left_of_a_task_whose_supervisor_is_killed() {
    let place = Place::new();
    let marker = format!("killed-{}", std::process::id());
    // A part of it leaves its session.
    let leave = "import os, time
if os.fork() == 0:
    os.setsid()
    time.sleep(1000)";
    let program = format!("{leave}\n{}", server());
    let task = place.task(&program);
    let mut spec = place.spec(&task);
    support::first_command(&mut spec).push(marker.clone());
    let Started::Ready(run) = task.start(supervisor(), spec).unwrap() else {
        panic!("{}", log(&task));
    };
    assert!(processes(&marker).len() >= 2);
    kill(run.supervisor.pid);
    eventually("the app ends", || processes(&marker).is_empty());
    eventually("the supervisor ends", || !run.supervisor.lives());
    let wait_socket = run.socket.with_extension("wait");
    assert!(run.socket.exists() && wait_socket.exists());
    let Found::Ended(found) = task.find().unwrap() else {
        panic!("it still runs");
    };
    assert_eq!(found.end.unwrap().cause, Cause::Lost);
    let remains = run.socket.exists() || wait_socket.exists();
    assert!(!remains, "the stale sockets are removed");
    assert!(groups(run.supervisor.pid).is_empty());
    let run = place.ready(&task);
    assert!(get(&run.socket).unwrap().ends_with("Hello, World!"));
    task.stop(LONG).unwrap();
}

#[test]
fn another_program_finds_a_running_task_and_stops_it() {
    let place = Place::new();
    let task = place.task(&server());
    let run = place.ready(&task);
    let tasks = Tasks::open(place.tasks.path()).unwrap();
    let listed = tasks.list().unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0].run.as_ref(), Some(&run));
    let same = tasks.task(task.id()).unwrap();
    assert_eq!(same.find().unwrap(), Found::Running(run.clone()));
    assert!(get(&run.socket).unwrap().ends_with("Hello, World!"));
    assert_eq!(same.wait(Duration::from_millis(50)).unwrap(), None);
    let run = same.stop(LONG).unwrap().unwrap();
    assert_eq!(run.end.unwrap().cause, Cause::Stopped);
}

#[test]
fn a_reused_process_id_is_not_taken_for_the_supervisor() {
    let place = Place::new();
    let task = place.task(&server());
    let run = place.ready(&task);
    task.stop(LONG).unwrap();
    // As if the supervisor had been killed, and this process had got its id.
    let path = place
        .tasks
        .path()
        .join(format!(".state/{}.run.json", task.id()));
    let mut stale = run;
    stale.supervisor.pid = i32::try_from(std::process::id()).unwrap();
    // This process may have started in the same tick of 10 ms, and never in a later one.
    stale.supervisor.start_ticks += 1;
    fs::write(&path, serde_json::to_vec(&stale).unwrap()).unwrap();
    let Found::Ended(found) = task.find().unwrap() else {
        panic!("this process is taken for the supervisor");
    };
    assert_eq!(found.end.unwrap().cause, Cause::Lost);
    assert!(
        task.stop(LONG).unwrap().is_some(),
        "and this process lives on"
    );
}

#[test]
fn sockets_of_others_stay_and_stale_ones_go() {
    let place = Place::new();
    let task = place.task(&server());
    let socket = place.sockets.socket(task.id());
    let held = UnixListener::bind(&socket).unwrap();
    let cause = ended(task.start(supervisor(), place.spec(&task)).unwrap());
    assert!(matches!(cause, Cause::NotStarted { reason } if reason.contains("in use")));
    assert!(socket.exists());
    drop(held);
    let run = place.ready(&task);
    assert!(get(&run.socket).is_ok());
    task.stop(LONG).unwrap();
}

#[test]
fn twenty_tasks_run_at_once() {
    let place = Place::new();
    let tasks: Vec<_> = (0..20).map(|_| place.task(&server())).collect();
    let runs: Vec<_> = thread::scope(|scope| {
        let starts: Vec<_> = tasks
            .iter()
            .map(|task| scope.spawn(|| place.ready(task)))
            .collect();
        starts
            .into_iter()
            .map(|start| start.join().unwrap())
            .collect()
    });
    for run in &runs {
        assert!(get(&run.socket).unwrap().ends_with("Hello, World!"));
    }
    thread::scope(|scope| {
        for task in &tasks {
            scope.spawn(|| task.stop(LONG).unwrap().unwrap());
        }
    });
    for run in &runs {
        assert!(!run.supervisor.lives() && !run.socket.exists());
    }
}

#[test]
fn many_connections_are_passed_on_at_once_in_both_directions() {
    const BYTES: usize = 256 << 10;
    let place = Place::new();
    let task = place.task(
        "
import os, socketserver
class Echo(socketserver.StreamRequestHandler):
    def handle(self):
        data = self.rfile.read()
        self.wfile.write(data)
class Server(socketserver.ThreadingTCPServer):
    request_queue_size = 512
Server(('127.0.0.1', int(os.environ['PORT'])), Echo).serve_forever()",
    );
    let mut spec = place.spec(&task);
    spec.limits.pids = Some(400);
    let Started::Ready(run) = task.start(supervisor(), spec).unwrap() else {
        panic!("{}", log(&task));
    };
    thread::scope(|scope| {
        for number in 0..200u8 {
            let socket = &run.socket;
            scope.spawn(move || {
                let mut connection = UnixStream::connect(socket).unwrap();
                connection.set_read_timeout(Some(LONG)).unwrap();
                let sent = vec![number; BYTES];
                connection.write_all(&sent).unwrap();
                connection.shutdown(std::net::Shutdown::Write).unwrap();
                let mut received = Vec::new();
                connection.read_to_end(&mut received).unwrap();
                assert!(received == sent, "{number}: {} bytes", received.len());
            });
        }
    });
    task.stop(LONG).unwrap();
}

#[test]
fn a_user_without_rights_can_do_the_same() {
    run_unprivileged("a_task_is_started");
    run_unprivileged("wherever_it_listens");
    run_unprivileged("supervisor_is_killed");
}

#[test]
fn of_several_programs_that_start_a_task_one_does() {
    let place = Place::new();
    let task = place.task(&server());
    let started: Vec<_> = thread::scope(|scope| {
        let start = || {
            let task = place.tasks.task(task.id()).unwrap();
            task.start(supervisor(), place.spec(&task))
        };
        let starts: Vec<_> = (0..5).map(|_| scope.spawn(start)).collect();
        starts.into_iter().map(|it| it.join().unwrap()).collect()
    });
    let ready = started
        .iter()
        .filter(|it| matches!(it, Ok(Started::Ready(_))));
    assert_eq!(ready.count(), 1, "{started:?}");
    let running =
        |it: &&Result<_, Error>| matches!(it, Err(error) if error.kind() == ErrorKind::Running);
    assert_eq!(started.iter().filter(running).count(), 4, "{started:?}");
    let Found::Running(run) = task.find().unwrap() else {
        panic!("{:?}", task.find());
    };
    assert!(get(&run.socket).unwrap().ends_with("Hello, World!"));
}

#[test]
fn a_task_is_removed_whatever_its_app_has_made() {
    let place = Place::new();
    let task = place.task(
        "
import os
os.mkdir('closed', 0)
os.symlink('/usr', 'link')
os.makedirs('a/0/1')
for _ in range(3000):
    os.mkdir('deep')
    os.chdir('deep')",
    );
    let cause = ended(task.start(supervisor(), place.spec(&task)).unwrap());
    assert_eq!(cause, Cause::Exited { code: 0 }, "{}", log(&task));
    let running = place.task(&server());
    place.ready(&running);
    let refused = place.tasks.remove(running.id()).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Running);
    place.tasks.remove(task.id()).unwrap();
    assert!(!task.path().exists());
    let listed = place.tasks.list().unwrap();
    let of_removed = listed.iter().find(|it| it.id == *task.id()).unwrap();
    assert!(!of_removed.has_folder && of_removed.run.is_some());
    running.stop(LONG).unwrap();
    place.tasks.remove(running.id()).unwrap();
}

#[test]
fn an_app_gets_what_its_description_gives() {
    let outside = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = outside.local_addr().unwrap().port();
    let served = thread::spawn(move || {
        let (mut connection, _) = outside.accept().unwrap();
        let _ = connection.read(&mut [0; 4096]);
        let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\nConnection: close\r\n\r\noutside";
        connection.write_all(answer).unwrap();
    });
    let program = format!(
        r#"
import os, urllib.error, urllib.request
print(urllib.request.urlopen('http://127.0.0.1:{port}/').read().decode())
for number in range(20):
    try:
        urllib.request.urlopen('http://denied%d.example/' % number)
    except urllib.error.HTTPError as error:
        pass
try:
    open('new', 'w')
except OSError as error:
    print(error.strerror)
open('/tmp/new', 'w').write('x')
print(os.environ['KEY'], end='')
"#
    ) + &server();
    let place = Place::new();
    let task = place.task(&program);
    let mut spec = place.spec(&task);
    spec.readonly = true;
    spec.egress = vec![format!("127.0.0.1:{port}")];
    let secret = Secret {
        value: "open sesame".to_owned(),
        forms: Vec::new(),
    };
    spec.env.insert("KEY".to_owned(), "other".to_owned());
    spec.secrets.insert("KEY".to_owned(), secret);
    let run = match task.start(supervisor(), spec).unwrap() {
        Started::Ready(run) => run,
        other => panic!("{other:?}: {}", log(&task)),
    };
    served.join().unwrap();
    // The socket of the proxy is not taken for the app's.
    assert_eq!(run.port, Some(8080));
    assert!(get(&run.socket).unwrap().ends_with("Hello, World!"));
    task.stop(LONG).unwrap();
    let log = log(&task);
    assert!(
        log.contains("outside\nRead-only file system\n{present, len: 11}"),
        "{log}"
    );
    for number in 0..20 {
        let note = format!("mcpd: egress denied: `denied{number}.example:80` is not listed");
        assert_eq!(log.lines().filter(|line| *line == note).count(), 1, "{log}");
    }
    assert!(!task.work_path().join("new").exists());
}
