//! What a daemon finds that starts after another one: apps that run, that have ended, and what others put in their place.

use crate::bed::{Bed, get, request};
use crate::failures::failed;
use crate::own_network::in_own_network;
use crate::remains::{Remains, is_alive, last_run, processes};
use crate::small_app::{APP, start};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, Permissions};
use std::net::TcpListener;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Sends processes a signal, all of them by one command.
fn signal(name: &str, processes: impl IntoIterator<Item = i64>) {
    let processes = processes.into_iter().map(|pid| pid.to_string());
    let mut kill = Command::new("kill");
    // One that ends by itself meanwhile is no failure.
    let _ = kill
        .arg(name)
        .args(processes)
        .stderr(Stdio::null())
        .status();
}

/// Returns every file below a folder with its content.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        match entry.file_type().unwrap().is_dir() {
            true => found.extend(files(&path)),
            false => drop(found.insert(path.clone(), fs::read(&path).unwrap())),
        }
    }
    found
}

fn socket_of(bed: &Bed, id: &str) -> PathBuf {
    last_run(bed, id)["socket"].as_str().unwrap().into()
}

#[test]
fn a_kill_of_everything_at_once_leaves_nothing_running_and_loses_nothing() {
    let mut bed = Bed::new(&[]);
    let marker = |number: usize| format!("killed-{}-{number}", std::process::id());
    // Each has a process that leaves its session.
    let app = format!(
        "import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(1000)\n{APP}"
    );
    let ready: Vec<_> = (0..3).map(|_| bed.task_with(&[("app.py", &app)])).collect();
    for (number, id) in ready.iter().enumerate() {
        let started = bed.verb("run.start", Some(id), &start(&marker(number)));
        assert_eq!(started["ok"], true, "{started}");
        let probes = json!({ "probes": [{ "method": "GET", "path": "/", "expect_status": 200 }] });
        assert_eq!(bed.verb("httpcheck.assert", Some(id), &probes)["ok"], true);
    }
    let applied = bed.task_with(&[("app.py", APP)]);
    let starting = bed.task_with(&[("app.py", "import time\ntime.sleep(1000)\n")]);
    let ended = bed.task_with(&[("app.py", APP)]);
    bed.done(&["kill", &ended]);
    let everything = |bed: &Bed| -> Vec<i64> {
        let supervisors = crate::bed::supervisors(&bed.path(""));
        let apps = (0..4).flat_map(|number| processes(&marker(number)));
        [bed.pid()]
            .into_iter()
            .chain(supervisors)
            .chain(apps)
            .collect()
    };
    let (killed, before) = std::thread::scope(|scope| {
        let client = scope.spawn(|| {
            let body = json!({ "task_id": starting, "input": start(&marker(3)) }).to_string();
            let url = format!("http://{}/verbs/run.start", bed.address());
            let token = fs::read_to_string(bed.path(".mcpd/.state/token")).unwrap();
            let token = format!("Bearer {}", token.trim());
            // The connection breaks.
            std::panic::catch_unwind(|| request("POST", &url, &[("Authorization", &token)], &body))
        });
        bed.eventually("the fourth app starts", || {
            (!processes(&marker(3)).is_empty()).then_some(())
        });
        let before = files(&bed.path(".mcpd"));
        let killed = everything(&bed);
        signal("-9", killed.iter().copied());
        assert!(client.join().unwrap().is_err(), "nobody answers");
        (killed, before)
    });
    assert!(killed.len() > 1 + 4 + 2 * 3, "{killed:?}");
    bed.kill();
    bed.eventually("no process is left", || {
        let is_over = killed.iter().all(|pid| !is_alive(*pid));
        (is_over && (0..4).all(|number| processes(&marker(number)).is_empty())).then_some(())
    });

    let runs = ready.iter().chain([&starting]).enumerate();
    let remains = runs.map(|(number, id)| Remains::of(&bed, id, &marker(number)));
    let remains: Vec<_> = remains.collect();
    bed.start(&[]);
    for remains in &remains {
        remains.are_none(&bed);
    }
    for (id, state) in [
        (&applied, "applied"),
        (&ended, "ended"),
        (&starting, "ended"),
    ]
    .into_iter()
    .chain(ready.iter().map(|id| (id, "ended")))
    {
        let task = bed.task(id);
        assert_eq!(task["state"], state, "{task}");
        let reason = &task["reason"];
        match state {
            "applied" => assert_eq!(*reason, Value::Null, "{task}"),
            _ if *id == ended => assert_eq!(*reason, "it was ended by its user", "{task}"),
            _ => assert!(
                reason.as_str().unwrap().contains("supervisor was killed"),
                "{task}"
            ),
        }
    }
    // Files, logs, plans, patches and manifests are as they were.
    let after = files(&bed.path(".mcpd"));
    for (path, content) in &before {
        let is_state = path.components().any(|part| part.as_os_str() == ".state");
        if !is_state {
            assert_eq!(after.get(path), Some(content), "{}", path.display());
        }
    }
    // A person sees why.
    let list = bed.done(&["list"]);
    assert_eq!(list.matches("supervisor was killed").count(), 4, "{list}");
    // And the daemon serves on.
    let started = bed.verb("run.start", Some(&applied), &start("after-the-kill"));
    assert_eq!(started["ok"], true, "{started}");
    assert_eq!(get(&bed.app_url(&applied)).body, "ok");
}

#[test]
fn an_app_that_was_starting_when_its_daemon_was_killed_is_found() {
    let mut bed = Bed::new(&[]);
    let slow =
        format!("import os, time\nwhile not os.path.exists('go'):\n    time.sleep(0.01)\n{APP}");
    let marker = format!("slow-{}", std::process::id());
    let id = bed.task_with(&[("app.py", &slow)]);
    let body = json!({ "task_id": id, "input": start(&marker) }).to_string();
    std::thread::scope(|scope| {
        let client = scope
            .spawn(|| std::panic::catch_unwind(|| bed.daemon("POST", "/verbs/run.start", &body)));
        bed.eventually("the app starts", || {
            (processes(&marker).len() > 1).then_some(())
        });
        signal("-9", [bed.pid()]);
        assert!(client.join().unwrap().is_err(), "nobody answers");
    });
    bed.kill();
    bed.start(&[]);
    assert_eq!(bed.task(&id)["state"], "starting");
    assert_eq!(get(&bed.app_url(&id)).status, 502);
    fs::write(bed.path(&format!(".mcpd/.state/work/{id}/go")), "").unwrap();
    let task = bed.eventually("the app is ready", || {
        Some(bed.task(&id)).filter(|task| task["state"] == "ready")
    });
    assert_eq!(get(task["url"].as_str().unwrap()).body, "ok");
    assert_eq!(get(task["direct_url"].as_str().unwrap()).body, "ok");
    let manifest = fs::read_to_string(bed.path(&format!(".mcpd/{id}/manifest.json"))).unwrap();
    assert!(manifest.contains(&marker), "{manifest}");
    let remains = Remains::of(&bed, &id, &marker);
    bed.done(&["kill", &id]);
    remains.are_none(&bed);
}

/// A process that no task started.
struct Other(Child);

impl Other {
    fn new() -> Self {
        // It starts in another tick than the process whose id it seems to have.
        std::thread::sleep(std::time::Duration::from_millis(50));
        Self(Command::new("sleep").arg("1000").spawn().unwrap())
    }

    fn pid(&self) -> i64 {
        self.0.id().into()
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Replaces members of a file that is JSON.
fn edit(path: &Path, edit: impl FnOnce(&mut Value)) {
    let mut value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    edit(&mut value);
    fs::write(path, value.to_string()).unwrap();
}

#[test]
fn another_process_with_the_id_of_an_app_is_not_touched() {
    let mut bed = Bed::new(&[]);
    let id = bed.task_with(&[("app.py", APP)]);
    assert_eq!(
        bed.verb("run.start", Some(&id), &start("reused-id"))["ok"],
        true
    );
    let remains = Remains::of(&bed, &id, "reused-id");
    let supervisors = crate::bed::supervisors(&bed.path(""));
    bed.kill();
    signal("-9", supervisors);
    bed.eventually("the app ends", || {
        processes("reused-id").is_empty().then_some(())
    });
    // As if this process had got the id of the supervisor, and that of the app.
    let other = Other::new();
    let run = bed.path(&format!(".mcpd/.state/{id}.run.json"));
    edit(&run, |run| {
        run["supervisor"]["pid"] = other.pid().into();
        run["pid"] = other.pid().into();
    });
    bed.start(&[]);
    assert_eq!(bed.task(&id)["state"], "ended");
    remains.are_none(&bed);
    bed.done(&["kill", &id]);
    assert!(is_alive(other.pid()));
}

#[test]
fn another_process_with_the_id_of_a_daemon_is_not_asked() {
    let mut bed = Bed::new(&[]);
    bed.kill();
    // As if this process had got the id of the daemon, and another program its port.
    let other = Other::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap().to_string();
    edit(&bed.path(".mcpd/.state/daemon.json"), |place| {
        place["pid"] = other.pid().into();
        place["address"] = address.into();
    });
    // The command reads the folder by itself, and its token goes nowhere.
    let listed = bed.mcp(&["list", "--format", "json"]);
    assert_eq!(listed.status.code(), Some(0), "{listed:?}");
    let nobody = listener.accept().unwrap_err();
    assert_eq!(nobody.kind(), std::io::ErrorKind::WouldBlock);
    assert!(is_alive(other.pid()));
}

#[test]
fn only_a_stale_socket_of_this_user_makes_way() {
    let bed = Bed::new(&[]);
    let id = bed.task_with(&[("app.py", APP)]);
    let begin = || bed.verb("run.start", Some(&id), &start("stale-socket"));
    assert_eq!(begin()["ok"], true);
    let socket = socket_of(&bed, &id);
    assert_eq!(fs::metadata(&socket).unwrap().mode() & 0o7777, 0o600);
    let folder = fs::metadata(socket.parent().unwrap()).unwrap();
    assert_eq!(folder.mode() & 0o7777, 0o700);
    // A killed supervisor leaves its socket, and the next one takes its place.
    signal("-9", crate::bed::supervisors(&bed.path("")));
    bed.eventually("the task ends", || {
        (bed.task(&id)["state"] == "ended").then_some(())
    });

    let id = bed.task_with(&[("app.py", APP)]);
    let begin = || bed.verb("run.start", Some(&id), &start("stale-socket"));
    let socket = socket.with_file_name(format!("{id}.sock"));
    drop(UnixListener::bind(&socket).unwrap());
    let started = begin();
    assert_eq!(started["ok"], true, "{started}");
    assert_eq!(get(&bed.app_url(&id)).body, "ok");
    let (first, remains) = (id.clone(), Remains::of(&bed, &id, "stale-socket"));

    let id = bed.task_with(&[("app.py", APP)]);
    let begin = || bed.verb("run.start", Some(&id), &start("foreign-socket"));
    let socket = socket.with_file_name(format!("{id}.sock"));
    fs::write(&socket, "mine").unwrap();
    failed(&begin(), "E_RUNTIME", "is not a socket");
    assert_eq!(fs::read(&socket).unwrap(), b"mine");
    fs::remove_file(&socket).unwrap();

    let target = bed.path("target");
    drop(UnixListener::bind(&target).unwrap());
    symlink(&target, &socket).unwrap();
    failed(&begin(), "E_RUNTIME", "is not a socket");
    assert!(fs::symlink_metadata(&socket).unwrap().is_symlink());
    assert!(
        fs::symlink_metadata(&target)
            .unwrap()
            .file_type()
            .is_socket()
    );
    fs::remove_file(&socket).unwrap();

    let live = UnixListener::bind(&socket).unwrap();
    failed(&begin(), "E_RUNTIME", "is in use");
    assert_eq!(processes("foreign-socket"), [0_i64; 0]);
    drop(live);
    let started = begin();
    assert_eq!(started["ok"], true, "{started}");
    assert_eq!(get(&bed.app_url(&id)).body, "ok");
    bed.done(&["kill", &first]);
    remains.are_none(&bed);
}

#[test]
fn a_folder_for_sockets_is_one_of_this_user_alone_or_another() {
    in_own_network(
        "recovery::a_folder_for_sockets_is_one_of_this_user_alone_or_another",
        || {
            let make = |path: &str, mode: u32| {
                let made = DirBuilder::new().recursive(true).create(path);
                made.unwrap();
                fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
            };
            // Others can enter the first, and another user owns the second.
            make("/run/mcpd/sock", 0o755);
            make("/tmp/mcpd", 0o700);
            std::os::unix::fs::chown("/tmp/mcpd", Some(65534), None).unwrap();
            let own = format!("/tmp/mcpd-{}", fs::metadata("/proc/self").unwrap().uid());
            make(&own, 0o700);
            let mut bed = Bed::new(&[]);
            let id = bed.task_with(&[("app.py", APP)]);
            assert_eq!(
                bed.verb("run.start", Some(&id), &start("own-folder"))["ok"],
                true
            );
            assert_eq!(socket_of(&bed, &id).parent(), Some(Path::new(&own)));
            assert_eq!(get(&bed.app_url(&id)).body, "ok");
            // The folder is checked again at each start.
            fs::set_permissions(&own, Permissions::from_mode(0o777)).unwrap();
            let second = bed.task_with(&[("app.py", APP)]);
            let refused = bed.verb("run.start", Some(&second), &start("open-folder"));
            failed(&refused, "E_RUNTIME", "has the mode 0o777 instead of 0o700");
            assert_eq!(processes("open-folder"), [0_i64; 0]);
            bed.kill();
            // The next daemon finds no folder, and says why.
            bed.start(&[]);
            let errors = fs::read_to_string(bed.path("daemon.log")).unwrap();
            for reason in [
                "`/run/mcpd/sock` has the mode 0o755",
                "`/tmp/mcpd` belongs to another user",
                "has the mode 0o777",
            ] {
                assert!(errors.contains(reason), "{errors}");
            }
            bed.kill();
            fs::set_permissions(&own, Permissions::from_mode(0o700)).unwrap();
            bed.start(&[]);
            assert_eq!(
                get(&bed.app_url(&id)).body,
                "ok",
                "the app outlived its daemon"
            );
        },
    );
}
