//! The paths that a branch changes, which add parts to its tests.

use agent_pack::Workspace;
use std::process::Command;

/// The branches that changes are merged into: the shared one, or this clone's without a shared one.
const TARGETS: [&str; 2] = ["origin/main", "main"];

/// Returns the paths that differ from the merge base, without a slash in front. Returns `None` if the merge base is
/// unknown or HEAD itself, as on the branch that is merged into: then every part of the tier runs.
pub(super) fn paths(workspace: &Workspace) -> Option<Vec<String>> {
    let git = |arguments: &[&str]| git(workspace, arguments);
    let head = git(&["rev-parse", "HEAD"])?;
    let base = TARGETS
        .iter()
        .find_map(|target| git(&["merge-base", "HEAD", target]))?;
    if base == head {
        return None;
    }
    let tracked = git(&["diff", "--name-only", "--no-renames", "-z", base.trim()])?;
    let untracked = git(&["ls-files", "--others", "--exclude-standard", "-z"])?;
    let paths = tracked.split('\0').chain(untracked.split('\0'));
    Some(
        paths
            .filter(|path| !path.is_empty())
            .map(str::to_owned)
            .collect(),
    )
}

/// Returns whether a path is one of `rules`, or below it.
pub(super) fn is_below(path: &str, rules: &[&str]) -> bool {
    rules.iter().any(|rule| {
        path.strip_prefix(rule)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    })
}

fn git(workspace: &Workspace, arguments: &[&str]) -> Option<String> {
    let mut git = Command::new("git");
    let output = git.current_dir(workspace.root()).args(arguments).output();
    let output = output.ok().filter(|output| output.status.success())?;
    String::from_utf8(output.stdout).ok()
}

#[cfg(test)]
mod tests {
    use super::{is_below, paths};
    use agent_pack::{Workspace, write_if_changed};
    use std::path::Path;
    use std::process::Command;

    fn git(folder: &Path, words: &str) {
        let mut git = Command::new("git");
        git.current_dir(folder)
            .args(["-c", "user.name=a", "-c", "user.email=a@a.example"])
            .args(words.split(' '));
        assert!(git.output().unwrap().status.success(), "git {words}");
    }

    #[test]
    fn a_branch_changes_what_differs_from_its_merge_base() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::at(folder.path());
        let write =
            |name: &str| write_if_changed(&folder.path().join(name), name.as_bytes()).unwrap();
        assert_eq!(paths(&workspace), None, "no repository");

        git(folder.path(), "init --initial-branch main");
        write("engine/a.rs");
        git(folder.path(), "add .");
        git(folder.path(), "commit --message first");
        assert_eq!(paths(&workspace), None, "HEAD is the merge base");

        git(folder.path(), "switch --create change");
        write("docs/a.md");
        git(folder.path(), "add .");
        git(folder.path(), "commit --message second");
        write("wit/new.wit");
        assert_eq!(paths(&workspace).unwrap(), ["docs/a.md", "wit/new.wit"]);
    }

    #[test]
    fn a_rule_is_a_whole_path_or_a_folder() {
        assert!(is_below("engine/api/src/lib.rs", &["wit", "engine"]));
        assert!(is_below("Cargo.lock", &["Cargo.lock"]));
        assert!(!is_below("engines/a.rs", &["engine"]));
    }
}
