//! Compiled engines, kept between runs in the user's cache directory.
//!
//! The cache only ever saves time. Whatever is wrong with it, the engine is compiled instead.

use sha2::{Digest, Sha256};
use std::ffi::OsString;
use std::hash::{Hash, Hasher};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::{env, fs};
use wasmtime::component::Component;
use wasmtime::{Engine, Result};

/// The bytes of the digest in front of an entry's machine code.
const DIGEST_BYTES: usize = 32;

/// Compiles a component, or loads what an earlier run has compiled.
pub(super) fn compile(engine: &Engine, wasm: &[u8]) -> Result<Component> {
    let Some(entry) = directory().map(|directory| directory.join(entry_name(engine, wasm))) else {
        return Component::from_binary(engine, wasm);
    };
    if let Some(component) = load(engine, &entry) {
        return Ok(component);
    }
    let component = Component::from_binary(engine, wasm)?;
    // Without an entry the next run compiles again, which is all that can happen.
    let _ = component.serialize().map(|code| store(&entry, &code));
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
    // SAFETY: `deserialize` asks for bytes that wasmtime's own compilation has written and nobody
    // has changed since. Only this user can write to the directory, `directory` has seen to that,
    // and the digest shows that the file is whole. wasmtime itself refuses code of another version
    // or configuration.
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

/// Names an entry after everything that its content depends on: the component, and wasmtime with
/// its version and configuration.
fn entry_name(engine: &Engine, wasm: &[u8]) -> String {
    let mut key = Key(Sha256::new_with_prefix(wasm));
    engine.precompile_compatibility_hash().hash(&mut key);
    let digest = key.0.finalize();
    digest
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect::<String>()
        + ".cwasm"
}

/// Collects in a SHA-256 what implements [`Hash`].
struct Key(Sha256);

impl Hasher for Key {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        unreachable!("the key is the whole digest")
    }
}

/// The directory of the cache, created if need be. None where there is none that only this user
/// can write to: what is in it gets executed.
fn directory() -> Option<PathBuf> {
    let directory = user_cache()?.join("agent").join("engines");
    create_private(&directory).ok()?;
    is_private(&directory).then_some(directory)
}

fn user_cache() -> Option<PathBuf> {
    let absolute = |path: OsString| Some(PathBuf::from(path)).filter(|path| path.is_absolute());
    if cfg!(windows) {
        return env::var_os("LOCALAPPDATA").and_then(absolute);
    }
    env::var_os("XDG_CACHE_HOME")
        .and_then(absolute)
        .or_else(|| {
            let home = env::home_dir()?;
            Some(home.join(if cfg!(target_vendor = "apple") {
                "Library/Caches"
            } else {
                ".cache"
            }))
        })
}

#[cfg(unix)]
fn create_private(directory: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(directory)
}

#[cfg(unix)]
fn is_private(directory: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    const WRITABLE_BY_OTHERS: u32 = 0o022;
    // Files of this user's belong to this user: that tells who that is.
    let own = tempfile::tempfile_in(directory).and_then(|file| file.metadata());
    match (own, fs::metadata(directory)) {
        (Ok(own), Ok(directory)) => {
            directory.uid() == own.uid() && directory.mode() & WRITABLE_BY_OTHERS == 0
        }
        _ => false,
    }
}

#[cfg(not(unix))]
fn create_private(directory: &Path) -> io::Result<()> {
    fs::create_dir_all(directory)
}

/// Application data belongs to its user alone, by the defaults of Windows.
#[cfg(not(unix))]
fn is_private(_directory: &Path) -> bool {
    true
}
