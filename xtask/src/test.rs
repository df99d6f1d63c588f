//! `cargo xtask test`: runs every test of the project.

mod alone;
mod beside;
mod browser;
mod conformance;
mod elsewhere;
mod go_apps;
mod in_toto;
mod other_clients;
mod other_host;
mod real_servers;

use agent_pack::{Build, Workspace};
use anyhow::{Result, bail};
use std::process::Stdio;
use std::time::Instant;

use crate::cargo::{GUESTS, all_but_playground, cargo, playground};
use crate::playground::{RUN, SESSION};
use crate::{bubblewrap, component, process, quality, resolver, setup, soak, status};

/// One part of the tests: its name and its check.
pub(crate) type Part = (&'static str, fn(&Workspace) -> Result<()>);

/// The parts of every run. A failed part does not stop the others, because a long run should report
/// everything.
const PARTS: [Part; 19] = [
    ("unit, integration and documentation tests", |workspace| {
        let others = [
            "--skip",
            real_servers::TESTS,
            "--skip",
            other_clients::TESTS,
            "--skip",
            go_apps::TESTS,
        ];
        run_tests(workspace, &others, &[])
    }),
    // The first part runs them too. By themselves they are the definition of done of [3, 7].
    ("the quality suite of plans that run", quality::pos),
    ("the quality suite of plans that must not", quality::neg),
    ("a real MCP server", real_servers::one),
    ("a client that we did not write", other_clients::one),
    ("apps in Go", go_apps::check),
    ("MCP conformance of the client", conformance::client),
    ("MCP conformance of the gateway", conformance::gateway),
    ("MCP conformance of the daemon", conformance::daemon),
    ("a short soak of the gateway", soak::short),
    ("the tests of the playground's packages", |workspace| {
        run(workspace, &playground(), &[], &[])?;
        for feature in [RUN, SESSION] {
            let worker = ["--package", "agent-worker", "--features", feature];
            run(workspace, &worker, &[], &[])?;
        }
        Ok(())
    }),
    (
        "the resolver alone is small and answers the same",
        resolver::check,
    ),
    ("the page of other hosts", other_host::check),
    ("evidence as in-toto's own tools see it", in_toto::check),
    (
        "the playground is within its budget",
        crate::playground::released,
    ),
    ("the index page of apps in a browser", browser::index_page),
    ("the engine's module in the browser", |workspace| {
        browser::module(workspace, Build::Quick)
    }),
    ("the editor", browser::editor),
    ("the playground in a real browser", |workspace| {
        browser::page(workspace, Build::Quick)
    }),
];

/// The parts that run only if a word names them. The book has their last results.
const ON_REQUEST: [Part; 5] = [
    ("parity at length: 8,000 generated worlds", |workspace| {
        let worlds = [("PROPTEST_CASES", "8000")];
        run_named(workspace, "component_and_engine_agree", &worlds)
    }),
    ("each package compiles alone", alone::check),
    (
        "the component is the same when built elsewhere",
        elsewhere::check,
    ),
    (
        "real-servers: MCP servers of npm and PyPI",
        real_servers::all,
    ),
    ("clients: MCP clients of npm and PyPI", other_clients::all),
];

pub(crate) fn command(workspace: &Workspace, arguments: &[&str]) -> Result<()> {
    let parts = selected(arguments)?;
    component::build(workspace, Build::Quick)?;
    let failed = match arguments {
        [] => beside::run_all(workspace, &parts)?,
        _ => run_all(workspace, "Testing", &parts),
    };
    println!(
        "{} of {} parts passed, {failed} failed",
        parts.len() - failed,
        parts.len()
    );
    if failed > 0 {
        bail!("the tests failed");
    }
    Ok(())
}

/// Runs parts one after the other, and returns the number of failures.
pub(crate) fn run_all(workspace: &Workspace, verb: &str, parts: &[Part]) -> usize {
    let failed = parts.iter().filter(|(name, check)| {
        status::doing(verb, name);
        let started = Instant::now();
        let result = check(workspace).inspect_err(status::error);
        let seconds = started.elapsed().as_secs();
        status::doing("Finished", format_args!("{name}, in {seconds} s"));
        result.is_err()
    });
    failed.count()
}

/// Returns the parts whose names contain one of `words`, or those of every run without words.
fn selected(words: &[&str]) -> Result<Vec<Part>> {
    if words.is_empty() {
        return Ok(PARTS.to_vec());
    }
    let all = || PARTS.iter().chain(&ON_REQUEST);
    let unknown = |word: &&&str| !all().any(|(name, _)| name.contains(**word));
    if let Some(word) = words.iter().find(unknown) {
        let names: Vec<_> = all().map(|(name, _)| *name).collect();
        bail!(
            "no part of the tests is called `{word}`; the parts are: {}",
            names.join("; ")
        );
    }
    let named = all().filter(|(name, _)| words.iter().any(|word| name.contains(word)));
    Ok(named.copied().collect())
}

/// Runs the tests whose names contain one of `filters`, or all tests without filters, of all
/// packages that run here except those of the playground.
pub(crate) fn run_tests(
    workspace: &Workspace,
    filters: &[&str],
    environment: &[(&str, &str)],
) -> Result<()> {
    setup::ensure(workspace)?;
    bubblewrap::ensure()?;
    run(workspace, &tested(), filters, environment)
}

/// Runs the tests whose names contain `name`, in the build of [`run_tests`]: with other packages selected,
/// cargo would compile wasmtime again, with other features of what it depends on.
pub(crate) fn run_named(
    workspace: &Workspace,
    name: &str,
    environment: &[(&str, &str)],
) -> Result<()> {
    setup::ensure(workspace)?;
    bubblewrap::ensure()?;
    let command: &[&str] = match has_nextest(workspace) {
        true => &["nextest", "run"],
        false => &["test", "--tests"],
    };
    let mut cargo = cargo(workspace);
    cargo.envs(environment.iter().copied());
    cargo.args(command).args(tested());
    process::run(cargo.args(["--no-fail-fast", "--", name]))
}

/// Returns the arguments that select the packages whose tests run here, without those of the playground.
fn tested() -> Vec<&'static str> {
    let mut packages = all_but_playground();
    packages.extend(GUESTS.iter().flat_map(|guest| ["--exclude", guest]));
    packages
}

fn run(
    workspace: &Workspace,
    packages: &[&str],
    filters: &[&str],
    environment: &[(&str, &str)],
) -> Result<()> {
    let run = |command: &[&str]| {
        let mut cargo = cargo(workspace);
        cargo.envs(environment.iter().copied());
        cargo.args(command).args(packages);
        process::run(cargo.args(["--no-fail-fast", "--"]).args(filters))
    };
    if !has_nextest(workspace) {
        // This also runs the tests in documentation.
        return run(&["test"]);
    }
    run(&["nextest", "run"])?;
    run(&["test", "--doc"])
}

/// Returns whether nextest is installed. It is faster and reports failures more clearly.
fn has_nextest(workspace: &Workspace) -> bool {
    let mut nextest = cargo(workspace);
    nextest
        .args(["nextest", "--version"])
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    nextest.status().is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::{PARTS, selected};

    #[test]
    fn words_select_parts_by_name() {
        assert_eq!(selected(&[]).unwrap().len(), PARTS.len());
        let names: Vec<_> = selected(&["editor", "budget"])
            .unwrap()
            .iter()
            .map(|(name, _)| *name)
            .collect();
        assert_eq!(names, ["the playground is within its budget", "the editor"]);
        assert!(selected(&["editor", "nothing of the kind"]).is_err());
        for word in ["elsewhere", "real-servers", "clients", "at length"] {
            let [(name, _)] = selected(&[word]).unwrap()[..] else {
                panic!("one part is about {word}");
            };
            assert!(PARTS.iter().all(|(part, _)| *part != name));
        }
    }
}
