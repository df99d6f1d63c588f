//! `cargo xtask test`: runs the tests of the project, in two tiers.
//!
//! Every change runs the quick tier: the parts of [`When::Always`], and those of [`When::Changed`] if the change
//! touches one of their paths. `--all` runs the parts of [`When::Long`] too.

mod alone;
mod artifacts;
mod book;
mod browser;
mod changed;
mod conformance;
mod elsewhere;
mod go_apps;
mod in_toto;
mod left;
mod other_clients;
mod other_host;
mod real_servers;
mod registry;
mod rows;
mod wasi;

use agent_pack::{Build, Workspace};
use anyhow::{Result, bail};
use std::num::NonZero;
use std::process::Stdio;
use std::thread;
use std::time::Instant;

use crate::cargo::{cargo, tested};
use crate::{
    bubblewrap, component, fuzz, handler_python, of_pypi, playground, process, resolver, setup,
    soak, status,
};
use left::Left;

/// A check and its name.
pub(crate) type Check = (&'static str, fn(&Workspace) -> Result<()>);

/// One part of the tests.
struct Part {
    name: &'static str,
    when: When,
    row: Row,
    check: fn(&Workspace) -> Result<()>,
}

/// When a part runs without `--all`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    /// In every run.
    Always,
    /// If the change touches one of these paths or a path below. Without a change to compare, in every run.
    Changed(&'static [&'static str]),
    /// Not without `--all`.
    Long,
}
use When::{Always, Changed, Long};

/// The row in which a part runs. Both rows run at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Row {
    /// The suite, which builds most and takes longest.
    First,
    /// Builds for browsers, and parts that wait more than they work.
    Second,
}
use Row::{First, Second};

impl Part {
    fn check(&self) -> Check {
        (self.name, self.check)
    }
}

/// Modules of tests that only `--all` runs: the same as others, with inputs of full size.
const AT_LENGTH: &str = "at_length::";

/// Tests that `--all` runs with more cases, and those of [`AT_LENGTH`].
const LENGTHY: [&str; 6] = [
    AT_LENGTH,
    "properties::",
    "edits::",
    "misbehaviour::",
    "any_plan::",
    "a_history_is_a_function_of_its_records",
];

/// Every part of the tests. A failed part does not stop the others, because a long run should report
/// everything. A path is in a rule if no other part of the quick tier would find a fault there.
const PARTS: &[Part] = &[
    Part {
        name: "unit, integration and documentation tests",
        when: Always,
        row: First,
        check: native,
    },
    Part {
        name: "the editor",
        when: Changed(&[
            "playground/editor",
            "playground/package-lock.json",
            "schemas",
        ]),
        row: Second,
        check: browser::editor,
    },
    Part {
        name: "the playground in a real browser",
        when: Changed(&[
            "Cargo.lock",
            "docs/reference/codes",
            "engine",
            "playground",
            "wit",
        ]),
        row: Second,
        check: browser::quick_page,
    },
    Part {
        name: "the index page of apps in a browser",
        when: Changed(&[
            "host-cli/agent/tests/browser",
            "host-cli/app-proxy",
            "host-cli/daemon",
        ]),
        row: Second,
        check: browser::index_page,
    },
    Part {
        name: "a real MCP server",
        when: Changed(&[
            "host-cli/effects",
            "host-cli/mcp-protocol",
            "host-cli/operator",
            "host-cli/packages",
            "host-cli/sandbox",
        ]),
        row: Second,
        check: real_servers::one,
    },
    Part {
        name: "a client that we did not write",
        when: Changed(&[
            "engine/session",
            "host-cli/mcp-protocol",
            "host-cli/mcp-server",
            "host-cli/serve",
        ]),
        row: Second,
        check: other_clients::one,
    },
    Part {
        name: "apps in Go",
        when: Changed(&[
            "host-cli/daemon",
            "host-cli/language-runners",
            "host-cli/packages",
            "host-cli/tasks",
        ]),
        row: Second,
        check: go_apps::check,
    },
    Part {
        name: "bundles in a registry of others",
        when: Changed(&["host-cli/pdp"]),
        row: Second,
        check: registry::check,
    },
    Part {
        name: "NATS of PyPI behind decision points",
        when: Changed(&["engine/session", "host-cli/pdp"]),
        row: Second,
        check: |workspace| of_pypi::NATS.check(workspace),
    },
    Part {
        name: "MCP conformance of the client",
        when: Changed(&[
            "host-cli/effects",
            "host-cli/mcp-protocol",
            "tests/conformance",
        ]),
        row: Second,
        check: conformance::client,
    },
    Part {
        name: "MCP conformance of the gateway",
        when: Changed(&[
            "engine/session",
            "host-cli/mcp-protocol",
            "host-cli/mcp-server",
            "host-cli/serve",
            "tests/conformance",
        ]),
        row: Second,
        check: conformance::gateway,
    },
    Part {
        name: "MCP conformance of the daemon",
        when: Changed(&[
            "engine/verbs",
            "host-cli/daemon",
            "host-cli/mcp-protocol",
            "host-cli/mcp-server",
            "tests/conformance",
        ]),
        row: Second,
        check: conformance::daemon,
    },
    Part {
        name: "a short soak of the gateway",
        when: Changed(&[
            "engine/session",
            "host-cli/mcp-protocol",
            "host-cli/mcp-server",
            "host-cli/serve",
            "tests/load",
        ]),
        row: Second,
        check: soak::short,
    },
    Part {
        name: "the page of other hosts",
        when: Changed(&[
            "component",
            "docs/how-to/other-host.md",
            "engine",
            "tests/other-host",
            "wit",
        ]),
        row: Second,
        check: other_host::check,
    },
    Part {
        name: "the command of WASI answers like the program",
        when: Changed(&[
            "Cargo.lock",
            "host-cli/agent",
            "host-cli/host",
            "tests/wasi",
            "wit",
            "xtask/compose",
        ]),
        row: Second,
        check: wasi::few,
    },
    Part {
        name: "evidence as in-toto's own tools see it",
        when: Changed(&[
            "engine/audit",
            "engine/record",
            "engine/run",
            "host-cli/evidence",
            "tests/in-toto",
        ]),
        row: Second,
        check: in_toto::check,
    },
    Part {
        name: "the resolver alone is small and answers the same",
        when: Long,
        row: Second,
        check: resolver::check,
    },
    Part {
        name: "the released playground is within its budget",
        when: Long,
        row: Second,
        check: playground::released,
    },
    Part {
        name: "the released module in the browser",
        when: Long,
        row: Second,
        check: browser::module,
    },
    Part {
        name: "the released playground in a real browser",
        when: Long,
        row: Second,
        check: browser::released_page,
    },
    Part {
        name: "at length: parity of the released component in 8,000 worlds, faults at every call",
        when: Long,
        row: First,
        check: |workspace| {
            let at_length = [
                ("PROPTEST_CASES", "8000"),
                ("AGENT_TESTS_AT_LENGTH", "1"),
                ("AGENT_COMPONENT", "released"),
            ];
            run_tests(
                workspace,
                &["component_and_engine_agree", "faults::"],
                &at_length,
            )
        },
    },
    Part {
        name: "the command of WASI answers like the program in every case",
        when: Long,
        row: First,
        check: wasi::all,
    },
    Part {
        name: "properties, and hostile inputs of full size",
        when: Long,
        row: First,
        check: |workspace| {
            let cases = [("PROPTEST_CASES", "1024")];
            run_tests(workspace, &LENGTHY, &cases)
        },
    },
    Part {
        name: "each package compiles alone",
        when: Long,
        row: First,
        check: alone::check,
    },
    Part {
        name: "the component is the same when built elsewhere",
        when: Long,
        row: First,
        check: elsewhere::check,
    },
    Part {
        name: "the book, and every link in it",
        when: Long,
        row: First,
        check: book::check,
    },
    Part {
        name: "artifacts of the release, installed and used in empty places",
        when: Long,
        row: First,
        check: artifacts::check,
    },
    Part {
        name: "two releases of one commit are the same",
        when: Long,
        row: First,
        check: artifacts::is_reproducible,
    },
    Part {
        name: "real-servers: MCP servers of npm and PyPI",
        when: Long,
        row: First,
        check: real_servers::all,
    },
    Part {
        name: "clients: MCP clients of npm and PyPI",
        when: Long,
        row: First,
        check: other_clients::all,
    },
    Part {
        name: "Envoy of PyPI in front of a server",
        when: Long,
        row: First,
        check: |workspace| of_pypi::ENVOY.check(workspace),
    },
    Part {
        name: "a handler in Python",
        when: Long,
        row: First,
        check: |workspace| handler_python::command(workspace, &[]),
    },
    Part {
        name: "a soak of ten minutes",
        when: Long,
        row: First,
        check: |workspace| soak::command(workspace, &[]),
    },
    Part {
        name: "each fuzz target for a minute",
        when: Long,
        row: First,
        check: |workspace| fuzz::command(workspace, &[]),
    },
];

pub(crate) fn command(workspace: &Workspace, arguments: &[&str]) -> Result<()> {
    let parts = selected(arguments, changed::paths(workspace).as_deref())?;
    component::build(workspace, Build::Quick)?;
    let failed = match arguments {
        [] | ["--all"] => {
            let left = Left::before(workspace);
            rows::run(workspace, &parts)?
                + usize::from(left.check().inspect_err(status::error).is_err())
        }
        _ => run_all(workspace, "Testing", parts.iter().map(|part| part.check())),
    };
    let passed = parts.len().saturating_sub(failed);
    println!("{passed} of {} parts passed, {failed} failed", parts.len());
    if failed > 0 {
        bail!("the tests failed");
    }
    Ok(())
}

/// Returns the parts that run: those whose names contain one of `arguments`, or all with `--all`, or those of the
/// quick tier for a change of the paths `changed`.
fn selected(arguments: &[&str], changed: Option<&[String]>) -> Result<Vec<&'static Part>> {
    // A whole name is that part alone, though it may stand in the name of another.
    let is_whole = |word: &str| PARTS.iter().any(|part| part.name == word);
    let is_named = |name: &str, word: &str| match is_whole(word) {
        true => name == word,
        false => name.contains(word),
    };
    let named = |name: &str| arguments.iter().any(|word| is_named(name, word));
    let is_selected = |part: &&Part| match (arguments, part.when) {
        ([], Always) | (["--all"], _) => true,
        ([], Changed(rules)) => {
            changed.is_none_or(|paths| paths.iter().any(|path| changed::is_below(path, rules)))
        }
        ([], Long) => false,
        _ => named(part.name),
    };
    let unknown = |word: &&&str| !PARTS.iter().any(|part| part.name.contains(**word));
    if let Some(word) = arguments
        .iter()
        .filter(|word| **word != "--all")
        .find(unknown)
    {
        let names: Vec<_> = PARTS.iter().map(|part| part.name).collect();
        bail!(
            "no part of the tests is called `{word}`; the parts are: {}",
            names.join("; ")
        );
    }
    Ok(PARTS.iter().filter(is_selected).collect())
}

/// Tests that other parts run: with servers, clients and toolchains of others, or with inputs of full size.
const LEFT_OUT: [&str; 7] = [
    real_servers::TESTS,
    other_clients::TESTS,
    go_apps::TESTS,
    registry::TESTS,
    of_pypi::ENVOY.tests,
    of_pypi::NATS.tests,
    AT_LENGTH,
];

/// Runs the tests of all packages, except those that other parts run.
fn native(workspace: &Workspace) -> Result<()> {
    let skipped = LEFT_OUT.iter();
    let skipped: Vec<_> = skipped.flat_map(|name| ["--skip", name]).collect();
    run_tests(workspace, &skipped, &[("PROPTEST_CASES", "64")])
}

/// Runs parts one after the other, and returns the number of failures.
pub(crate) fn run_all(
    workspace: &Workspace,
    verb: &str,
    parts: impl Iterator<Item = Check>,
) -> usize {
    let failed = parts.filter(|(name, check)| {
        status::doing(verb, name);
        let started = Instant::now();
        let result = check(workspace).inspect_err(status::error);
        let seconds = started.elapsed().as_secs();
        status::doing("Finished", format_args!("{name}, in {seconds} s"));
        result.is_err()
    });
    failed.count()
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
        cargo.env("NEXTEST_TEST_THREADS", threads().to_string());
        process::run(cargo.args(["--no-fail-fast", "--"]).args(filters))
    };
    if !has_nextest(workspace) {
        // This also runs the tests in documentation.
        return run(&["test"]);
    }
    run(&["nextest", "run"])?;
    run(&["test", "--doc"])
}

/// Returns how many tests run at the same time: more than there are cores, because half of their time is waiting.
fn threads() -> usize {
    3 * thread::available_parallelism().map_or(1, NonZero::get)
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
    use super::{Changed, LEFT_OUT, LENGTHY, Long, PARTS, selected};
    use crate::folder::read_all_but;
    use agent_pack::Workspace;

    fn names(arguments: &[&str], changed: Option<&[String]>) -> Vec<&'static str> {
        let selected = selected(arguments, changed).unwrap();
        selected.iter().map(|part| part.name).collect()
    }

    #[test]
    fn words_select_parts_by_name() {
        assert_eq!(
            names(&["budget", "the editor"], None),
            ["the editor", "the released playground is within its budget"]
        );
        assert!(selected(&["editor", "nothing of the kind"], None).is_err());
        for word in ["elsewhere", "real-servers", "clients", "at length"] {
            assert_eq!(names(&[word], None).len(), 1, "{word}");
        }
    }

    #[test]
    fn a_whole_name_selects_one_part() {
        for part in PARTS {
            assert_eq!(names(&[part.name], None), [part.name]);
        }
    }

    #[test]
    fn all_runs_every_part_and_no_change_to_compare_the_whole_quick_tier() {
        assert_eq!(names(&["--all"], Some(&[])).len(), PARTS.len());
        let quick = PARTS.iter().filter(|part| part.when != Long);
        assert_eq!(names(&[], None).len(), quick.count());
    }

    #[test]
    fn a_changed_path_adds_its_parts() {
        assert_eq!(names(&[], Some(&[])).len(), 1);
        let change = ["playground/editor/theme.js".to_owned()];
        let added = names(&[], Some(&change));
        assert!(added.contains(&"the editor"), "{added:?}");
        assert!(
            added.contains(&"the playground in a real browser"),
            "{added:?}"
        );
        assert!(
            !added.contains(&"MCP conformance of the daemon"),
            "{added:?}"
        );
    }

    #[test]
    fn every_name_of_tests_is_that_of_a_module_or_a_test() {
        let workspace = Workspace::of_this_build();
        let sources = ["tests", "host-cli"].map(|folder| {
            let folder = workspace.root().join(folder);
            read_all_but(&folder, &["corpus", "node_modules", "fixtures"]).unwrap()
        });
        let declared = |name: &str| {
            let (module, test) = (format!("mod {name}"), format!("fn {name}("));
            let mut texts = sources.iter().flat_map(|files| files.values());
            texts.any(|text| {
                let text = String::from_utf8_lossy(text);
                text.contains(&module) || text.contains(&test)
            })
        };
        for name in LEFT_OUT.iter().chain(&LENGTHY) {
            assert!(declared(name.trim_end_matches("::")), "{name}");
        }
    }

    #[test]
    fn every_path_of_a_rule_exists() {
        let workspace = Workspace::of_this_build();
        for part in PARTS {
            let Changed(rules) = part.when else { continue };
            for rule in rules {
                let path = workspace.root().join(rule);
                assert!(path.exists(), "{}: {rule}", part.name);
            }
        }
    }
}
