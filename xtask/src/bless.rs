//! `cargo xtask bless`: accepts the present output of the corpus tests, and adds new codes to lists.
//!
//! Review it with `git diff`: a blessed file shows what the program does, not that it is right.

use agent_pack::Workspace;
use anyhow::Result;

use crate::cargo::cargo;
use crate::{no_arguments, process, setup, status, test};

/// The variable that makes corpus tests write their expected files instead of comparing them.
const BLESS: &str = "AGENT_BLESS";

/// The common part of the names of tests that compare lists with the catalogue of codes.
const LISTS: &str = "lists_the_catalogue";

/// The common part of the names of the corpus tests.
const CORPUS_TESTS: &str = "corpus";

pub(crate) fn command(workspace: &Workspace, arguments: &[&str]) -> Result<()> {
    no_arguments(arguments)?;
    setup::ensure(workspace)?;
    // A new code does not compile before the contract lists it, so this builds no component.
    let mut lists = cargo(workspace);
    lists.args([
        "test",
        "--package",
        "agent-tests",
        "--test",
        "engine",
        LISTS,
    ]);
    process::run(lists.env(BLESS, "1"))?;
    test::run_tests(workspace, &[CORPUS_TESTS], &[(BLESS, "1")])?;
    status::doing(
        "Blessed",
        "the corpus; look at `git diff` before committing",
    );
    Ok(())
}
