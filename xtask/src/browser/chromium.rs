//! The browser of the tests.

use anyhow::{Context as _, Result};
use std::env;
use std::path::PathBuf;

use crate::{apt, process, status};

/// A browser and its driver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Chromium {
    pub(crate) browser: PathBuf,
    pub(crate) driver: PathBuf,
}

/// The variables that name the programs. The tests read them too.
pub(crate) const BROWSER_VARIABLE: &str = "CHROMIUM";
pub(crate) const DRIVER_VARIABLE: &str = "CHROMEDRIVER";

const BROWSER_NAMES: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];
const DRIVER_NAMES: [&str; 1] = ["chromedriver"];

/// The packages of Debian.
const PACKAGES: [&str; 2] = ["chromium", "chromium-driver"];

/// Finds the browser, or installs it with apt.
pub(crate) fn ensure() -> Result<Chromium> {
    let chromium = match find() {
        Some(chromium) => chromium,
        None => apt::install(&PACKAGES)
            .and_then(|()| find().context("the installed packages contain no browser or no driver"))
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
