//! Compiled components, kept between runs in the user's cache directory.
//!
//! The cache only saves time. If an entry or the directory is unusable, the component is compiled.

use crate::hex;
use agent_ownership::{UserFolder, create_private, refuse_foreign};
use sha2::{Digest, Sha256};
use std::fs;
use std::hash::{Hash, Hasher};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use wasmtime::component::Component;
use wasmtime::{Engine, Result};

/// Size in bytes of the digest that precedes an entry's machine code.
const DIGEST_BYTES: usize = 32;

/// Maximum number of apps in the cache. The oldest ones go first.
const APPS: usize = 64;

/// The folder of the cache that holds a kind of components.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shelf {
    /// Engines.
    Engines,
    /// Handlers of third parties.
    Handlers,
    /// Apps.
    Apps,
}

/// Compiles a component, or loads the code that an earlier run compiled.
///
/// # Errors
///
/// When the bytes are not a valid component.
pub fn compile(engine: &Engine, shelf: Shelf, wasm: &[u8]) -> Result<Component> {
    compile_within(UserFolder::Cache.path(), engine, shelf, wasm)
}

fn compile_within(
    cache: Option<PathBuf>,
    engine: &Engine,
    shelf: Shelf,
    wasm: &[u8],
) -> Result<Component> {
    let Some(directory) = cache.and_then(|cache| directory(&cache, shelf)) else {
        return Component::from_binary(engine, wasm);
    };
    let entry = directory.join(entry_name(engine, wasm));
    if let Some(component) = load(engine, &entry) {
        return Ok(component);
    }
    let component = Component::from_binary(engine, wasm)?;
    // Without an entry, the next run compiles again.
    let _ = component.serialize().map(|code| store(&entry, &code));
    if shelf == Shelf::Apps {
        // What stays takes room and does no harm.
        let _ = remove_oldest(&directory, APPS);
    }
    Ok(component)
}

fn load(engine: &Engine, entry: &Path) -> Option<Component> {
    let bytes = fs::read(entry).ok()?;
    let (digest, code) = bytes.split_at_checked(DIGEST_BYTES)?;
    if Sha256::digest(code).as_slice() != digest {
        return None;
    }
    #[expect(
        unsafe_code,
        reason = "loading machine code can't be checked by the compiler"
    )]
    // SAFETY: `deserialize` requires bytes that wasmtime's own compilation has written and that are
    // unchanged since. `directory` makes sure that only this user can write to it, and the digest
    // shows that the file is whole. wasmtime itself refuses code of another version or
    // configuration.
    unsafe { Component::deserialize(engine, code) }.ok()
}

fn store(entry: &Path, code: &[u8]) -> io::Result<()> {
    let directory = entry.parent().expect("an entry is in the cache directory");
    let mut file = tempfile::NamedTempFile::new_in(directory)?;
    file.write_all(&Sha256::digest(code))?;
    file.write_all(code)?;
    file.persist(entry)?;
    Ok(())
}

/// Removes the oldest entries of a folder but for some.
fn remove_oldest(directory: &Path, kept: usize) -> io::Result<()> {
    let mut entries = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        entries.push((entry.metadata()?.modified()?, entry.path()));
    }
    entries.sort_unstable();
    let surplus = entries.len().saturating_sub(kept);
    for (_, path) in &entries[..surplus] {
        fs::remove_file(path)?;
    }
    Ok(())
}

/// Names an entry after everything that its content depends on: the component, and wasmtime with
/// its version and configuration.
fn entry_name(engine: &Engine, wasm: &[u8]) -> String {
    let mut key = Key(Sha256::new_with_prefix(wasm));
    engine.precompile_compatibility_hash().hash(&mut key);
    hex(&key.0.finalize()) + ".cwasm"
}

/// A SHA-256 of values that implement [`Hash`].
struct Key(Sha256);

impl Hasher for Key {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        unreachable!("the key is the whole digest")
    }
}

/// Returns the directory of the cache and creates it if it is missing. Returns `None` if another user could
/// change its content, because the program executes it.
fn directory(cache: &Path, shelf: Shelf) -> Option<PathBuf> {
    let directory = cache.join("agent").join(match shelf {
        Shelf::Engines => "engines",
        Shelf::Handlers => "handlers",
        Shelf::Apps => "apps",
    });
    create_private(&directory).ok()?;
    refuse_foreign(&directory).is_ok().then_some(directory)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;
    use tempfile::TempDir;

    /// The smallest component.
    const WASM: &[u8] = b"\0asm\x0d\0\x01\0";

    fn compile(cache: &TempDir) {
        let engine = agent_aot::engine().unwrap();
        let cache = Some(cache.path().to_owned());
        compile_within(cache, &engine, Shelf::Engines, WASM).unwrap();
    }

    fn entries(cache: &TempDir) -> Vec<PathBuf> {
        let entries = fs::read_dir(cache.path().join("agent/engines")).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
    }

    #[test]
    fn a_component_is_compiled_once() {
        let cache = tempfile::tempdir().unwrap();
        compile(&cache);
        let [entry] = &entries(&cache)[..] else {
            panic!("{:?}", entries(&cache));
        };
        let engine = agent_aot::engine().unwrap();
        assert!(load(&engine, entry).is_some());
        // An entry that is not replaced keeps its permissions.
        fs::set_permissions(entry, Permissions::from_mode(0o400)).unwrap();
        compile(&cache);
        assert_eq!(
            fs::metadata(entry).unwrap().permissions().mode() & 0o777,
            0o400
        );
        assert_eq!(entries(&cache).len(), 1);
    }

    #[test]
    fn the_oldest_entries_go_first() {
        let folder = tempfile::tempdir().unwrap();
        let begin = std::time::SystemTime::UNIX_EPOCH;
        for (name, seconds) in [("b", 2), ("c", 3), ("a", 1)] {
            let file = fs::File::create(folder.path().join(name)).unwrap();
            file.set_modified(begin + std::time::Duration::from_secs(seconds))
                .unwrap();
        }
        let names = |kept: usize| {
            remove_oldest(folder.path(), kept).unwrap();
            let entries = fs::read_dir(folder.path()).unwrap();
            let mut names: Vec<_> = entries.map(|it| it.unwrap().file_name()).collect();
            names.sort();
            names
        };
        assert_eq!(names(3), ["a", "b", "c"]);
        assert_eq!(names(1), ["c"]);
    }

    #[test]
    fn a_damaged_entry_is_replaced() {
        let cache = tempfile::tempdir().unwrap();
        compile(&cache);
        let entry = entries(&cache).remove(0);
        let whole = fs::read(&entry).unwrap();
        for damaged in [&b""[..], b"\x7fELF", &whole[..whole.len() / 2]] {
            fs::write(&entry, damaged).unwrap();
            compile(&cache);
            assert_eq!(fs::read(&entry).unwrap(), whole);
        }
    }

    #[test]
    fn a_cache_that_others_can_write_to_is_not_used() {
        let cache = tempfile::tempdir().unwrap();
        let directory = cache.path().join("agent/engines");
        fs::create_dir_all(&directory).unwrap();
        fs::set_permissions(&directory, Permissions::from_mode(0o777)).unwrap();
        compile(&cache);
        assert!(entries(&cache).is_empty());
    }

    #[test]
    fn a_cache_that_cannot_be_made_is_not_used() {
        let cache = tempfile::tempdir().unwrap();
        fs::write(cache.path().join("agent"), "a file").unwrap();
        compile(&cache);
        assert!(cache.path().join("agent").is_file());
    }
}
