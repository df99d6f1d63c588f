//! Files are replaced whole or not at all, also after failures.

pub(crate) mod sabotage;

use crate::project::{INDEX, MANIFEST, Project, Run};
use sabotage::{Fate, RENAMES, SYNCS, Sabotage};
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// A project with a lock that is about to change.
fn about_to_change() -> Project {
    let project = Project::new();
    project.agent("resolve").exits(0);
    project.write(
        "agents.md",
        MANIFEST.replace("[read:audiences]", "[write:audiences]"),
    );
    project
}

/// Returns the number of remaining temporary files.
fn leftovers(project: &Project) -> usize {
    project
        .files()
        .iter()
        .filter(|name| name.ends_with(".tmp"))
        .count()
}

/// Runs `resolve --explain` under a sabotage: the lock stays as it was, no explanation appears, and
/// the next run repairs everything.
#[track_caller]
fn survives(sabotage: &Sabotage, code: Option<i32>, left: usize) -> Run {
    survives_in(&about_to_change(), sabotage, code, left)
}

#[track_caller]
fn survives_in(project: &Project, sabotage: &Sabotage, code: Option<i32>, left: usize) -> Run {
    let lock = project.read("agents.lock");
    let mut command = project.command(["resolve", "--explain"]);
    sabotage.apply_to(&mut command);
    let run = Run::of(command);
    assert_eq!(run.code, code, "{run:#?}");
    assert_eq!(project.read("agents.lock"), lock);
    assert!(!project.has("agents.resolution.json"));
    assert_eq!(leftovers(project), left, "{:?}", project.files());
    project.agent("resolve --explain").exits(0);
    assert_ne!(project.read("agents.lock"), lock);
    assert_eq!(leftovers(project), left);
    run
}

#[test]
fn killed_between_write_and_rename() {
    // Both temporary files remain: all was written, nothing was renamed.
    survives(&Sabotage::syscalls(RENAMES, Fate::Killed), None, 2);
}

#[test]
fn killed_before_the_content_is_on_disk() {
    survives(&Sabotage::syscalls(SYNCS, Fate::Killed), None, 1);
}

#[test]
fn a_rename_that_fails() {
    let sabotage = Sabotage::syscalls(RENAMES, Fate::Fails(libc::EIO));
    survives(&sabotage, Some(2), 0)
        .answers_nothing()
        .notes("can't write `agents.resolution.json`");
}

#[test]
fn a_disk_that_is_full_half_way() {
    const MIB: usize = 1 << 20;
    let project = about_to_change();
    // The explanation lists the categories of a rejected server.
    let (acme, euro) = INDEX.split_at(INDEX.find("\"euro\"").unwrap());
    let euro = euro.replace("\"audiences\"", &format!("\"{}\"", "x".repeat(5 * MIB)));
    project.write("mcp.index.json", format!("{acme}{euro}"));
    survives_in(&project, &Sabotage::FileSize(4 * MIB as u64), Some(2), 0)
        .answers_nothing()
        .notes("can't write `agents.resolution.json`: file too large");
}

#[test]
fn a_disk_that_turns_out_to_be_full() {
    let sabotage = Sabotage::syscalls(SYNCS, Fate::Fails(libc::ENOSPC));
    survives(&sabotage, Some(2), 0)
        .answers_nothing()
        .notes("no space left");
}

#[test]
fn a_folder_that_is_missing() {
    let project = Project::new();
    project
        .agent("resolve --lock new/agents.lock")
        .exits(2)
        .notes("can't write `new/agents")
        .notes("help: create the folder `new`");
    fs::create_dir(project.path("new")).unwrap();
    project.agent("resolve --lock new/agents.lock").exits(0);
}

#[test]
fn a_folder_that_cannot_be_written_to() {
    let project = about_to_change();
    let lock = project.read("agents.lock");
    let set = |mode| fs::set_permissions(project.path(""), Permissions::from_mode(mode)).unwrap();
    set(0o555);
    // Permissions do not restrict root.
    let mut command = project.command(["resolve"]);
    Sabotage::Unprivileged.apply_to(&mut command);
    let run = Run::of(command)
        .exits(2)
        .answers_nothing()
        .notes("can't write `agents.lock`: perm");
    set(0o755);
    assert_eq!(project.read("agents.lock"), lock, "{run:#?}");
    assert_eq!(leftovers(&project), 0);
}

#[test]
fn a_lock_that_is_protected_is_not_replaced() {
    let project = about_to_change();
    let lock = project.path("agents.lock");
    let before = project.read("agents.lock");
    fs::set_permissions(&lock, Permissions::from_mode(0o444)).unwrap();
    fs::set_permissions(project.path(""), Permissions::from_mode(0o777)).unwrap();
    let mut command = project.command(["resolve"]);
    Sabotage::Unprivileged.apply_to(&mut command);
    Run::of(command)
        .exits(2)
        .notes("can't write `agents.lock`: permission denied");
    assert_eq!(project.read("agents.lock"), before);
    assert_eq!(leftovers(&project), 0);
}

#[test]
fn one_file_that_cannot_be_written_keeps_the_other_from_being_written() {
    let project = about_to_change();
    let lock = project.read("agents.lock");
    fs::create_dir(project.path("agents.resolution.json")).unwrap();
    project
        .agent("resolve --explain")
        .exits(2)
        .notes("can't write `agents.resolution.json`: it is not a regular file");
    assert_eq!(project.read("agents.lock"), lock);
    assert_eq!(leftovers(&project), 0);
}

#[test]
fn a_target_that_is_not_a_file() {
    let project = Project::new();
    fs::create_dir(project.path("folder")).unwrap();
    project
        .agent("resolve --lock folder")
        .exits(2)
        .notes("`folder`");
    project
        .agent("resolve --lock absent/agents.lock")
        .exits(2)
        .notes("no such file or directory");
    project
        .agent("resolve --lock /dev/null")
        .exits(2)
        .notes("not a regular file");
    symlink("nowhere", project.path("link")).unwrap();
    project
        .agent("resolve --lock link")
        .exits(2)
        .notes("`link`");
    assert!(!project.has("nowhere"));
}

#[test]
fn a_named_link_is_followed_and_permissions_are_kept() {
    let project = about_to_change();
    fs::create_dir(project.path("real")).unwrap();
    fs::rename(project.path("agents.lock"), project.path("real/lock")).unwrap();
    fs::set_permissions(project.path("real/lock"), Permissions::from_mode(0o640)).unwrap();
    symlink("real/lock", project.path("named.lock")).unwrap();
    project.agent("resolve --lock named.lock").exits(0);
    assert!(project.path("named.lock").is_symlink());
    let metadata = fs::metadata(project.path("real/lock")).unwrap();
    assert_eq!(metadata.permissions().mode() & 0o777, 0o640);
    assert!(project.read("real/lock").contains("write:audiences"));
}

/// A foreign repository may contain links that lead out of it.
#[test]
fn what_nobody_named_is_written_through_no_link() {
    for (name, code) in [
        ("agents.lock", 2),
        ("agents.resolution.json", 2),
        // No tool has a definition here, so that no such file is written.
        ("agents.definitions.json", 0),
    ] {
        let project = about_to_change();
        let old = project.read("agents.lock");
        project.write("precious", &old);
        let _ = fs::remove_file(project.path(name));
        symlink("precious", project.path(name)).unwrap();
        project.agent("resolve --explain").exits(code);
        assert_eq!(project.read("precious"), old, "{name}");
    }
}

#[test]
fn fixes_follow_a_link_to_a_file_of_the_same_folder_only() {
    let broken = MANIFEST.replace("permissions:", "permission:");
    assert_ne!(broken, MANIFEST);
    for (target, code) in [("CLAUDE.md", 0), ("../outside.md", 2)] {
        let project = Project::new();
        fs::remove_file(project.path("agents.md")).unwrap();
        project.write(target, &broken);
        symlink(target, project.path("AGENTS.md")).unwrap();
        project.agent("validate --fix").exits(code);
        let text = project.read(target);
        assert_eq!(text == broken, code == 2, "{target}: {text}");
    }
}

#[test]
fn a_new_file_has_the_permissions_of_a_new_file() {
    let project = Project::new();
    project.agent("resolve").exits(0);
    project.write("other", "");
    let mode = |name| {
        fs::metadata(project.path(name))
            .unwrap()
            .permissions()
            .mode()
    };
    assert_eq!(mode("agents.lock"), mode("other"));
}

#[test]
fn several_writers_at_once() {
    const WRITERS: usize = 4;
    const RUNS: usize = 8;
    let project = Project::new();
    project.write("other.md", MANIFEST.replace("name: hello", "name: other"));
    let manifests = ["agents.md", "other.md"];
    let locks = manifests.map(|manifest| {
        project.agent(&format!("resolve {manifest}")).exits(0);
        project.read("agents.lock")
    });
    let writing = AtomicBool::new(true);
    thread::scope(|scope| {
        let reader = scope.spawn(|| {
            while writing.load(Ordering::Relaxed) {
                let lock = project.read("agents.lock");
                assert!(locks.contains(&lock), "a torn lock: {lock}");
            }
        });
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let (project, manifest) = (&project, manifests[writer % manifests.len()]);
                scope.spawn(move || {
                    for _ in 0..RUNS {
                        project.agent(&format!("resolve {manifest}")).exits(0);
                    }
                })
            })
            .collect();
        let written: Vec<_> = writers.into_iter().map(|writer| writer.join()).collect();
        // Also after a failed writer: the reader would read for ever.
        writing.store(false, Ordering::Relaxed);
        reader.join().unwrap();
        written.into_iter().for_each(|writer| writer.unwrap());
    });
    assert_eq!(leftovers(&project), 0);
}
