//! `cargo xtask bless`: accepts the present output of the corpus tests, and adds new codes to lists.
//!
//! Review it with `git diff`: a blessed file shows what the program does, not that it is right.

use agent_pack::Workspace;
use anyhow::Result;

use crate::{no_arguments, setup, status, test};

/// The variable that makes corpus tests write their expected files instead of comparing them.
const BLESS: &str = "AGENT_BLESS";

/// The common parts of these tests' names: the corpus, and lists of the catalogue of codes.
const TESTS: [&str; 2] = ["corpus", "lists_the_catalogue"];

pub(crate) fn command(workspace: &Workspace, arguments: &[&str]) -> Result<()> {
    no_arguments(arguments)?;
    setup::ensure(workspace)?;
    test::run_tests(workspace, &TESTS, &[(BLESS, "1")])?;
    status::doing(
        "Blessed",
        "the corpus; look at `git diff` before committing",
    );
    Ok(())
}
