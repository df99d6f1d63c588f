//! The toolchain for wasm: found or installed.
//!
//! | origin | machines |
//! |---|---|
//! | the installed rustc | those whose compiler has the target |
//! | [`rustup`] | those whose rustup can download |
//! | [`debian`] | Debian without rustup: the standard library is built from Debian's sources |

#[cfg(unix)]
mod debian;
mod rustc;
mod rustup;

use agent_pack::{TARGET, Toolchain, Workspace};
use anyhow::{Result, bail};
use std::process::Command;

use crate::{process, status};

/// Finds or installs the toolchain for wasm, and records it for the builds.
pub(crate) fn ensure(workspace: &Workspace) -> Result<Toolchain> {
    let toolchain = match recorded(workspace) {
        Some(toolchain) => toolchain,
        None => {
            let toolchain = first_of(&[
                &rustc::find,
                &rustup::add,
                #[cfg(unix)]
                &|| debian::provide(workspace),
            ])?;
            toolchain.save(workspace)?;
            toolchain
        }
    };
    status::doing(
        "Ready",
        format_args!("{TARGET}: {}, {}", toolchain.source, toolchain.version),
    );
    Ok(toolchain)
}

/// Returns the target triple of the machine that a rustc runs on.
pub(crate) fn host(rustc: &str) -> Result<String> {
    let triple = process::output(Command::new(rustc).args(["--print", "host-tuple"]))?;
    Ok(triple.trim_end().to_owned())
}

/// Returns the toolchain of an earlier set-up, if it still works.
fn recorded(workspace: &Workspace) -> Option<Toolchain> {
    let toolchain = Toolchain::find(workspace).ok()?;
    (toolchain.cargo.exists() && rustc::has_target(&mut toolchain.rustc())).then_some(toolchain)
}

/// A way to a toolchain.
type Way<'a> = &'a dyn Fn() -> Result<Toolchain>;

/// Takes the first way that provides a toolchain. Otherwise the error lists the reason of each way.
fn first_of(ways: &[Way<'_>]) -> Result<Toolchain> {
    let mut reasons = Vec::new();
    for way in ways {
        match way() {
            Ok(toolchain) => return Ok(toolchain),
            Err(error) => reasons.push(format!("{error:#}")),
        }
    }
    bail!("there is no toolchain for {TARGET}: {}", reasons.join("; "))
}

#[cfg(test)]
mod tests {
    use super::first_of;
    use agent_pack::{Source, Toolchain};
    use anyhow::{Result, bail};
    use std::cell::RefCell;

    fn toolchain(source: Source) -> Toolchain {
        Toolchain {
            source,
            cargo: "/somewhere/cargo".into(),
            bin: "/somewhere".into(),
            version: "rustc 1.95.0".to_owned(),
        }
    }

    /// Tries three ways of which only `good` works, and returns the tried ones.
    fn try_with(good: Option<Source>) -> (Result<Toolchain>, Vec<Source>) {
        let tried = RefCell::new(Vec::new());
        let way = |source: Source, reason: &'static str| {
            let tried = &tried;
            move || {
                tried.borrow_mut().push(source);
                if good != Some(source) {
                    bail!(reason);
                }
                Ok(toolchain(source))
            }
        };
        let found = first_of(&[
            &way(Source::Rustc, "rustc has no such target"),
            &way(Source::Rustup, "rustup is not there"),
            &way(Source::Debian, "this is not Debian"),
        ]);
        (found, tried.into_inner())
    }

    #[test]
    fn the_first_working_way_is_taken() {
        use Source::{Debian, Rustc, Rustup};
        for (good, tried) in [
            (Rustc, &[Rustc][..]),
            (Rustup, &[Rustc, Rustup]),
            (Debian, &[Rustc, Rustup, Debian]),
        ] {
            let (found, attempts) = try_with(Some(good));
            assert_eq!(found.unwrap().source, good);
            assert_eq!(attempts, tried);
        }
    }

    #[test]
    fn the_error_lists_the_reason_of_each_way() {
        assert_eq!(
            try_with(None).0.unwrap_err().to_string(),
            "there is no toolchain for wasm32-unknown-unknown: rustc has no such target; \
             rustup is not there; this is not Debian"
        );
    }
}
