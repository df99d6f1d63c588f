//! `Cargo.lock` of Cargo.

use super::cargo_toml::Lines;
use super::{PLAIN, Reader};
use crate::failure::quoted;
use agent_syntax::members::{items, member, string};
use agent_syntax::{Node, Value, json_string, toml};

/// The versions of the format that are read.
const FORMATS: [&str; 2] = ["3", "4"];

/// The source of the crates of crates.io.
const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Returns the lock file with the crates of crates.io alone.
pub(super) fn read(text: &str, reader: &mut Reader<'_>) -> Option<String> {
    let lines = Lines::new(text);
    let root = match toml::parse(text) {
        Ok(root) => root,
        Err(error) => {
            reader.refuse(lines.of(error.span), error.message, AGAIN);
            return None;
        }
    };
    let format = match member(&root, "version").map(|it| &it.value) {
        Some(Value::Number(format)) if FORMATS.contains(format) => format,
        _ => {
            reader.refuse(1, "the lock file is of an unknown version", AGAIN);
            return None;
        }
    };
    let mut lock = format!("version = {format}\n");
    let packages = member(&root, "package").and_then(items);
    for package in packages.unwrap_or_default() {
        // A package of the application.
        if member(package, "source").is_none() {
            continue;
        }
        match entry(package) {
            Some(entry) => lock.push_str(&entry),
            None => {
                let name = member(package, "name").and_then(string);
                let name = quoted(name.unwrap_or_default());
                let message = format!("the package {name} is no crate of crates.io with a digest");
                reader.refuse(lines.of(package.span), message, PLAIN);
            }
        }
    }
    Some(lock)
}

/// What to do about a file that can't be read.
const AGAIN: &str = "make the file again with `cargo generate-lockfile`";

/// Returns the text of a package; `None` if it is not one of crates.io.
fn entry(package: &Node<'_>) -> Option<String> {
    let mut text = "\n[[package]]\n".to_owned();
    for name in ["name", "version", "source", "checksum"] {
        let value = string(member(package, name)?)?;
        if name == "source" && value != CRATES_IO {
            return None;
        }
        text.push_str(&format!("{name} = {}\n", quoted_text(value)?));
    }
    if let Some(dependencies) = member(package, "dependencies").and_then(items) {
        text.push_str("dependencies = [\n");
        for item in dependencies {
            text.push_str(&format!(" {},\n", quoted_text(string(item)?)?));
        }
        text.push_str("]\n");
    }
    Some(text)
}

/// Returns a text as TOML has it; `None` for one that is in no lock file.
fn quoted_text(text: &str) -> Option<String> {
    let is_plain = text.chars().all(|c| c.is_ascii_graphic() || c == ' ');
    is_plain.then(|| json_string(text))
}

#[cfg(test)]
mod tests {
    use crate::declared::tests::read;
    use crate::language::Language;

    fn lock(text: &str) -> Result<Option<String>, String> {
        let files = [("Cargo.toml", ""), ("Cargo.lock", text)];
        read(Language::Rust, &files)
            .map(|it| it.lock)
            .map_err(|it| it.message)
    }

    #[test]
    fn a_lock_file_keeps_the_crates_of_the_registry() {
        let of = |source: &str| {
            format!(
                "# generated\nversion = 4\n\n[[package]]\nname = \"app\"\nversion = \"0.1.0\"\ndependencies = [\n \"a\",\n]\n\n[[package]]\nname = \"a\"\nversion = \"1.0.0\"\n{source}dependencies = [\n \"b 1.0.0\",\n]\n"
            )
        };
        let source = "source = \"registry+https://github.com/rust-lang/crates.io-index\"\n";
        let whole = format!("{source}checksum = \"ab\"\n");
        let expected = format!(
            "version = 4\n\n[[package]]\nname = \"a\"\nversion = \"1.0.0\"\n{whole}dependencies = [\n \"b 1.0.0\",\n]\n"
        );
        assert_eq!(lock(&of(&whole)), Ok(Some(expected)));
        let refused =
            "`Cargo.lock`, line 11: the package `a` is no crate of crates.io with a digest";
        for other in [
            source,
            "source = \"git+https://x/a#1\"\nchecksum = \"ab\"\n",
            "source = \"sparse+https://x/\"\nchecksum = \"ab\"\n",
        ] {
            assert_eq!(lock(&of(other)), Err(refused.to_owned()));
        }
        for (text, message) in [
            (
                "",
                "`Cargo.lock`, line 1: the lock file is of an unknown version",
            ),
            (
                "version = 2",
                "`Cargo.lock`, line 1: the lock file is of an unknown version",
            ),
            (
                "version = 4\n[",
                "`Cargo.lock`, line 2: unquoted keys cannot be empty",
            ),
        ] {
            assert_eq!(lock(text), Err(message.to_owned()));
        }
    }
}
