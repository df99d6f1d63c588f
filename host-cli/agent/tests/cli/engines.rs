//! `--engine`: another component of the same world.

use crate::project::{Project, Run};
use agent_host::COMPONENT;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Runs a command with an engine and a separate cache directory.
fn run(project: &Project, line: &str, engine: &str) -> Run {
    let mut command = project.command(line.split_whitespace());
    command
        .args(["--engine", engine])
        .env("XDG_CACHE_HOME", project.path("cache"));
    Run::of(command)
}

fn cached(project: &Project) -> Vec<PathBuf> {
    let entries = fs::read_dir(project.path("cache/agent/engines")).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// A component is compiled here, which takes long.
mod at_length {
    use super::{COMPONENT, Project, cached, mode, run};

    #[test]
    fn another_engine_gives_the_same_answer_and_is_compiled_once() {
        let project = Project::new();
        // The component that the program contains, not compiled.
        project.write("engine.wasm", COMPONENT);
        let embedded = project.agent("why audiences").exits(0);
        for _ in 0..2 {
            let other = run(&project, "why audiences", "engine.wasm")
                .exits(0)
                .notes_nothing();
            assert_eq!(other.stdout, embedded.stdout);
            assert_eq!(cached(&project).len(), 1);
        }
        assert_eq!(mode(&project.path("cache/agent/engines")), 0o700);
    }
}

#[test]
fn an_invalid_engine_is_refused() {
    let project = Project::new();
    project.write("garbage.wasm", "garbage");
    // Valid, but not of the world: an empty component and an empty module.
    project.write("component.wasm", b"\0asm\x0d\0\x01\0");
    project.write("module.wasm", b"\0asm\x01\0\0\0");
    for file in ["garbage.wasm", "component.wasm", "module.wasm"] {
        run(&project, "discover", file)
            .exits(2)
            .answers_nothing()
            .notes(&format!("error: `{file}` is not an engine: "));
    }
    run(&project, "discover", "absent.wasm")
        .exits(2)
        .notes("can't read `absent.wasm`");
}
