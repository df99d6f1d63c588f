//! rustup, which downloads the target.

use agent_pack::{Source, TARGET, Toolchain};
use anyhow::Result;
use std::process::Command;
use std::time::Duration;

use super::rustc;
use crate::{process, status};

/// The time limit for a download of 20 MB. Without a network rustup retries for very long.
const LIMIT: Duration = Duration::from_secs(120);

/// Adds the target to the installed rustc.
pub(super) fn add() -> Result<Toolchain> {
    status::doing(
        "Adding",
        format_args!(
            "{TARGET} with rustup, for at most {} seconds",
            LIMIT.as_secs()
        ),
    );
    process::run_within(
        LIMIT,
        Command::new("rustup").args(["target", "add", TARGET]),
    )?;
    rustc::describe(Source::Rustup)
}
