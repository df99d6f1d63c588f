//! The packages for `cargo install`: the sources of the program, with the components that they embed already built.
//!
//! They are packed from a copy of the tree, which differs from it in what a registry needs: versions of dependencies,
//! no tests, no file outside of a package, and the folder `prebuilt` in each package that embeds components.

use agent_pack::{
    Build, CODE_LINKS, Compiler, HandlerKind, PREBUILT, RunnerLanguage, Workspace, World, pack,
    prebuilt, prebuilt_code, read, scrub, write_if_changed,
};
use anyhow::{Context as _, Result, ensure};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Dist, names, program};
use crate::{build, cargo, folder, process, setup, status};

/// The folder of the packages in the release.
pub(crate) const FOLDER: &str = "crates";

/// Maximum size of a package, in bytes: that of the registry.
const LIMIT: u64 = 10_000_000;

/// What packages read outside of their folder, below the root.
const OUTSIDE: [(&str, &str); 5] = [
    ("host-cli/agent", "docs/reference/codes"),
    ("host-cli/effects", "wit"),
    ("host-cli/host", "wit"),
    ("host-cli/runners", "wit"),
    ("host-cli/wasi-app", "wit"),
];

/// The folder of the package with machine code, below the root of the copy.
const CODE: &str = "code";

/// Its build script, which says where it lies.
const CODE_SCRIPT: &str = "\
//! Says where the machine code lies.

fn main() {
    println!(\"cargo::metadata=folder={}/PREBUILT\", env!(\"CARGO_MANIFEST_DIR\"));
}
";

/// How the manifest of a package begins: with all files of the copy, which git does not know.
const FILES: &str = "[package]\ninclude = [\"*\"]\n";

/// Lays out and packs them.
pub(super) fn write(dist: &Dist<'_>) -> Result<()> {
    let workspace = dist.workspace;
    let root = dist.stage("source")?;
    let mut packages = packages(workspace)?;
    copy_tree(workspace, &root)?;
    for (package, outside) in OUTSIDE {
        bring_inside(&root, package, outside)?;
    }
    write_prebuilt(workspace, &root)?;
    packages.insert(names::CODE.to_owned(), CODE.into());
    for (name, package) in &packages {
        let manifest = root.join(package).join("Cargo.toml");
        edit(&manifest, |text| for_registry(text, name))?;
        for of_tests in ["tests", "examples"] {
            folder::remove(&root.join(package).join(of_tests))?;
        }
        let licence = read(&root.join("LICENSE"))?;
        write_if_changed(&root.join(package).join("LICENSE"), &licence)?;
    }
    edit(&root.join("Cargo.toml"), |text| {
        with_versions(text, &packages)
    })?;

    let target = dist.stage.join("crates");
    let mut pack = cargo::cargo(workspace);
    scrub(&mut pack)
        .current_dir(&root)
        .args(["package", "--no-verify", "--allow-dirty", "--quiet"])
        .arg("--target-dir")
        .arg(&target);
    for name in packages.keys() {
        pack.arg("--package").arg(published(name));
    }
    process::run(&mut pack)?;
    let crates = dist.path(FOLDER);
    folder::remove(&crates)?;
    fs::create_dir_all(&crates)?;
    for name in packages.keys() {
        let file = format!("{}-{}.crate", published(name), super::version());
        let from = target.join("package").join(&file);
        let size = fs::metadata(&from)
            .with_context(|| format!("{file} was not packed"))?
            .len();
        ensure!(
            size <= LIMIT,
            "{file} has {size} bytes; at most {LIMIT} are allowed"
        );
        fs::copy(from, crates.join(file))?;
    }
    status::doing(
        "Packed",
        format_args!("{} packages for cargo", packages.len()),
    );
    Ok(())
}

/// Returns the names under which the packages are published.
pub(super) fn names(workspace: &Workspace) -> Result<Vec<String>> {
    let ours = packages(workspace)?.into_keys();
    Ok(ours
        .map(|name| published(&name))
        .chain([names::CODE.to_owned()])
        .collect())
}

/// Returns the name under which a package is published. All begin with that of the program: others have taken some of
/// the names that we use.
fn published(name: &str) -> String {
    match name.strip_prefix("agent-") {
        _ if name == names::CODE => name.to_owned(),
        Some(rest) => format!("{}-{rest}", names::CRATE),
        None => names::CRATE.to_owned(),
    }
}

/// Returns our packages that the program is built from, with their folders below the root.
fn packages(workspace: &Workspace) -> Result<BTreeMap<String, PathBuf>> {
    let mut tree = cargo::cargo(workspace);
    tree.args(["tree", "--locked", "--package", build::PROGRAM])
        .args(["--edges", "normal,build", "--prefix", "none"])
        .args(["--format", "{p}", "--target", program::TARGET]);
    let mut packages = BTreeMap::new();
    for line in process::output(&mut tree)?.lines() {
        // `agent-host v0.1.0 (ROOT/host-cli/host)`
        let path = line
            .split_once(" (")
            .and_then(|(_, rest)| rest.split_once(')'));
        let (Some(name), Some((path, _))) = (line.split(' ').next(), path) else {
            continue;
        };
        if let Ok(path) = Path::new(path).strip_prefix(workspace.root()) {
            packages.insert(name.to_owned(), path.to_owned());
        }
    }
    Ok(packages)
}

/// Copies the files that git knows.
fn copy_tree(workspace: &Workspace, to: &Path) -> Result<()> {
    let mut list = Command::new("git");
    list.current_dir(workspace.root()).args([
        "ls-files",
        "--cached",
        "--others",
        "--exclude-standard",
    ]);
    for name in process::output(&mut list)?.lines() {
        let from = workspace.root().join(name);
        // A removed file is still in the index.
        if from.is_file() {
            write_if_changed(&to.join(name), &read(&from)?)?;
        }
    }
    Ok(())
}

/// Copies a folder of the root into a package, and lets its sources name it there.
fn bring_inside(root: &Path, package: &str, outside: &str) -> Result<()> {
    let package = root.join(package);
    let files = folder::read_all(&root.join(outside))?;
    folder::write_all(&package.join(outside), &files)?;
    let is_ours = |name: &str| name == "build.rs" || name.starts_with("src/");
    let (before, after) = (format!("\"../../{outside}"), format!("\"{outside}"));
    let mut is_named = false;
    for (name, text) in folder::read_all(&package)? {
        let text = String::from_utf8_lossy(&text);
        if is_ours(&name) && text.contains(&before) {
            fs::write(package.join(name), text.replace(&before, &after))?;
            is_named = true;
        }
    }
    ensure!(
        is_named,
        "{} reads no {outside} outside of itself",
        package.display()
    );
    Ok(())
}

/// Writes the released components into the packages that embed them, and their machine code into a package for the
/// target. Together, the engine's two would be too large for one.
fn write_prebuilt(workspace: &Workspace, root: &Path) -> Result<()> {
    let handlers = HandlerKind::ALL.map(|it| (World::Handler(it), it.world().to_owned()));
    let runners =
        RunnerLanguage::ALL.map(|it| (World::Runner(it), format!("runner-{}", it.name())));
    let engine = [(World::Engine, "engine".to_owned())];
    let toolchain = setup::toolchain(workspace)?;
    let compiler = Compiler::find(workspace)?;
    let target_dir = workspace.component_target_dir();
    let code = root.join(CODE);
    for (name, text) in [
        ("Cargo.toml", code_manifest()),
        ("build.rs", CODE_SCRIPT.replace("PREBUILT", PREBUILT)),
        ("src/lib.rs", "//! Machine code.\n".to_owned()),
    ] {
        write_if_changed(&code.join(name), text.as_bytes())?;
    }
    fs::create_dir_all(code.join(PREBUILT))?;
    for (package, components) in [
        ("host-cli/host", &engine[..]),
        ("host-cli/effects", &handlers),
        ("host-cli/runners", &runners),
    ] {
        let package = root.join(package);
        for (world, name) in components {
            let component = pack(workspace, &toolchain, &target_dir, *world, Build::Released)?;
            let wasm = package.join(PREBUILT).join(prebuilt(name));
            write_if_changed(&wasm, component.bytes())?;
            let code = code.join(PREBUILT).join(prebuilt_code(name));
            compiler.compile(*world, program::TARGET, &wasm, &code)?;
        }
        edit(&package.join("Cargo.toml"), |manifest| {
            let version = super::version();
            let name = names::CODE;
            format!(
                "{manifest}\n[target.{}.dependencies]\n{name} = {{ path = \"../../{CODE}\", version = \"{version}\" }}\n",
                program::TARGET
            )
        })?;
    }
    Ok(())
}

/// Returns the manifest of the package with machine code.
fn code_manifest() -> String {
    format!(
        "[package]\nname = \"{}\"\ndescription = \"The engine of `agent` as machine code for {}\"\n\
         links = \"{CODE_LINKS}\"\nversion.workspace = true\nedition.workspace = true\n\
         license.workspace = true\nrepository.workspace = true\npublish.workspace = true\n\n\
         [lib]\ntest = false\ndoctest = false\n",
        names::CODE,
        program::TARGET
    )
}

fn edit(path: &Path, change: impl FnOnce(&str) -> String) -> Result<()> {
    let text = String::from_utf8(read(path)?)?;
    Ok(fs::write(path, change(&text))?)
}

/// Gives the published packages in the root's manifest their version and name, and lets them be published.
fn with_versions(manifest: &str, packages: &BTreeMap<String, PathBuf>) -> String {
    let lines = manifest.lines().map(|line| {
        let own = line.split_once(" = { path = ");
        let own = own.filter(|(name, _)| packages.contains_key(*name));
        match own.and_then(|(name, _)| Some((name, line.strip_suffix(" }")?))) {
            Some((name, open)) => {
                let (version, published) = (super::version(), published(name));
                format!("{open}, version = \"{version}\", package = \"{published}\" }}\n")
            }
            None => format!("{line}\n"),
        }
    });
    lines
        .collect::<String>()
        .replace("publish = false", "publish = true")
        .replace("\nmembers = [", &format!("\nmembers = [\"{CODE}\", "))
}

/// Leaves the dependencies of tests out of a package's manifest, and lists its files. It gets its published name, and its
/// library keeps the one that the sources use.
fn for_registry(manifest: &str, name: &str) -> String {
    let line_of_name = format!("name = \"{name}\"");
    let library = format!("name = \"{}\"\n", name.replace('-', "_"));
    let mut edited = String::new();
    let mut section = "";
    for line in manifest.lines() {
        if line.starts_with('[') {
            section = line;
        }
        match (section, line) {
            ("[dev-dependencies]" | "[[test]]", _) => {}
            ("[package]", "[package]") => edited += FILES,
            ("[package]", line) if line == line_of_name => {
                edited += &format!("name = \"{}\"\n", published(name));
            }
            ("[lib]", "[lib]") => edited += &format!("[lib]\n{library}"),
            _ => edited += &format!("{line}\n"),
        }
    }
    if !manifest.contains("\n[lib]\n") {
        edited += &format!("\n[lib]\n{library}");
    }
    edited
}

#[cfg(test)]
mod tests {
    use super::{for_registry, published, with_versions};
    use std::collections::BTreeMap;

    #[test]
    fn a_registry_gets_versions_names_and_no_tests() {
        let packages = BTreeMap::from([("agent-aot".to_owned(), "host-cli/aot".into())]);
        assert_eq!(
            with_versions(
                "publish = false\nagent-aot = { path = \"host-cli/aot\" }\nagent-rego = { path = \"engine/rego\" }\n",
                &packages
            ),
            "publish = true\nagent-aot = { path = \"host-cli/aot\", version = \"0.1.0\", package = \"agent-engine-aot\" }\n\
             agent-rego = { path = \"engine/rego\" }\n"
        );
        let manifest = "[package]\nname = \"agent-a\"\n\n[dev-dependencies]\nb = \"1\"\n\n[features]\nc = []\n";
        let edited = for_registry(manifest, "agent-a");
        assert!(!edited.contains("b = "), "{edited}");
        assert!(edited.contains("[features]\nc = []\n"), "{edited}");
        assert!(edited.starts_with("[package]\ninclude = "), "{edited}");
        assert!(edited.contains("name = \"agent-engine-a\"\n"), "{edited}");
        assert!(edited.ends_with("[lib]\nname = \"agent_a\"\n"), "{edited}");
        let with_library = for_registry(
            "[package]\nname = \"agent\"\n\n[lib]\ndoctest = false\n",
            "agent",
        );
        assert!(
            with_library.ends_with("[lib]\nname = \"agent\"\ndoctest = false\n"),
            "{with_library}"
        );
    }

    #[test]
    fn every_name_begins_with_that_of_the_program() {
        for (name, expected) in [
            ("agent", "agent-engine"),
            ("agent-host", "agent-engine-host"),
            (
                "agent-engine-x86_64-linux-gnu",
                "agent-engine-x86_64-linux-gnu",
            ),
        ] {
            assert_eq!(published(name), expected);
        }
    }
}
