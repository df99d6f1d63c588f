//! `cargo xtask bless`: what the corpus tests produce becomes what they expect.
//!
//! To be followed by `git diff`: a blessed file says what the program does, not that it is right.

use agent_pack::Workspace;
use anyhow::Result;

use crate::{no_arguments, setup, status, test};

/// With this in the environment a corpus test writes its expected files instead of comparing.
const BLESS: &str = "AGENT_BLESS";

/// What the names of these tests contain.
const CORPUS_TESTS: &str = "corpus";

pub(crate) fn command(workspace: &Workspace, arguments: &[&str]) -> Result<()> {
    no_arguments(arguments)?;
    setup::ensure(workspace)?;
    test::run_tests(workspace, &[CORPUS_TESTS], &[(BLESS, "1")])?;
    status::doing(
        "Blessed",
        "the corpus; look at `git diff` before committing",
    );
    Ok(())
}
