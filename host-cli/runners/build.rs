//! Builds the built-in runners and compiles them ahead of time, for the crate to embed.
//!
//! `AGENT_RUNNER_PYTHON` and so on are the paths of the machine code.

use agent_pack::{Embedding, Result, RunnerLanguage, Workspace, World};

fn main() {
    if let Err(error) = embed() {
        // This line alone fails the build.
        println!("cargo::error={error}");
    }
}

fn embed() -> Result<()> {
    let embedding = Embedding::begin(Workspace::runner_inputs)?;
    for language in RunnerLanguage::ALL {
        let name = language.name();
        let variable = format!("AGENT_RUNNER_{}", name.to_uppercase());
        embedding.embed(
            World::Runner(language),
            &format!("runner-{name}"),
            &variable,
        )?;
    }
    Ok(())
}
