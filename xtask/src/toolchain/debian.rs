//! Debian's rustc, with a standard library built here from Debian's sources.
//!
//! For machines whose rustup can't download. The library is built once into a private sysroot,
//! which looks to cargo like any other toolchain:
//!
//! ```text
//! .tools/wasm-sysroot/
//!   bin/rustc, rustdoc                   Debian's, told to use this sysroot
//!   lib/rustlib/wasm32-unknown-unknown/  built here
//!   lib/rustlib/<host>/lib               Debian's: for build scripts and procedural macros
//!   lib/rustlib/<host>/bin/rust-lld      Debian's lld, under the name that rustc looks for
//!   lib/rustlib/src                      Debian's
//!   stamp                                what it was built from
//! ```

use agent_pack::{Source, TARGET, Toolchain, Workspace, scrub};
use anyhow::{Context as _, Result};
use std::env;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{apt, folder, process, status};

/// Compiler, cargo, the library's sources, and the linker: 146 MB to install.
const PACKAGES: [&str; 4] = ["rustc-web", "cargo-web", "rust-web-src", "lld-22"];

const CARGO: &str = "/usr/bin/cargo";
const RUSTC: &str = "/usr/bin/rustc";
const LLD: &str = "/usr/lib/llvm-22/bin/lld";
const RUSTLIB: &str = "/usr/lib/rustlib";

/// The version of the recipe. Raising it rebuilds every sysroot.
const RECIPE: u32 = 1;

/// Finds the sysroot, or installs what is missing and builds it.
pub(super) fn provide(workspace: &Workspace) -> Result<Toolchain> {
    apt::install(&PACKAGES).context("Debian's packages for wasm can't be installed")?;
    let compiler = process::output(Command::new(RUSTC).arg("-vV"))?;
    let stamp = format!("recipe {RECIPE}\n{compiler}");

    let sysroot = workspace.tools().join("wasm-sysroot");
    let held = fs::read_to_string(sysroot.join("stamp")).unwrap_or_default();
    if held != stamp {
        // Built beside its place and renamed, so that an interrupted build does not look finished.
        let unfinished = workspace.tools().join("wasm-sysroot.unfinished");
        folder::remove(&unfinished)?;
        build(&unfinished, &super::host(RUSTC)?)
            .context("the standard library for wasm can't be built from Debian's sources")?;
        fs::write(unfinished.join("stamp"), &stamp)?;
        folder::remove(&sysroot)?;
        fs::rename(&unfinished, &sysroot)?;
        // Code compiled with the old library does not fit the new one. Cargo checks the compiler
        // only and would not notice.
        folder::remove(&workspace.component_target_dir())?;
        folder::remove(&workspace.elsewhere())?;
    }
    Ok(Toolchain::describe(
        Source::Debian,
        CARGO.into(),
        sysroot.join("bin"),
    )?)
}

fn build(sysroot: &Path, host: &str) -> Result<()> {
    status::doing(
        "Building",
        format_args!("the standard library for {TARGET} (once, a minute)"),
    );
    let libraries = build_libraries(&sysroot.join("build"))?;

    let rustlib = sysroot.join("lib/rustlib");
    let libdir = rustlib.join(TARGET).join("lib");
    fs::create_dir_all(&libdir)?;
    for library in libraries {
        let name = library.file_name().context("a library without a name")?;
        fs::rename(&library, libdir.join(name))?;
    }
    folder::remove(&sysroot.join("build"))?;

    fs::create_dir_all(rustlib.join(host).join("bin"))?;
    symlink(LLD, rustlib.join(host).join("bin/rust-lld"))?;
    symlink(
        Path::new(RUSTLIB).join(host).join("lib"),
        rustlib.join(host).join("lib"),
    )?;
    symlink(Path::new(RUSTLIB).join("src"), rustlib.join("src"))?;

    fs::create_dir_all(sysroot.join("bin"))?;
    for program in ["rustc", "rustdoc"] {
        let path = sysroot.join("bin").join(program);
        fs::write(&path, wrapper(program))?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
    }
    Ok(())
}

/// Builds the library through an empty crate and returns its files.
fn build_libraries(folder: &Path) -> Result<Vec<PathBuf>> {
    fs::create_dir_all(folder.join("src"))?;
    fs::write(folder.join("src/lib.rs"), "#![no_std]\n")?;
    fs::write(
        folder.join("Cargo.toml"),
        "[package]\nname = \"nothing\"\nedition = \"2024\"\n\n[workspace]\n",
    )?;

    let flags = [
        // The panic messages of the library's dependencies contain its path.
        format!("--remap-path-prefix={}=/cargo", cargo_home()?),
        // Lets the component be optimised as a whole with the library.
        "-Cembed-bitcode=yes".to_owned(),
    ];
    let mut cargo = Command::new(CARGO);
    scrub(&mut cargo)
        .current_dir(folder)
        .env("RUSTC", RUSTC)
        // `-Z` is for nightly compilers. It is safe here because the library and the compiler have
        // one version. Users of the sysroot do not need it.
        .env("RUSTC_BOOTSTRAP", "1")
        .env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f"))
        .args(["build", "--release", "--target", TARGET])
        .arg("-Zbuild-std=std,panic_abort,panic_unwind,proc_macro,test")
        .args(["--target-dir", "target"]);
    process::run(&mut cargo)?;

    let deps = folder.join("target").join(TARGET).join("release/deps");
    let mut libraries = Vec::new();
    for entry in fs::read_dir(deps)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.ends_with(".rlib") && !name.starts_with("libnothing") {
            libraries.push(path);
        }
    }
    Ok(libraries)
}

fn cargo_home() -> Result<String> {
    let home = env::var("CARGO_HOME").or_else(|_| env::var("HOME").map(|home| home + "/.cargo"));
    home.context("neither CARGO_HOME nor HOME is set")
}

/// Returns the script of a wrapper. A link would not do, because rustc finds its sysroot by its own
/// libraries. The script finds the folder by its own path, so that the source tree can move.
fn wrapper(program: &str) -> String {
    format!(
        "#!/bin/sh\n\
         # Debian's {program}, with the standard library beside this file unless told otherwise.\n\
         case \" $*\" in *\" --sysroot\"*) exec /usr/bin/{program} \"$@\" ;; esac\n\
         bin=${{0%/*}}\n\
         exec /usr/bin/{program} --sysroot \"${{bin%/*}}\" \"$@\"\n"
    )
}

#[cfg(test)]
mod tests {
    use super::wrapper;
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;
    use std::process::Command;

    /// Runs a wrapper around `echo` instead of a compiler.
    fn arguments_passed_on(arguments: &[&str]) -> String {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("bin/echo");
        fs::create_dir(folder.path().join("bin")).unwrap();
        fs::write(&program, wrapper("echo")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let output = Command::new(&program).args(arguments).output().unwrap();
        let prefix = folder.path().to_str().unwrap();
        String::from_utf8(output.stdout)
            .unwrap()
            .replace(prefix, "PREFIX")
    }

    #[test]
    fn a_wrapper_adds_the_sysroot_it_lies_in() {
        assert_eq!(
            arguments_passed_on(&["a b", "-vV"]),
            "--sysroot PREFIX a b -vV\n"
        );
    }

    #[test]
    fn a_wrapper_leaves_a_given_sysroot() {
        assert_eq!(
            arguments_passed_on(&["--sysroot=/x", "-vV"]),
            "--sysroot=/x -vV\n"
        );
        assert_eq!(arguments_passed_on(&["--sysroot", "/x"]), "--sysroot /x\n");
    }
}
