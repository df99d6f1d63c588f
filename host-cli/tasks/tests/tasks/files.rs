//! Folders of tasks, and batches of changes: attacks, kills in the middle, and taking back.

use crate::support::{self, Place, remove, write};
use agent_tasks::{Artifact, Change, ErrorKind, Memory, SourcePath, TaskId, Tasks, limits};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// Returns all files below a folder with their content, and all folders.
fn tree(folder: &Path) -> BTreeMap<String, Option<Vec<u8>>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(inner) = folders.pop() {
        for entry in fs::read_dir(&inner).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(folder).unwrap().display().to_string();
            let metadata = fs::symlink_metadata(&path).unwrap();
            let content = metadata.is_file().then(|| fs::read(&path).unwrap());
            found.insert(name, content);
            if metadata.is_dir() {
                folders.push(path);
            }
        }
    }
    found
}

#[test]
fn a_batch_writes_removes_and_is_taken_back() {
    let place = Place::new();
    let task = place.task("first");
    let source = task.source().unwrap();
    let before = tree(&task.source_path());
    let mut run = write("deep/er/run.sh", "#!/bin/sh\n");
    if let Change::Write { mode, .. } = &mut run {
        *mode = 0o777;
    }
    let mut binary = write("app.py", "");
    if let Change::Write { content, .. } = &mut binary {
        *content = b"\xff\0".to_vec();
    }
    let record = source.apply(vec![run, binary]).unwrap();
    assert_eq!(record.number, 2);
    assert_eq!(record.folders, ["deep", "deep/er"]);
    let path = task.source_path().join("deep/er/run.sh");
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, 0o777);
    let folder = fs::metadata(path.parent().unwrap()).unwrap();
    assert_eq!(folder.mode() & 0o7777, 0o755);
    source
        .apply(vec![remove("app.py"), write("new", "new")])
        .unwrap();
    assert_eq!(source.batches().unwrap(), [1, 2, 3]);

    let conflict = source.revert(2).unwrap_err();
    assert_eq!(conflict.kind(), ErrorKind::Conflict, "{conflict}");
    let reverting = source.revert(3).unwrap();
    assert_eq!((reverting.number, reverting.reverts), (4, Some(3)));
    source.revert(2).unwrap();
    assert_eq!(tree(&task.source_path()), before);
    assert_eq!(source.record(2).unwrap(), record);
    assert_eq!(source.revert(9).unwrap_err().kind(), ErrorKind::Missing);
    assert!(task.path().join("patches/0005.json").exists());
}

#[test]
fn a_refused_change_leaves_the_whole_batch_undone() {
    let place = Place::new();
    let task = place.task("first");
    let outside = place.folder.path().join("outside");
    fs::write(&outside, "secret").unwrap();
    let inner = place.folder.path().join("inner");
    fs::create_dir(&inner).unwrap();
    fs::write(inner.join("file"), "secret").unwrap();
    let files = task.source_path();
    symlink(&outside, files.join("link")).unwrap();
    symlink(place.folder.path(), files.join("folder-link")).unwrap();
    symlink("/nowhere", files.join("dangling")).unwrap();
    mknodat(CWD, files.join("fifo"), FileType::Fifo, Mode::RWXU, 0).unwrap();
    let _socket = UnixListener::bind(files.join("socket")).unwrap();
    fs::create_dir(files.join("folder")).unwrap();
    let before = tree(&files);
    let source = task.source().unwrap();
    let mut setuid = write("setuid", "x");
    if let Change::Write { mode, .. } = &mut setuid {
        *mode = 0o4755;
    }
    for bad in [
        write("link", "x"),
        remove("link"),
        write("link/new", "x"),
        write("folder-link/outside", "x"),
        // The link is not the last folder on the way.
        write("folder-link/inner/file", "x"),
        remove("folder-link/inner/file"),
        write("folder-link/new", "x"),
        remove("folder-link/outside"),
        write("dangling", "x"),
        write("fifo", "x"),
        remove("fifo"),
        write("socket", "x"),
        write("folder", "x"),
        remove("folder"),
        remove("missing"),
        remove("missing/file"),
        write("app.py/file", "x"),
        write("good", "twice"),
        write("new-folder", "a file and a folder"),
        setuid,
    ] {
        let shown = format!("{bad:?}");
        let batch = vec![write("good", "x"), write("new-folder/file", "x"), bad];
        let refused = source.apply(batch);
        assert!(refused.is_err(), "{shown}");
        assert_eq!(tree(&files), before, "{shown}");
        assert_eq!(source.batches().unwrap(), [1], "{shown}");
    }
    assert_eq!(fs::read(&outside).unwrap(), b"secret");
    assert_eq!(fs::read(inner.join("file")).unwrap(), b"secret");
    for path in ["/etc/passwd", "../outside", "a/../../outside", ".", ""] {
        assert!(SourcePath::parse(path).is_err(), "{path:?}");
    }
}

#[test]
fn other_names_of_a_file_see_no_change() {
    let place = Place::new();
    let task = place.task("first");
    let outside = place.folder.path().join("outside");
    fs::write(&outside, "kept").unwrap();
    fs::hard_link(&outside, task.source_path().join("linked")).unwrap();
    let source = task.source().unwrap();
    source.apply(vec![write("linked", "changed")]).unwrap();
    assert_eq!(fs::read(&outside).unwrap(), b"kept");
    let changed = fs::read(task.source_path().join("linked")).unwrap();
    assert_eq!(changed, b"changed");
}

#[test]
fn folders_that_are_swapped_for_links_lead_nowhere() {
    let place = Place::new();
    let task = place.task("first");
    let outside = place.folder.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("file"), "kept").unwrap();
    let files = task.source_path();
    fs::create_dir(files.join("folder")).unwrap();
    symlink(&outside, files.join("link")).unwrap();
    let is_over = AtomicBool::new(false);
    let source = task.source().unwrap();
    thread::scope(|scope| {
        scope.spawn(|| {
            // As an app does that wants its files to be written elsewhere.
            while !is_over.load(Ordering::Relaxed) {
                let at = |name: &str| files.join(name);
                let flags = rustix::fs::RenameFlags::EXCHANGE;
                let _ = rustix::fs::renameat_with(CWD, at("folder"), CWD, at("link"), flags);
            }
        });
        let mut answers = [0, 0];
        support::eventually("batches are applied and refused", || {
            let number = answers.iter().sum::<u32>().to_string();
            let batch = vec![write("app.py", &number), write("folder/file", &number)];
            let result = source.apply(batch);
            answers[usize::from(result.is_ok())] += 1;
            let now = source.read(&SourcePath::parse("app.py").unwrap());
            let is_new = now.unwrap().unwrap().text == Some(number);
            assert_eq!(is_new, result.is_ok(), "{result:?}");
            answers.iter().all(|count| *count > 20)
        });
        is_over.store(true, Ordering::Relaxed);
    });
    drop(source);
    task.source().unwrap();
    assert_eq!(fs::read(outside.join("file")).unwrap(), b"kept");
    assert_eq!(tree(&outside).len(), 1);
}

#[test]
fn no_file_is_listed_or_read_through_a_link_that_appears_meanwhile() {
    let place = Place::new();
    let task = place.task("first");
    let outside = place.folder.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("secret"), "secret").unwrap();
    let files = task.source_path();
    fs::create_dir(files.join("folder")).unwrap();
    fs::write(files.join("folder/own"), "own").unwrap();
    symlink(&outside, files.join("link")).unwrap();
    // A pipe without a writer would block its reader.
    fs::write(files.join("file"), "own").unwrap();
    mknodat(CWD, files.join("pipe"), FileType::Fifo, Mode::RWXU, 0).unwrap();
    symlink(outside.join("secret"), files.join("file-link")).unwrap();
    let is_over = AtomicBool::new(false);
    let source = task.source().unwrap();
    thread::scope(|scope| {
        scope.spawn(|| {
            let exchange = |a: &str, b: &str| {
                let flags = rustix::fs::RenameFlags::EXCHANGE;
                let _ = rustix::fs::renameat_with(CWD, files.join(a), CWD, files.join(b), flags);
            };
            while !is_over.load(Ordering::Relaxed) {
                exchange("folder", "link");
                exchange("file", "pipe");
                exchange("file", "file-link");
            }
        });
        let mut seen = [0, 0];
        support::eventually("the folder is seen and is not", || {
            let listed = source.files(100).unwrap();
            let all = task.files(100).unwrap();
            assert!(all.iter().any(|path| path == "source/app.py"), "{all:?}");
            let read = source.contents(100, 1 << 20, 1 << 20).unwrap();
            let read_paths = read.iter().map(|(path, _)| path);
            for path in listed.iter().chain(&all).chain(read_paths) {
                assert!(!path.contains("secret"), "{path}");
            }
            for (path, content) in &read {
                assert_ne!(content, b"secret", "{path}");
            }
            let is_seen = listed.iter().any(|path| path.ends_with("/own"));
            seen[usize::from(is_seen)] += 1;
            seen.iter().all(|count| *count > 20)
        });
        is_over.store(true, Ordering::Relaxed);
    });
}

#[test]
fn files_are_read_up_to_their_limits() {
    let place = Place::new();
    let task = place.task("four");
    let source = task.source().unwrap();
    source
        .apply(vec![write("a/b", "six bytes"), write("c", "x")])
        .unwrap();
    let paths = |each, all| -> Vec<String> {
        let read = source.contents(10, each, all).unwrap();
        read.into_iter().map(|(path, _)| path).collect()
    };
    assert_eq!(source.files(3).unwrap(), ["a/b", "app.py", "c"]);
    assert!(
        source
            .files(2)
            .unwrap_err()
            .to_string()
            .contains("more than 2 files")
    );
    assert_eq!(paths(9, 100), ["a/b", "app.py", "c"]);
    assert_eq!(paths(8, 100), ["app.py", "c"]);
    assert_eq!(paths(9, 10), ["a/b", "c"]);
}

#[test]
fn a_batch_that_is_killed_applies_whole_or_not_at_all() {
    const FILES: u32 = 30;
    let place = Place::new();
    let task = place.tasks.create(&Memory::default()).unwrap();
    let mut cut_short = 0;
    for round in 0..40u64 {
        let mut applying = Command::new(support::program())
            .arg("apply")
            .arg(place.tasks.path())
            .args([task.id().as_str(), &FILES.to_string()])
            .spawn()
            .unwrap();
        thread::sleep(Duration::from_millis(20 + round * 7 % 60));
        applying.kill().unwrap();
        applying.wait().unwrap();
        let journal = format!(".state/{}.batch.json", task.id());
        cut_short += u32::from(place.tasks.path().join(journal).exists());

        let source = task.source().unwrap();
        let last = source.batches().unwrap().last().copied().unwrap_or(0);
        let found = tree(&task.source_path());
        for (name, content) in &found {
            let Some(content) = content else { continue };
            let number = String::from_utf8(content.clone()).unwrap();
            match name.strip_prefix("batch") {
                // A file in the folder of one batch.
                Some(rest) => assert!(rest.starts_with(&format!("{number}/")), "{name}"),
                None => assert_eq!(number, last.to_string(), "{name}"),
            }
        }
        let own = format!("batch{}", last + 1);
        assert!(!found.contains_key(&own), "{own} belongs to no batch");
        let count = found.values().flatten().count();
        let expected = FILES / 3 * (2 + last);
        assert_eq!(count, if last == 0 { 0 } else { expected as usize });
        let state = fs::read_dir(place.tasks.path().join(".state")).unwrap();
        let stages = state.flatten().filter(|it| {
            let name = it.file_name().into_string().unwrap();
            name.ends_with(".stage") || name.ends_with(".batch.json")
        });
        assert_eq!(stages.count(), 0);
    }
    assert!(
        cut_short > 3,
        "only {cut_short} of 40 kills came in a batch"
    );
}

#[test]
fn tasks_are_listed_whatever_became_of_them() {
    let place = Place::new();
    let memory = Memory {
        state: "planned".into(),
        created_ms: 1,
        changed_ms: 2,
        port: Some(61000),
        more: [("lang".to_owned(), "python".to_owned())].into(),
    };
    let tasks: Vec<_> = (0..4)
        .map(|_| place.tasks.create(&memory).unwrap())
        .collect();
    tasks[0].write(Artifact::Plan, b"{}").unwrap();
    tasks[0].append(Artifact::ProbesLog, b"one\n").unwrap();
    tasks[0].append(Artifact::ProbesLog, b"two\n").unwrap();
    assert_eq!(tasks[0].read(Artifact::ProbesLog).unwrap(), b"one\ntwo\n");
    let state = |task: usize| {
        let name = format!(".state/{}.json", tasks[task].id());
        place.tasks.path().join(name)
    };
    fs::write(state(1), "{").unwrap();
    fs::remove_dir(tasks[2].source_path()).unwrap();
    fs::remove_file(tasks[2].path().join("run.log")).unwrap();
    symlink("/etc/passwd", tasks[2].path().join("run.log")).unwrap();
    place.tasks.remove(tasks[3].id()).unwrap();
    fs::create_dir(place.tasks.path().join("not-a-task")).unwrap();

    let listed = Tasks::open(place.tasks.path()).unwrap().list().unwrap();
    assert_eq!(listed.len(), 4);
    let of = |task: usize| {
        let found = listed.iter().find(|it| it.id == *tasks[task].id());
        found.unwrap().clone()
    };
    assert_eq!((of(0).memory, of(0).damage), (Some(memory.clone()), vec![]));
    assert_eq!(of(1).memory, None);
    assert_eq!(of(1).damage.len(), 1);
    assert_eq!(of(2).damage.len(), 2);
    assert!(tasks[2].read(Artifact::RunLog).is_err());
    assert!(!of(3).has_folder);
    assert_eq!(of(3).memory, Some(memory));
    assert!(place.tasks.task(tasks[3].id()).is_err());
    assert!(place.tasks.task(&TaskId::parse("000000").unwrap()).is_err());
}

#[test]
fn only_this_user_may_enter_the_folder_of_tasks() {
    let place = Place::new();
    let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o7777;
    assert_eq!(mode(place.tasks.path()), 0o700);
    fs::set_permissions(place.tasks.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let refused = Tasks::open(place.tasks.path()).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Refused, "{refused}");
    // A folder above may be one that others write, as in a shared project.
    let shared = place.folder.path().join("shared");
    fs::create_dir(&shared).unwrap();
    fs::set_permissions(&shared, fs::Permissions::from_mode(0o775)).unwrap();
    Tasks::open(&shared.join(".mcpd")).unwrap();
    symlink(shared.join(".mcpd"), shared.join("link")).unwrap();
    assert!(Tasks::open(&shared.join("link")).is_err());
    if rustix::process::getuid().is_root() {
        std::os::unix::fs::chown(shared.join(".mcpd"), Some(65534), None).unwrap();
        let refused = Tasks::open(&shared.join(".mcpd")).unwrap_err();
        assert!(refused.to_string().contains("another user"), "{refused}");
    }
}

#[test]
fn batches_have_limits() {
    let place = Place::new();
    let task = place.tasks.create(&Memory::default()).unwrap();
    let source = task.source().unwrap();
    let limit = |changes: Vec<Change>| {
        let refused = source.apply(changes).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Limit, "{refused}");
        assert!(tree(&task.source_path()).is_empty());
    };
    let largest = "x".repeat(usize::try_from(limits::MAX_FILE_BYTES).unwrap());
    limit(vec![
        write("small", "x"),
        write("large", &format!("{largest}x")),
    ]);
    let count = limits::MAX_BATCH_BYTES / limits::MAX_FILE_BYTES;
    let files = 0..=count;
    limit(files.map(|it| write(&it.to_string(), &largest)).collect());
    let files = 0..=limits::MAX_BATCH_CHANGES;
    limit(files.map(|it| write(&it.to_string(), "")).collect());
    source.apply(vec![write("large", &largest)]).unwrap();
    // A file that the app has made larger can't be kept for taking back.
    fs::write(task.source_path().join("large"), format!("{largest}x")).unwrap();
    let refused = source.apply(vec![remove("large")]).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Limit, "{refused}");

    let records = task.path().join("patches");
    let record = |number: u32| records.join(format!("{number:04}.json"));
    fs::rename(record(1), record(limits::MAX_BATCHES - 1)).unwrap();
    let last = source.apply(vec![write("last", "x")]).unwrap();
    assert_eq!(last.number, limits::MAX_BATCHES);
    let refused = source.apply(vec![write("more", "x")]).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Limit, "{refused}");
}

#[test]
fn files_are_exported_without_links() {
    let place = Place::new();
    let task = place.task("print(1)");
    let source = task.source().unwrap();
    source.apply(vec![write("a/b/c", "deep")]).unwrap();
    symlink("/etc/passwd", task.source_path().join("a/link")).unwrap();
    mknodat(
        CWD,
        task.source_path().join("fifo"),
        FileType::Fifo,
        Mode::RWXU,
        0,
    )
    .unwrap();
    let to = place.folder.path().join("export/here");
    let exported = source.export(&to).unwrap();
    assert_eq!(exported.files, 2);
    assert_eq!(exported.skipped, ["fifo", "a/link"]);
    let found = tree(&to);
    let names: Vec<_> = found.keys().map(String::as_str).collect();
    assert_eq!(names, ["a", "a/b", "a/b/c", "app.py"]);
    assert_eq!(found["a/b/c"].as_deref(), Some(&b"deep"[..]));
    assert_eq!(source.export(&to).unwrap_err().kind(), ErrorKind::Conflict);
}
