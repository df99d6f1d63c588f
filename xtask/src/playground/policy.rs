//! The Content-Security-Policy of the page, which limits its sources.
//!
//! The policy is in the page itself, so that it applies in any folder of any server.

use anyhow::{Context as _, Result};

const POLICY: [(&str, &str); 10] = [
    ("default-src", "'none'"),
    // No inline script and no `eval`; only WebAssembly may be compiled.
    ("script-src", "'self' 'wasm-unsafe-eval'"),
    ("style-src", "'self'"),
    // The editor draws its underlines with small pictures in its styles.
    ("img-src", "'self' data:"),
    // The page fetches its own modules and can't send input anywhere else.
    ("connect-src", "'self'"),
    ("worker-src", "'self'"),
    ("manifest-src", "'self'"),
    ("base-uri", "'none'"),
    ("form-action", "'none'"),
    ("object-src", "'none'"),
];

const HEAD: &str = "<head>";

/// Adds the policy to the beginning of a page's head.
pub(super) fn add(page: &[u8]) -> Result<Vec<u8>> {
    let page = str::from_utf8(page).context("index.html is not UTF-8")?;
    let (before, after) = page
        .split_once(HEAD)
        .context("index.html has no `<head>`")?;
    let policy = POLICY.map(|(what, sources)| format!("{what} {sources}"));
    let policy = policy.join("; ");
    Ok(format!(
        "{before}{HEAD}\n    <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">{after}"
    )
    .into_bytes())
}

#[cfg(test)]
mod tests {
    use super::add;

    #[test]
    fn the_policy_comes_first_in_the_head() {
        let page = add(b"<html><head><script src=\"boot.js\"></script></head></html>").unwrap();
        let page = String::from_utf8(page).unwrap();
        let (policy, script) = (page.find("default-src 'none'; "), page.find("<script"));
        assert!(policy.is_some() && policy < script, "{page}");
        assert!(!page.contains("unsafe-inline"));
    }

    #[test]
    fn a_page_without_a_head_is_refused() {
        assert!(add(b"<html></html>").is_err());
    }
}
