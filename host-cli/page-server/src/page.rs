//! The files of the page.

use super::archive::{self, Files};
use agent_host::Failure;
use miniz_oxide::inflate::decompress_to_vec;
use std::env;
use std::path::Path;

/// The archive of the build, which is empty if it had no page.
const PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/page"));

/// The variable with the folder of the page. At the build of this program, it has the page that is packed.
const VARIABLE: &str = "AGENT_PLAYGROUND";

/// The file that keeps the page working without a network. Here it would answer with the files of an earlier program.
const SERVICE_WORKER: &str = "sw.js";

/// The first file of the page.
pub(crate) const INDEX: &str = "index.html";

/// The page: no other file is served.
#[derive(Debug)]
pub struct Page(Files);

impl Page {
    /// Returns the page of the folder that `AGENT_PLAYGROUND` names, or else the page in this program.
    ///
    /// # Errors
    ///
    /// When the folder can't be read or has no page, or the program was built without one.
    pub fn usual() -> Result<Self, Failure> {
        if let Some(folder) = env::var_os(VARIABLE) {
            return Self::of_folder(Path::new(&folder));
        }
        if PACKED.is_empty() {
            let help = "name the folder of the page with `AGENT_PLAYGROUND`: `cargo xtask playground --dist` writes \
                        `target/dist/playground`";
            return Err(Failure::new("this program was built without the page").help(help));
        }
        let files = unpack(PACKED);
        let damaged = || Failure::internal("the page can't be unpacked");
        files.map(Self::of).ok_or_else(damaged)
    }

    /// Returns whether there is a page without a named folder.
    #[must_use]
    pub fn is_at_hand() -> bool {
        !PACKED.is_empty() || env::var_os(VARIABLE).is_some()
    }

    /// Reads the page of a folder.
    ///
    /// # Errors
    ///
    /// When a file can't be read, or there is no page.
    pub fn of_folder(folder: &Path) -> Result<Self, Failure> {
        let folder_name = folder.display();
        let files = archive::read(folder).map_err(|error| {
            Failure::new(format_args!("`{folder_name}` can't be read: {error}"))
        })?;
        if !files.contains_key(INDEX) {
            let help = "name a folder that `cargo xtask playground --dist` wrote";
            let message = format_args!("`{folder_name}` has no `{INDEX}`");
            return Err(Failure::new(message).help(help));
        }
        Ok(Self::of(files))
    }

    fn of(mut files: Files) -> Self {
        files.remove(SERVICE_WORKER);
        Self(files)
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

/// Returns the files of an archive. Returns `None` if it is cut off.
fn unpack(packed: &[u8]) -> Option<Files> {
    let bytes = decompress_to_vec(packed).ok()?;
    let mut rest = &bytes[..];
    let mut part = || {
        let (len, behind) = rest.split_first_chunk()?;
        let len = usize::try_from(u64::from_le_bytes(*len)).ok()?;
        let (part, behind) = behind.split_at_checked(len)?;
        rest = behind;
        Some(part.to_vec())
    };
    let mut files = Files::new();
    while let Some(name) = part() {
        files.insert(String::from_utf8(name).ok()?, part()?);
    }
    Some(files)
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
    use super::{Page, archive, unpack};
    use std::fs;

    #[test]
    fn a_page_is_packed_with_its_folders_and_unpacked() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("engine")).unwrap();
        fs::write(folder.path().join("index.html"), "<p>").unwrap();
        fs::write(folder.path().join("sw.js"), "x").unwrap();
        fs::write(folder.path().join("engine/a.wasm"), b"\0asm").unwrap();
        let files = archive::read(folder.path()).unwrap();
        assert_eq!(
            files.keys().collect::<Vec<_>>(),
            ["engine/a.wasm", "index.html", "sw.js"]
        );
        let packed = archive::pack(&files);
        assert_eq!(unpack(&packed), Some(files));
        assert_eq!(unpack(&packed[..packed.len() - 4]), None);

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
