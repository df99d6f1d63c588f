//! The files of the page.

use agent_host::Failure;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// The variable with the folder of the page.
const VARIABLE: &str = "AGENT_PLAYGROUND";

/// Where a release has the page, below the folder with `bin`.
const BESIDE: &str = "share/agent-playground";

/// The file that keeps the page working without a network. Here it would answer with the files of an earlier program.
const SERVICE_WORKER: &str = "sw.js";

/// The first file of the page.
pub(crate) const INDEX: &str = "index.html";

/// The page, its files by their paths below its folder: no other file is served.
#[derive(Debug)]
pub struct Page(BTreeMap<String, Vec<u8>>);

impl Page {
    /// Returns the page of the folder that `AGENT_PLAYGROUND` names, or else the one that was installed with this
    /// program.
    ///
    /// # Errors
    ///
    /// When the folder can't be read or has no page, or there is none.
    pub fn usual() -> Result<Self, Failure> {
        let folder = usual_folder().ok_or_else(|| {
            let help = "unpack `agent-playground-VERSION.tar.gz` of the release beside the program, or name the folder of \
                        the page with `AGENT_PLAYGROUND`: `cargo xtask playground --dist` writes \
                        `target/dist/playground`";
            Failure::new("this program was installed without the page").help(help)
        })?;
        Self::of_folder(&folder)
    }

    /// Returns whether there is a page without a named folder.
    #[must_use]
    pub fn is_at_hand() -> bool {
        usual_folder().is_some()
    }

    /// Reads the page of a folder.
    ///
    /// # Errors
    ///
    /// When a file can't be read, or there is no page.
    pub fn of_folder(folder: &Path) -> Result<Self, Failure> {
        let folder_name = folder.display();
        let mut files = read(folder).map_err(|error| {
            Failure::new(format_args!("`{folder_name}` can't be read: {error}"))
        })?;
        if !files.contains_key(INDEX) {
            let help = "name a folder that `cargo xtask playground --dist` wrote";
            let message = format_args!("`{folder_name}` has no `{INDEX}`");
            return Err(Failure::new(message).help(help));
        }
        files.remove(SERVICE_WORKER);
        Ok(Self(files))
    }

    /// Returns a file of the page, by the path of a request, with its media type.
    pub(crate) fn file(&self, path: &str) -> Option<(&'static str, &[u8])> {
        let name = match path.strip_prefix('/')? {
            "" => INDEX,
            name => name,
        };
        Some((media_type(name), self.0.get(name)?))
    }
}

fn usual_folder() -> Option<PathBuf> {
    if let Some(folder) = env::var_os(VARIABLE) {
        return Some(folder.into());
    }
    let program = env::current_exe().ok()?;
    let folder = program.parent()?.parent()?.join(BESIDE);
    folder.is_dir().then_some(folder)
}

/// Reads all files of a folder.
fn read(folder: &Path) -> io::Result<BTreeMap<String, Vec<u8>>> {
    let mut files = BTreeMap::new();
    let mut waiting = vec![(folder.to_owned(), String::new())];
    while let Some((folder, before)) = waiting.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let name = path.file_name().and_then(|name| name.to_str());
            let name = name.ok_or_else(|| io::Error::other("a name of a file is not UTF-8"))?;
            let name = format!("{before}{name}");
            match path.is_dir() {
                true => waiting.push((path, name + "/")),
                false => {
                    files.insert(name, fs::read(path)?);
                }
            }
        }
    }
    Ok(files)
}

fn media_type(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("css") => "text/css; charset=utf-8",
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("json") => "application/json",
        Some("svg") => "image/svg+xml",
        Some("wasm") => "application/wasm",
        Some("webmanifest") => "application/manifest+json",
        _ => "text/plain; charset=utf-8",
    }
}

#[cfg(test)]
mod tests {
    use super::Page;
    use std::fs;

    #[test]
    fn the_files_of_a_folder_are_served_and_no_other() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("engine")).unwrap();
        fs::write(folder.path().join("index.html"), "<p>").unwrap();
        fs::write(folder.path().join("sw.js"), "x").unwrap();
        fs::write(folder.path().join("engine/a.wasm"), b"\0asm").unwrap();

        let page = Page::of_folder(folder.path()).unwrap();
        assert_eq!(
            page.file("/"),
            Some(("text/html; charset=utf-8", &b"<p>"[..]))
        );
        assert_eq!(
            page.file("/engine/a.wasm"),
            Some(("application/wasm", &b"\0asm"[..]))
        );
        for path in [
            "/sw.js",
            "/engine",
            "/../index.html",
            "/engine/../index.html",
            "index.html",
            "//",
        ] {
            assert_eq!(page.file(path), None, "{path}");
        }
    }

    #[test]
    fn a_folder_without_a_page_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let refused = Page::of_folder(folder.path()).unwrap_err();
        assert!(
            refused.message.ends_with("has no `index.html`"),
            "{refused}"
        );
    }
}
