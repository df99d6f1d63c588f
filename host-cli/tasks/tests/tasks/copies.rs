//! The copy in which an app works: what it gets, what it keeps, and what leaves it in an export.

use crate::support::{Place, remove, run_unprivileged, write};
use agent_tasks::{Change, Exported, SourcePath, Task};
use rustix::fs::{CWD, FileType, Mode, RenameFlags, mknodat, renameat_with};
use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

fn apply(task: &Task, changes: Vec<Change>) {
    task.source().unwrap().apply(changes).unwrap();
}

fn read(folder: &Path, name: &str) -> Option<String> {
    fs::read_to_string(folder.join(name)).ok()
}

/// Writes a file as the app does, with its folders.
fn app_writes(work: &Path, name: &str, content: &str) {
    let path = work.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

/// Returns the regular files below a folder with their contents.
fn files(folder: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(inner) = folders.pop() {
        for entry in fs::read_dir(&inner).unwrap().flatten() {
            let (path, kind) = (entry.path(), entry.file_type().unwrap());
            let name = path.strip_prefix(folder).unwrap().display().to_string();
            if kind.is_dir() {
                folders.push(path);
            } else {
                assert!(kind.is_file(), "{name}");
                found.insert(name, fs::read_to_string(&path).unwrap());
            }
        }
    }
    found
}

#[test]
fn a_copy_gets_what_batches_change_and_keeps_the_rest() {
    let place = Place::new();
    let task = place.task("one");
    apply(
        &task,
        vec![write("a/kept", "plan"), write("a/gone", "plan")],
    );
    assert!(!task.work_path().exists());
    let work = task.work().unwrap();
    assert_eq!(work, task.work_path());
    assert_eq!(fs::metadata(&work).unwrap().mode() & 0o7777, 0o700);
    assert_eq!(read(&work, "app.py").unwrap(), "one");

    app_writes(&work, "a/kept", "changed by the app");
    app_writes(&work, "own/data", "of the app");
    let mut run = write("b/run.sh", "#!/bin/sh\n");
    if let Change::Write { mode, .. } = &mut run {
        *mode = 0o755;
    }
    apply(&task, vec![write("app.py", "two"), remove("a/gone"), run]);
    assert_eq!(read(&work, "app.py").unwrap(), "two");
    assert_eq!(read(&work, "a/gone"), None);
    let run = fs::metadata(work.join("b/run.sh")).unwrap();
    assert_eq!(run.mode() & 0o7777, 0o755);
    // What no batch touches is the app's.
    assert_eq!(read(&work, "a/kept").unwrap(), "changed by the app");
    assert_eq!(read(&work, "own/data").unwrap(), "of the app");
    assert_eq!(task.work().unwrap(), work);
    assert_eq!(read(&work, "own/data").unwrap(), "of the app");
    // And nothing of it is in the task's folder.
    let names: Vec<_> = files(&task.source_path()).into_keys().collect();
    assert_eq!(names, ["a/kept", "app.py", "b/run.sh"]);
    assert_eq!(read(&task.source_path(), "a/kept").unwrap(), "plan");

    task.source().unwrap().revert(3).unwrap();
    assert_eq!(read(&work, "app.py").unwrap(), "one");
    assert_eq!(read(&work, "a/gone").unwrap(), "plan");
    assert!(!work.join("b").exists());
    assert_eq!(read(&work, "a/kept").unwrap(), "changed by the app");

    // A copy of a removed task goes with it.
    let names = || {
        let state = place.tasks.path().join(".state");
        let all = [state.clone(), state.join("work")].map(|it| fs::read_dir(it).unwrap());
        let names = all.into_iter().flatten().flatten();
        let names = names.map(|it| it.file_name().into_string().unwrap());
        let id = task.id().as_str();
        let mut names: Vec<_> = names.filter(|it| it.starts_with(id)).collect();
        names.sort();
        names
    };
    assert!(names().contains(&format!("{}.work.json", task.id())));
    place.tasks.clear_work().unwrap();
    assert!(work.exists());
    fs::remove_dir_all(task.path()).unwrap();
    place.tasks.clear_work().unwrap();
    assert!(!work.exists());
    place.tasks.remove(task.id()).unwrap();
    assert_eq!(names(), [format!("{}.json", task.id())]);
}

#[test]
fn a_copy_that_was_cut_short_is_made_or_brought_up_to_date() {
    let place = Place::new();
    let task = place.task("one");
    let copies = place.tasks.path().join(".state/work");
    fs::create_dir(&copies).unwrap();
    // As a killed daemon leaves it: the copy is not complete.
    app_writes(&copies, &format!("{}.new/half", task.id()), "half");
    let work = task.work().unwrap();
    assert_eq!(files(&work).into_keys().collect::<Vec<_>>(), ["app.py"]);
    assert_eq!(fs::read_dir(&copies).unwrap().count(), 2);
    assert_eq!(read(&copies, ".gitignore").unwrap(), "*\n");

    apply(&task, vec![write("app.py", "two")]);
    apply(&task, vec![write("b", "three")]);
    apply(&task, vec![remove("b"), write("c", "four")]);
    // As a daemon leaves it that was killed after the first batch, before it was repeated.
    let progress = format!(".state/{}.work.json", task.id());
    fs::write(place.tasks.path().join(progress), "{\"batch\":1}").unwrap();
    fs::write(work.join("app.py"), "one").unwrap();
    fs::remove_file(work.join("c")).unwrap();
    app_writes(&work, "own", "of the app");
    drop(task.source().unwrap());
    let expected = [("app.py", "two"), ("c", "four"), ("own", "of the app")];
    let expected = expected.map(|(name, content)| (name.to_owned(), content.to_owned()));
    assert_eq!(files(&work), expected.into());
}

#[test]
fn what_the_app_puts_in_the_way_of_a_batch_is_moved_aside_and_not_followed() {
    let place = Place::new();
    let task = place.task("one");
    let batch = |content: &str| {
        [
            "folder/file",
            "file",
            "held",
            "deep/er/file",
            "locked/in/file",
        ]
        .map(|path| write(path, content))
        .to_vec()
    };
    apply(&task, batch("plan"));
    apply(
        &task,
        vec![write("gone/file", "plan"), write("gone/too", "plan")],
    );
    let work = task.work().unwrap();
    let outside = place.folder.path().join("outside");
    fs::create_dir(&outside).unwrap();
    for name in ["file", "too"] {
        fs::write(outside.join(name), "kept").unwrap();
    }
    // Each is as an app can leave it.
    for folder in ["folder", "gone"] {
        fs::rename(work.join(folder), work.join(format!("{folder}.before"))).unwrap();
        symlink(&outside, work.join(folder)).unwrap();
    }
    fs::remove_file(work.join("file")).unwrap();
    symlink(outside.join("file"), work.join("file")).unwrap();
    fs::remove_file(work.join("held")).unwrap();
    app_writes(&work, "held/data", "of the app");
    fs::remove_dir_all(work.join("deep")).unwrap();
    fs::write(work.join("deep"), "data of the app").unwrap();
    for locked in ["locked/in", "locked", ""] {
        fs::set_permissions(work.join(locked), Permissions::from_mode(0o000)).unwrap();
    }

    apply(&task, batch("new"));
    apply(&task, vec![remove("gone/file"), remove("gone/too")]);
    for path in [
        "folder/file",
        "file",
        "held",
        "deep/er/file",
        "locked/in/file",
    ] {
        assert_eq!(read(&work, path).as_deref(), Some("new"), "{path}");
        assert!(fs::symlink_metadata(work.join(path)).unwrap().is_file());
    }
    assert!(fs::symlink_metadata(work.join("folder")).unwrap().is_dir());
    for name in ["file", "too"] {
        assert_eq!(read(&outside, name).unwrap(), "kept");
    }
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 2);
    // No data of the app is lost.
    assert_eq!(read(&work, "held.app1/data").unwrap(), "of the app");
    assert_eq!(read(&work, "deep.app1").unwrap(), "data of the app");
    // Nothing in the copy makes a difference to what batches wrote.
    assert_eq!(read(&task.source_path(), "held").unwrap(), "new");
}

#[test]
fn a_user_without_rights_changes_a_copy_too() {
    run_unprivileged("what_the_app_puts_in_the_way");
    run_unprivileged("an_export_with_written_files_is_data");
}

#[test]
fn folders_that_the_app_swaps_for_links_lead_a_batch_nowhere() {
    let place = Place::new();
    let task = place.task("one");
    apply(&task, vec![write("folder/file", "plan")]);
    let work = task.work().unwrap();
    let outside = place.folder.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("file"), "kept").unwrap();
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let at = |name: &str| work.join(name);
            while !is_over.load(Ordering::Relaxed) {
                // It is moved aside again and again.
                let _ = symlink(&outside, at("link"));
                let flags = RenameFlags::EXCHANGE;
                let _ = renameat_with(CWD, at("folder"), CWD, at("link"), flags);
                let _ = fs::remove_file(at("link"));
                let _ = fs::remove_dir_all(at("folder.app1"));
                let _ = fs::remove_file(at("folder.app1"));
            }
        });
        for round in 0..200 {
            let content = round.to_string();
            apply(&task, vec![write("folder/file", &content)]);
            let now = read(&task.source_path(), "folder/file");
            assert_eq!(now, Some(content), "a batch always applies");
        }
        is_over.store(true, Ordering::Relaxed);
    });
    task.work().unwrap();
    apply(&task, vec![write("folder/file", "last")]);
    assert_eq!(read(&work, "folder/file").unwrap(), "last");
    assert_eq!(read(&outside, "file").unwrap(), "kept");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
}

/// Exports a task with what its app wrote.
fn exported(place: &Place, task: &Task, name: &str) -> (PathBuf, Exported) {
    let to = place.folder.path().join(name);
    let exported = task.source().unwrap().export_with_written(&to).unwrap();
    (to, exported)
}

#[test]
fn an_export_with_written_files_is_data() {
    let place = Place::new();
    let task = place.task("plan");
    apply(
        &task,
        vec![write("Makefile", "plan"), write("a/file", "plan")],
    );
    // Before the first start there is nothing to add.
    let (to, before) = exported(&place, &task, "before");
    assert_eq!((before.files, before.left_out), (3, Vec::new()));
    assert!(to.join("a/file").exists());

    let work = task.work().unwrap();
    let outside = place.folder.path().join("outside");
    fs::write(&outside, "secret").unwrap();
    app_writes(&work, "data/store.db", "rows");
    app_writes(&work, "a/more", "rows");
    app_writes(&work, "app.py", "changed by the app");
    app_writes(&work, "Makefile", "changed by the app");
    fs::set_permissions(work.join("data/store.db"), Permissions::from_mode(0o777)).unwrap();
    // A folder in the place of a plan's file, and a file in that of a folder.
    let planned = SourcePath::parse("b/file").unwrap();
    let is_written = Change::Write {
        path: planned,
        content: b"plan".to_vec(),
        mode: 0o644,
    };
    apply(&task, vec![is_written, write("c", "plan")]);
    fs::remove_dir_all(work.join("b")).unwrap();
    fs::write(work.join("b"), "a file").unwrap();
    fs::remove_file(work.join("c")).unwrap();
    app_writes(&work, "c/inner", "in a folder");
    let executed = [
        ".envrc",
        "deep/.vscode/tasks.json",
        ".idea/workspace.xml",
        "deep/Makefile",
        "deep/package.json",
        ".git/config",
        "deep/.GIT/config",
        ".g\u{200c}it/config",
        "git~1/config",
    ];
    for name in executed {
        app_writes(&work, name, "orders");
    }
    // Each of these is a repository for git.
    for name in ["HEAD", "config", "objects/a", "refs/a", "data"] {
        app_writes(&work, &format!("data/bare/{name}"), "orders");
    }
    for name in [
        "x/HEAD",
        "x/commondir",
        "x/config",
        "y/objects/a",
        "y/refs/a",
        "y/data",
    ] {
        app_writes(&work, name, "orders");
    }
    symlink(&outside, work.join("link")).unwrap();
    mknodat(CWD, work.join("fifo"), FileType::Fifo, Mode::RWXU, 0).unwrap();
    app_writes(&work, "locked/file", "x");
    fs::set_permissions(work.join("locked"), Permissions::from_mode(0o000)).unwrap();

    let (to, exported) = exported(&place, &task, "after");
    let is_root = rustix::process::getuid().is_root();
    let mut found = files(&to);
    if is_root {
        assert!(found.remove("locked/file").is_some());
    }
    let expected = [
        ("Makefile", "plan"),
        ("a/file", "plan"),
        ("a/more", "rows"),
        ("app.py", "plan"),
        ("b/file", "plan"),
        ("c", "plan"),
        ("data/store.db", "rows"),
        ("y/data", "orders"),
        ("y/objects/a", "orders"),
        ("y/refs/a", "orders"),
    ];
    let expected = expected.map(|(name, content)| (name.to_owned(), content.to_owned()));
    assert_eq!(found, expected.into());
    let data = fs::metadata(to.join("data/store.db")).unwrap();
    assert_eq!(data.mode() & 0o7777, 0o666);
    let mut left_out = exported.left_out;
    left_out.sort();
    let mut names = vec![
        ".envrc",
        ".git/",
        ".g\u{200c}it/",
        ".idea/",
        "data/bare/",
        "deep/.GIT/",
        "deep/.vscode/",
        "deep/Makefile",
        "deep/package.json",
        "git~1/",
        "x/",
    ];
    if !is_root {
        names.push("locked/");
    }
    names.sort_unstable();
    assert_eq!(left_out, names);
    assert_eq!(exported.skipped, ["fifo", "link"]);
}

#[test]
fn a_plan_and_its_app_make_no_repository_together() {
    let place = Place::new();
    let task = place.task("plan");
    apply(
        &task,
        vec![write("sub/refs/a", "plan"), write("sub/objects/a", "plan")],
    );
    let work = task.work().unwrap();
    // The app hides what the plan wrote.
    fs::remove_dir_all(work.join("sub")).unwrap();
    for name in ["sub/HEAD", "sub/config", "data"] {
        app_writes(&work, name, "of the app");
    }
    let (to, exported) = exported(&place, &task, "export");
    assert_eq!(exported.left_out, ["sub/"]);
    let names: Vec<_> = files(&to).into_keys().collect();
    assert_eq!(names, ["app.py", "data", "sub/objects/a", "sub/refs/a"]);
}
