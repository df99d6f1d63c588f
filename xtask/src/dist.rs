//! `cargo xtask dist`: the release, in `target/dist`.
//!
//! | file | content |
//! |---|---|
//! | `agent-VERSION-TARGET.tar.gz` | the program under its two names, manual pages, completions, licences |
//! | `agent-pdp-VERSION-TARGET.tar.gz` | the decision point of a fleet, for the same prefix |
//! | `agent-playground-VERSION.tar.gz` | the page of `agent playground`, for the same prefix |
//! | `agent_engine-VERSION-*.whl` | the same program and page for `uvx`, `pipx` and `pip` |
//! | `agent-engine-*.tgz` | the same for `npx`: a launcher, and the program of one platform with the page |
//! | `agent-engine.wasm`, `agent-resolver.wasm`, `wit` | the components, with their WIT |
//! | `agent.wasm` | the program and its engine as a command of WASI |
//! | `crates` | the packages for `cargo install`, with the built components |
//! | `bom.cdx.json` | every package in them, in CycloneDX |
//! | `provenance.json` | what was built from what, as an in-toto statement |
//! | `SHA256SUMS` | the digests of all of them |

mod bill;
mod crates;
mod licences;
mod names;
mod npm;
mod packages;
mod program;
mod provenance;
mod tarball;
mod wheel;

use agent_pack::{Build, Workspace, read, sha256, write_if_changed};
use anyhow::{Context as _, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};

use crate::{build, component, folder, playground, resolver, status, wasi};
use packages::Packages;

/// The folder of the release, below the root.
pub(crate) const DIST: &str = "target/dist";

/// The program of a fleet, and its package.
const PDP: &str = "agent-pdp";

/// Where the program finds the page, below the prefix of its folder `bin`.
const PAGE: &str = "share/agent-playground";

/// The folder with the WIT of the components.
const CONTRACT: &str = "wit";

/// The file of the digests, in the form that `sha256sum --check` reads.
pub(crate) const SUMS: &str = "SHA256SUMS";

pub(crate) fn command(workspace: &Workspace, arguments: &[&str]) -> Result<()> {
    let key = match arguments {
        [] => None,
        ["--check-names"] => return names::check(&crates::names(workspace)?),
        ["--key", file] => Some(Path::new(*file)),
        _ => bail!("`--key FILE` and `--check-names` are the only arguments"),
    };
    let _lock = folder::lock(&workspace.root().join("target/locks/dist"))?;
    let dist = Dist::new(workspace)?;
    let (_, engine) = component::build(workspace, Build::Released)?;
    write_if_changed(&dist.path(component::FILE_NAME), engine.bytes())?;
    let (_, smaller) = resolver::build(workspace)?;
    write_if_changed(&dist.path(resolver::FILE_NAME), smaller.bytes())?;
    let (_, command) = wasi::build(workspace, Build::Released)?;
    write_if_changed(&dist.path(wasi::FILE_NAME), command.bytes())?;
    let contract = folder::read_all(&workspace.root().join("wit/engine"))?;
    folder::write_all(&dist.path(CONTRACT), &contract)?;

    playground::released(workspace)?;
    let page = folder::read_all(&playground::folder(workspace, Build::Released))?;
    let program = program::build(workspace, build::PROGRAM)?;
    let licences = licences::text(&Packages::read(workspace, build::PROGRAM, &[])?)?;
    bill::write(&dist, &Packages::read(workspace, build::PROGRAM, &[PDP])?)?;
    tarball::write(&dist, &program, &licences)?;
    let pdp = program::build(workspace, PDP)?;
    let licences_of_pdp = licences::text(&Packages::read(workspace, PDP, &[])?)?;
    tarball::write_pdp(&dist, &pdp, &licences_of_pdp)?;
    tarball::write_page(&dist, &page)?;
    wheel::write(&dist, &program, &page, &licences)?;
    npm::write(&dist, &program, &page, &licences)?;
    crates::write(&dist)?;
    provenance::write(&dist, key)?;

    let sums = dist.sums()?;
    write_if_changed(&dist.path(SUMS), sums.as_bytes())?;
    status::doing(
        "Wrote",
        component::relative(workspace, &dist.folder).display(),
    );
    print!("{sums}");
    Ok(())
}

/// The folder of the release.
struct Dist<'w> {
    workspace: &'w Workspace,
    folder: PathBuf,
    /// Where packages are laid out before they are packed.
    stage: PathBuf,
}

impl<'w> Dist<'w> {
    fn new(workspace: &'w Workspace) -> Result<Self> {
        let folder = workspace.root().join(DIST);
        let stage = workspace.root().join("target/dist-stage");
        folder::remove(&stage)?;
        fs::create_dir_all(&folder)
            .with_context(|| format!("{} can't be made", folder.display()))?;
        // The playground's own folders stay.
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            if entry.file_type()?.is_file() {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(Self {
            workspace,
            folder,
            stage,
        })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Makes a folder in which a package is laid out.
    fn stage(&self, name: &str) -> Result<PathBuf> {
        let path = self.stage.join(name);
        fs::create_dir_all(&path).with_context(|| format!("{} can't be made", path.display()))?;
        Ok(path)
    }

    /// Returns the files of the release with their digests, in the order of their names.
    fn digests(&self) -> Result<Vec<(String, String)>> {
        let mut names = Vec::new();
        for below in [CONTRACT, crates::FOLDER] {
            let files = folder::read_all(&self.path(below))?.into_keys();
            names.extend(files.map(|name| format!("{below}/{name}")));
        }
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            if entry.file_type()?.is_file() && entry.file_name() != SUMS {
                names.push(entry.file_name().to_string_lossy().into_owned());
            }
        }
        names.sort();
        let digests = names.into_iter().map(|name| {
            let digest = sha256(&read(&self.path(&name))?);
            Ok((name, digest))
        });
        digests.collect()
    }

    fn sums(&self) -> Result<String> {
        let lines = self.digests()?.into_iter();
        Ok(lines
            .map(|(name, digest)| format!("{digest}  {name}\n"))
            .collect())
    }
}

/// The version of every package.
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}
