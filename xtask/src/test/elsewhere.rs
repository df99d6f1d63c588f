//! The component, built a second time in another folder: the same bytes, or the digest that we
//! publish means nothing.

use agent_pack::{Workspace, World, pack, read, write_if_changed};
use anyhow::{Result, bail};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::setup;

/// What is no source: cargo's output, what set-up provides, and the history.
const LEFT_OUT: [&str; 4] = [".git", ".tools", "node_modules", "target"];

pub(super) fn check(workspace: &Workspace) -> Result<()> {
    let toolchain = setup::ensure(workspace)?;
    let here = pack(
        workspace,
        &toolchain,
        &workspace.component_target_dir(),
        World::Engine,
    )?;

    // Kept for the next time: nothing is built again when nothing has changed.
    let folder = workspace.elsewhere();
    let elsewhere = Workspace::at(folder.join("agent"));
    mirror(workspace.root(), elsewhere.root())?;
    let there = pack(
        &elsewhere,
        &toolchain,
        &folder.join("target"),
        World::Engine,
    )?;

    if here != there {
        let equal = here
            .bytes()
            .iter()
            .zip(there.bytes())
            .take_while(|(a, b)| a == b)
            .count();
        bail!(
            "the component depends on the folder it is built in: {} here, {} in {}, \
             different from byte {equal} on",
            here.sha256(),
            there.sha256(),
            elsewhere.root().display()
        );
    }
    Ok(())
}

/// Makes `to` a copy of the sources in `from`. What is equal already is not touched.
fn mirror(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    let wanted = names(from)?;
    for stale in names(to)?.difference(&wanted) {
        let path = to.join(stale);
        if path.is_dir() {
            fs::remove_dir_all(path)?
        } else {
            fs::remove_file(path)?
        }
    }
    for name in wanted {
        let (source, copy) = (from.join(&name), to.join(&name));
        if source.is_dir() {
            mirror(&source, &copy)?;
        } else {
            write_if_changed(&copy, &read(&source)?)?;
        }
    }
    Ok(())
}

fn names(folder: &Path) -> Result<BTreeSet<PathBuf>> {
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(folder)? {
        let name = PathBuf::from(entry?.file_name());
        if !LEFT_OUT.iter().any(|left_out| name == Path::new(left_out)) {
            names.insert(name);
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::mirror;
    use std::fs;

    #[test]
    fn a_mirror_follows_its_source_and_leaves_output_out() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        fs::create_dir_all(from.join("src")).unwrap();
        fs::create_dir_all(from.join("target")).unwrap();
        fs::write(from.join("src/lib.rs"), "one").unwrap();
        fs::write(from.join("src/old.rs"), "old").unwrap();
        mirror(&from, &to).unwrap();
        assert_eq!(fs::read_to_string(to.join("src/lib.rs")).unwrap(), "one");
        assert!(!to.join("target").exists());

        fs::write(from.join("src/lib.rs"), "two").unwrap();
        fs::remove_file(from.join("src/old.rs")).unwrap();
        mirror(&from, &to).unwrap();
        assert_eq!(fs::read_to_string(to.join("src/lib.rs")).unwrap(), "two");
        assert!(!to.join("src/old.rs").exists());
    }
}
