//! The tests in a browser.
//!
//! Without a browser these tests fail: a skipped test looks like one that passed.

use agent_pack::{Build, Workspace, write_if_changed};
use anyhow::{Result, bail};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::browser::chromium::{self, BROWSER_VARIABLE, Chromium, DRIVER_VARIABLE};
use crate::browser::{self, npm};
use crate::{bubblewrap, build, cargo, crates, folder, playground, process, setup};

/// The program that writes the engine's answers on this machine, and the variable that names them
/// to the tests in the browser at compile time.
const CASES: &str = "parity-cases";
const CASES_VARIABLE: &str = "AGENT_PARITY_CASES";

/// The same for runs of plans.
const RUNS: &str = "parity-runs";
const RUNS_VARIABLE: &str = "AGENT_PARITY_RUNS";

/// The time limit of one test file, in seconds.
const TIMEOUT: &str = "600";

/// The time limit for the start of ChromeDriver, in seconds: it may share the machine.
const DRIVER_TIMEOUT: &str = "60";

/// The variable that names the built page to its tests.
const DIST_VARIABLE: &str = "PLAYGROUND_DIST";

/// The folder with the tests of the index page of apps, and the variable that names the program to them.
const INDEX_PAGE: &str = "host-cli/agent/tests/browser";
const AGENT_VARIABLE: &str = "AGENT";

/// The arguments of Chromium: no window, no own requests to network or system, and no sandbox,
/// which is unavailable to root and in containers. It opens only our own pages.
const FLAGS: [&str; 8] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
];

/// The modules that are tested: the features of each, and its tests.
const MODULES: [(&str, &[&str]); 4] = [
    ("", &["--test", "page"]),
    (playground::RUN, &["--test", "parity"]),
    (playground::SESSION, &["--test", "session_parity"]),
    (playground::API, &["--test", "api", "--lib"]),
];

/// Tests the engine's released modules in a browser: that of the page, that of runs, that of sessions, and that of other
/// programs.
pub(super) fn module(workspace: &Workspace) -> Result<()> {
    let lock = setup::lock(workspace)?;
    let runner = crates::ensure_test_runner(workspace)?;
    drop(lock);
    let chromium = chromium::ensure()?;
    let compiler = playground::Compiler::new(workspace, Build::Released)?;
    let folder = compiler.target_dir().join("browser");

    let profile = folder.join("chromium");
    folder::remove(&profile)?;
    let settings = folder.join("webdriver.json");
    let text = capabilities(&chromium, &profile).to_string();
    write_if_changed(&settings, text.as_bytes())?;

    let [cases, runs] = [CASES, RUNS].map(|program| write_cases(workspace, &folder, program));
    let (cases, runs) = (cases?, runs?);
    for (features, tests) in MODULES {
        let mut cargo =
            compiler.cargo(&["test", "--no-fail-fast"], playground::WORKER, features)?;
        cargo
            .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUNNER", &runner)
            .env(CASES_VARIABLE, &cases)
            .env(RUNS_VARIABLE, &runs)
            .env(DRIVER_VARIABLE, &chromium.driver)
            .env("WASM_BINDGEN_TEST_WEBDRIVER_JSON", &settings)
            .env("WASM_BINDGEN_TEST_TIMEOUT", TIMEOUT)
            .env("WASM_BINDGEN_TEST_DRIVER_TIMEOUT", DRIVER_TIMEOUT)
            // For tests that do not choose where they run.
            .env("WASM_BINDGEN_USE_BROWSER", "1")
            .args(tests);
        process::run(&mut cargo)?;
    }
    Ok(())
}

/// Calls the program that writes answers of this machine, and returns the path of its file.
fn write_cases(workspace: &Workspace, folder: &Path, program: &str) -> Result<PathBuf> {
    let path = folder.join(format!("{program}.json"));
    let mut write = Command::new(cargo::build_tested(workspace, program)?);
    process::run(write.current_dir(workspace.root()).arg(&path))?;
    Ok(path)
}

/// Tests the text editor by itself.
pub(super) fn editor(workspace: &Workspace) -> Result<()> {
    let files = test_files(&playground::source(workspace).join("editor"))?;
    process::run(&mut node(workspace, files)?)
}

/// The tests of the page that every change of it runs: it loads, and its engine answers. The released page
/// runs all of them.
const SMOKE: [&str; 2] = ["engine.test.mjs", "examples.test.mjs"];

/// Quickly builds what these tests load, and tests that it answers.
pub(super) fn quick_page(workspace: &Workspace) -> Result<()> {
    let files = SMOKE.map(|name| playground::source(workspace).join("e2e").join(name));
    let dist = playground::build_usual(workspace)?;
    test_page(workspace, &dist, files.into())
}

/// Builds the whole page as it is released, and tests it.
pub(super) fn released_page(workspace: &Workspace) -> Result<()> {
    let files = test_files(&playground::source(workspace).join("e2e"))?;
    playground::build(workspace, Build::Released)?;
    let dist = playground::folder(workspace, Build::Released);
    test_page(workspace, &dist, files)
}

fn test_page(workspace: &Workspace, dist: &Path, files: Vec<PathBuf>) -> Result<()> {
    process::run(node(workspace, files)?.env(DIST_VARIABLE, dist))
}

/// Tests the index page of the app gateway, with tasks of a daemon.
pub(super) fn index_page(workspace: &Workspace) -> Result<()> {
    let lock = setup::lock(workspace)?;
    npm::ensure(workspace)?;
    drop(lock);
    let chromium = chromium::ensure()?;
    bubblewrap::ensure()?;
    let agent = cargo::build_tested(workspace, build::PROGRAM)?;
    let mut node = npm::node(workspace);
    node.env(BROWSER_VARIABLE, &chromium.browser)
        .env(AGENT_VARIABLE, agent)
        .arg("--test")
        .args(test_files(&workspace.root().join(INDEX_PAGE))?);
    process::run(&mut node)
}

/// Returns a call of Node.js with tests of the playground.
fn node(workspace: &Workspace, files: Vec<PathBuf>) -> Result<Command> {
    browser::ensure(workspace)?;
    let chromium = chromium::ensure()?;
    let mut node = npm::node(workspace);
    node.env(BROWSER_VARIABLE, &chromium.browser)
        .env(DRIVER_VARIABLE, &chromium.driver)
        // One after the other: they measure times.
        .args(["--test", "--test-concurrency=1"])
        .args(files);
    Ok(node)
}

/// Returns the capabilities that the test runner requests of ChromeDriver.
fn capabilities(chromium: &Chromium, profile: &Path) -> Value {
    let mut arguments = FLAGS.map(str::to_owned).to_vec();
    arguments.push(format!("--user-data-dir={}", profile.display()));
    json!({ "goog:chromeOptions": { "binary": chromium.browser, "args": arguments } })
}

/// Returns the test files of a folder. They are named one by one, because versions of Node.js treat
/// a folder differently.
fn test_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let is_test = |name: &String| name.ends_with(".test.js") || name.ends_with(".test.mjs");
    let names = folder::read_all(folder)?.into_keys().filter(is_test);
    let files: Vec<_> = names.map(|name| folder.join(name)).collect();
    if files.is_empty() {
        bail!("there are no tests in {}", folder.display());
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::{capabilities, test_files};
    use crate::browser::chromium::Chromium;
    use std::fs;
    use std::path::Path;

    #[test]
    fn test_files_are_found_by_name_and_must_exist() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("server.mjs"), "").unwrap();
        let error = test_files(folder.path()).unwrap_err().to_string();
        assert!(error.starts_with("there are no tests in "), "{error}");

        for name in ["share.test.mjs", "fix.test.js"] {
            fs::write(path(name), "").unwrap();
        }
        assert_eq!(
            test_files(folder.path()).unwrap(),
            [path("fix.test.js"), path("share.test.mjs")]
        );
    }

    #[test]
    fn the_browser_starts_with_its_own_profile() {
        let chromium = Chromium {
            browser: "/somewhere/chromium".into(),
            driver: "/somewhere/chromedriver".into(),
        };
        let asked = capabilities(&chromium, Path::new("/elsewhere"));
        let options = &asked["goog:chromeOptions"];
        assert_eq!(options["binary"], "/somewhere/chromium");
        let arguments = options["args"].as_array().unwrap();
        assert_eq!(arguments.last().unwrap(), "--user-data-dir=/elsewhere");
    }
}
