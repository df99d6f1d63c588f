//! Components that a build script embeds: built, and compiled ahead of time.

#![expect(
    clippy::print_stdout,
    reason = "standard output is where a build script speaks with cargo"
)]

use crate::module::VARIABLE;
use crate::{
    Build, Compiler, Component, Result, Toolchain, Workspace, World, pack, write_if_changed,
};
use std::env;
use std::path::PathBuf;

/// Builds components in a build script, for `include_bytes!(env!(...))`.
#[derive(Debug)]
pub struct Embedding {
    workspace: Workspace,
    toolchain: Toolchain,
    compiler: Compiler,
    out: PathBuf,
    target: String,
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
        let workspace = Workspace::of_this_build();
        let inputs = inputs(&workspace).into_iter();
        for input in inputs.chain(Compiler::inputs(&workspace)) {
            println!("cargo::rerun-if-changed={}", input.display());
        }
        println!("cargo::rerun-if-env-changed={VARIABLE}");
        Ok(Self {
            toolchain: Toolchain::find(&workspace)?,
            compiler: Compiler::find(&workspace)?,
            out: PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR")),
            target: env::var("TARGET").expect("cargo sets TARGET"),
            workspace,
        })
    }

    /// Builds a component. `variable` is the path of its machine code, and `variable` with `_WASM` its own.
    ///
    /// # Errors
    ///
    /// As [`pack`], and when the code can't be compiled or written.
    pub fn embed(&self, world: World, name: &str, variable: &str) -> Result<Component> {
        let folder = self.workspace.component_target_dir();
        let build = Build::of_this_script();
        let component = pack(&self.workspace, &self.toolchain, &folder, world, build)?;
        let wasm = self.out.join(format!("{name}.wasm"));
        let cwasm = self.out.join(format!("{name}.cwasm"));
        write_if_changed(&wasm, component.bytes())?;
        self.compiler.compile(world, &self.target, &wasm, &cwasm)?;
        println!("cargo::rustc-env={variable}={}", cwasm.display());
        println!("cargo::rustc-env={variable}_WASM={}", wasm.display());
        Ok(component)
    }
}
