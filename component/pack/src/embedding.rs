//! Components that a build script embeds: built, and compiled ahead of time.
//!
//! A package of a registry holds them already, in its folder `prebuilt`, and depends on a package with their machine
//! code for the target: whoever installs it needs no toolchain for wasm.

#![expect(
    clippy::print_stdout,
    reason = "standard output is where a build script speaks with cargo"
)]

use crate::module::VARIABLE;
use crate::{
    Build, Compiler, Component, Error, Result, Toolchain, Workspace, World, pack, read,
    write_if_changed,
};
use std::env;
use std::path::PathBuf;

/// The folder of a package with its components, or with machine code.
pub const PREBUILT: &str = "prebuilt";

/// What the package of machine code links. Cargo passes on by this name where its folder is.
pub const CODE_LINKS: &str = "agent-engine-code";

/// The variable in which cargo does so.
const CODE_FOLDER: &str = "DEP_AGENT_ENGINE_CODE_FOLDER";

/// Builds components in a build script, for `include_bytes!(env!(...))`.
#[derive(Debug)]
pub struct Embedding {
    source: Source,
    target: String,
}

/// Where the components come from.
#[derive(Debug)]
enum Source {
    /// The folder of the package.
    Prebuilt(PathBuf),
    Built {
        workspace: Workspace,
        toolchain: Toolchain,
        compiler: Compiler,
        out: PathBuf,
    },
}

impl Embedding {
    /// Begins, and tells cargo on which paths the components depend.
    ///
    /// # Errors
    ///
    /// When the project is not set up.
    ///
    /// # Panics
    ///
    /// Outside of a build script.
    pub fn begin(inputs: impl FnOnce(&Workspace) -> Vec<PathBuf>) -> Result<Self> {
        let path = |name| PathBuf::from(env::var_os(name).expect("cargo sets it"));
        let target = env::var("TARGET").expect("cargo sets TARGET");
        let prebuilt = path("CARGO_MANIFEST_DIR").join(PREBUILT);
        if prebuilt.is_dir() {
            println!("cargo::rerun-if-changed={PREBUILT}");
            let source = Source::Prebuilt(prebuilt);
            return Ok(Self { source, target });
        }
        let workspace = Workspace::of_this_build();
        let inputs = inputs(&workspace).into_iter();
        for input in inputs.chain(Compiler::inputs(&workspace)) {
            println!("cargo::rerun-if-changed={}", input.display());
        }
        println!("cargo::rerun-if-env-changed={VARIABLE}");
        let source = Source::Built {
            toolchain: Toolchain::find(&workspace)?,
            compiler: Compiler::find(&workspace)?,
            out: path("OUT_DIR"),
            workspace,
        };
        Ok(Self { source, target })
    }

    /// Builds a component. `variable` is the path of its machine code, and `variable` with `_WASM` its own.
    ///
    /// # Errors
    ///
    /// As [`pack`], and when the code can't be compiled or written, or the package holds none for the target.
    pub fn embed(&self, world: World, name: &str, variable: &str) -> Result<Component> {
        let (component, wasm, cwasm) = match &self.source {
            Source::Prebuilt(folder) => {
                let Some(code) = env::var_os(CODE_FOLDER) else {
                    return Err(Error::Invalid(format!(
                        "there is no machine code for {}: build the program from its repository",
                        self.target
                    )));
                };
                let wasm = folder.join(prebuilt(name));
                let cwasm = PathBuf::from(code).join(prebuilt_code(name));
                (
                    Component::composed(&read(&wasm)?, world.imports())?,
                    wasm,
                    cwasm,
                )
            }
            Source::Built {
                workspace,
                toolchain,
                compiler,
                out,
            } => {
                let folder = workspace.component_target_dir();
                let build = Build::of_this_script();
                let component = pack(workspace, toolchain, &folder, world, build)?;
                let wasm = out.join(prebuilt(name));
                let cwasm = out.join(prebuilt_code(name));
                write_if_changed(&wasm, component.bytes())?;
                compiler.compile(world, &self.target, &wasm, &cwasm)?;
                (component, wasm, cwasm)
            }
        };
        println!("cargo::rustc-env={variable}={}", cwasm.display());
        println!("cargo::rustc-env={variable}_WASM={}", wasm.display());
        Ok(component)
    }
}

/// Returns the file of a component in [`PREBUILT`].
#[must_use]
pub fn prebuilt(name: &str) -> String {
    format!("{name}.wasm")
}

/// Returns the file of its machine code.
#[must_use]
pub fn prebuilt_code(name: &str) -> String {
    format!("{name}.cwasm")
}
