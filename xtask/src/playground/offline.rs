//! The service worker, which keeps the page working without a network.
//!
//! `playground/static/sw.js` is a template without the list of files, which is known only after the
//! build.

use agent_pack::sha256;
use anyhow::{Result, bail};

use crate::folder::Files;

/// The file name of the service worker.
pub(super) const NAME: &str = "sw.js";

/// The two replaced lines of the template.
const VERSION: &str = "const VERSION = \"\";";
const FILES: &str = "const FILES = [];";

/// Fills in the template for `files`. The version changes with any file.
pub(super) fn service_worker(template: &[u8], files: &Files) -> Result<Vec<u8>> {
    let template = String::from_utf8_lossy(template);
    for line in [VERSION, FILES] {
        if template.matches(line).count() != 1 {
            bail!("playground/static/{NAME} must contain the line `{line}` exactly once");
        }
    }
    let mut list = String::new();
    for (name, bytes) in files {
        list += &format!("  [\"{name}\", \"{}\"],\n", sha256(bytes));
    }
    let version = sha256((list.clone() + &template).as_bytes());
    let worker = template
        .replace(VERSION, &format!("const VERSION = \"{version}\";"))
        .replace(FILES, &format!("const FILES = [\n{list}];"));
    Ok(worker.into_bytes())
}

#[cfg(test)]
mod tests {
    use super::service_worker;
    use crate::folder::Files;

    const TEMPLATE: &[u8] = b"const VERSION = \"\";\nconst FILES = [];\n";

    fn filled(page: &str) -> String {
        let files = Files::from([("index.html".to_owned(), page.as_bytes().to_vec())]);
        String::from_utf8(service_worker(TEMPLATE, &files).unwrap()).unwrap()
    }

    #[test]
    fn a_change_of_any_file_is_a_new_version() {
        let version = |page: &str| filled(page).lines().next().unwrap().to_owned();
        assert_eq!(version("one"), version("one"));
        assert_ne!(version("one"), version("two"));
        assert!(filled("one").contains("  [\"index.html\", \""));
    }

    #[test]
    fn a_template_without_its_lines_is_refused() {
        assert!(service_worker(b"", &Files::new()).is_err());
    }
}
