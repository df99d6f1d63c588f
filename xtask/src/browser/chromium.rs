//! The browser that the tests run in.

use anyhow::{Context as _, Result};
use std::env;
use std::path::PathBuf;

use crate::{apt, process, status};

/// A browser, and the program that drives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Chromium {
    pub(crate) browser: PathBuf,
    pub(crate) driver: PathBuf,
}

/// Name the programs where they are not found by themselves. The tests see them as well.
pub(crate) const BROWSER_VARIABLE: &str = "CHROMIUM";
pub(crate) const DRIVER_VARIABLE: &str = "CHROMEDRIVER";

const BROWSER_NAMES: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];
const DRIVER_NAMES: [&str; 1] = ["chromedriver"];

/// Debian's.
const PACKAGES: [&str; 2] = ["chromium", "chromium-driver"];

/// Finds the browser, or installs it where that can be done.
pub(crate) fn ensure() -> Result<Chromium> {
    let chromium = match find() {
        Some(chromium) => chromium,
        None => apt::install(&PACKAGES)
            .and_then(|()| find().context("it is still not found after that"))
            .context(
                "the tests need Chromium and ChromeDriver: install them, or set CHROMIUM and \
                 CHROMEDRIVER to their programs",
            )?,
    };
    status::doing(
        "Ready",
        format_args!("browser {}", chromium.browser.display()),
    );
    Ok(chromium)
}

fn find() -> Option<Chromium> {
    Some(Chromium {
        browser: find_one(BROWSER_VARIABLE, &BROWSER_NAMES)?,
        driver: find_one(DRIVER_VARIABLE, &DRIVER_NAMES)?,
    })
}

fn find_one(variable: &str, names: &[&str]) -> Option<PathBuf> {
    let named = env::var_os(variable).filter(|value| !value.is_empty());
    named
        .map(PathBuf::from)
        .or_else(|| names.iter().find_map(|name| process::find(name)))
}
