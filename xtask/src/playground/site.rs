//! The files of the page: the modules of its four parts and of the engine, the editor, and handwritten files.

use agent_pack::{Build, Workspace, read};
use anyhow::{Context as _, Result};
use std::collections::BTreeMap;

use super::modules::{Compiler, IMPORT, PLANS, POLICY_AND_REVIEW, RUN, SESSION};
use super::{minify, offline, policy, source};
use crate::browser::{self, npm};
use crate::folder::{self, Files};
use crate::{component, process, status};

const PAGE: &str = "index.html";

/// The folder of the example that the command line has too.
const DEMO: &str = "hello-agent";

/// The packages of the page's four parts.
const PARTS: [&str; 4] = [
    "agent-playground",
    "agent-plans-page",
    "agent-session-page",
    "agent-review-page",
];

/// The script of the worker that compares locks: that of the module with policies, with its other session.
const REVIEW_SCRIPT: &str = "engine/policy/review.js";

/// The engine's modules: the folder of each, and its features.
const ENGINES: [(&str, &str); 7] = [
    ("", ""),
    ("import/", IMPORT),
    ("policy/", POLICY_AND_REVIEW),
    ("plans/", PLANS),
    ("plans/policy/", "plans,policy"),
    ("run/", RUN),
    ("session/", SESSION),
];

/// The engine's modules that most visits load.
const USUAL: [&str; 2] = ["", "policy/"];

/// The part of the page that is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// All of it.
    Whole,
    /// All but the engine's modules that most visits don't load.
    Usual,
}

/// Builds the page for any static server, under any path.
pub(super) fn build(workspace: &Workspace, build: Build, extent: Extent) -> Result<Files> {
    browser::ensure(workspace)?;
    let (_, component) = component::build(workspace, build)?;
    status::doing("Building", "the playground");
    let compiler = Compiler::new(workspace, build)?;
    let mut files = handwritten(workspace)?;
    for package in PARTS {
        files.extend(compiler.page(package, component.sha256())?);
    }
    let is_built = |folder| extent == Extent::Whole || USUAL.contains(&folder);
    for (folder, features) in ENGINES.into_iter().filter(|(folder, _)| is_built(*folder)) {
        files.extend(within(
            &format!("engine/{folder}"),
            compiler.engine(features)?,
        ));
    }
    minify::minify(workspace, compiler.target_dir(), &mut files)?;
    let editor = compiler.target_dir().join("editor");
    folder::remove(&editor)?;
    process::run(npm::node(workspace).arg("editor/build.mjs").arg(&editor))?;
    files.extend(within("editor/", folder::read_all(&editor)?));
    files.insert("codes.json".to_owned(), codes(workspace)?);
    files.insert("examples.json".to_owned(), examples(workspace)?);
    Ok(files)
}

/// Adds the service worker, which keeps the page working without a network.
pub(super) fn add_service_worker(workspace: &Workspace, files: &mut Files) -> Result<()> {
    let template = read(&source(workspace).join("static").join(offline::NAME))?;
    let service_worker = offline::service_worker(&template, files)?;
    files.insert(offline::NAME.to_owned(), service_worker);
    Ok(())
}

/// Returns the handwritten files: the page with its policy, scripts, styles, and the script of each engine.
fn handwritten(workspace: &Workspace) -> Result<Files> {
    let source = source(workspace);
    let mut files = folder::read_all(&source.join("static"))?;
    files.remove(offline::NAME);
    files.extend(folder::read_all(&source.join("styles"))?);
    files.insert(PAGE.to_owned(), policy::add(&read(&source.join(PAGE))?)?);
    let worker = read(&source.join("worker/js/worker.js")).context("the worker's script")?;
    for (folder, _) in ENGINES {
        files.insert(format!("engine/{folder}worker.js"), worker.clone());
    }
    let worker = str::from_utf8(&worker).context("the worker's script is no text")?;
    files.insert(
        REVIEW_SCRIPT.to_owned(),
        worker.replace("Session", "Review").into_bytes(),
    );
    Ok(files)
}

/// Returns the files with a folder before their names.
pub(super) fn within(folder: &str, files: Files) -> Files {
    let files = files.into_iter();
    files
        .map(|(name, bytes)| (format!("{folder}{name}"), bytes))
        .collect()
}

/// Returns the pages about codes as one JSON object, by their names.
fn codes(workspace: &Workspace) -> Result<Vec<u8>> {
    let pages = folder::read_all(&workspace.root().join("docs/reference/codes"))?;
    let pages = pages.into_iter().filter_map(|(name, text)| {
        let name = name.strip_suffix(".md")?.to_owned();
        Some((name, String::from_utf8_lossy(&text).into_owned()))
    });
    let pages: BTreeMap<_, _> = pages.collect();
    Ok(serde_json::to_vec(&pages)?)
}

/// Returns the texts of the examples as one JSON object, by their folders and the names of their files. One is
/// that of the command line.
fn examples(workspace: &Workspace) -> Result<Vec<u8>> {
    let first = folder::read_all(&workspace.root().join("examples").join(DEMO))?;
    let mut files = within(&format!("{DEMO}/"), first);
    files.extend(folder::read_all(&source(workspace).join("examples"))?);
    let of_sessions = folder::read_all(&source(workspace).join("session-page/examples"))?;
    files.extend(within("session/", of_sessions));
    let mut examples: BTreeMap<_, BTreeMap<_, _>> = BTreeMap::new();
    for (path, text) in files {
        let (example, file) = path.split_once('/').context("a file beside the examples")?;
        let text = String::from_utf8(text).with_context(|| format!("`{path}` is no text"))?;
        examples
            .entry(example.to_owned())
            .or_default()
            .insert(file.to_owned(), text);
    }
    Ok(serde_json::to_vec(&examples)?)
}
