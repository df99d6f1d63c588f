//! What the files of an application declare: its dependencies, by names and versions alone.
//!
//! A file may have more than that. What says where a package comes from, or how it is built, is refused with its
//! line: the registries are those of the host.

mod cargo_lock;
mod cargo_toml;
mod go_mod;
mod go_sum;
mod package_json;
mod package_lock;
mod requirements_txt;

use super::document::text;
use super::failure::{ErrorCode, Failure, Problems, quoted};
use super::language::{Language, Requirement};
use super::limits::DECLARING_FILE_MAX_BYTES;
use super::resolution::merge;

/// The files of an application that declare dependencies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declared {
    /// The language.
    pub language: Language,
    /// Whether the lock file must exist.
    pub locked: bool,
    /// The files below `source/`, in order. A lock file may be missing, unless it must exist, and so may `go.mod`.
    pub files: Vec<String>,
}

/// A file that declares dependencies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaringFile {
    /// The path below `source/`.
    pub path: String,
    /// The bytes.
    pub content: Vec<u8>,
}

/// What files declare.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Declaration {
    /// The dependencies, each once.
    pub requirements: Vec<Requirement>,
    /// The lock file without the places of packages, for the client of the registry. That of Go is `go.sum`.
    pub lock: Option<String>,
    /// The directives of `go.mod` by which the module itself is compiled, such as its name.
    pub manifest: Option<String>,
}

impl Declared {
    /// Returns the usual files of a language.
    pub fn usual(language: Language, locked: bool) -> Self {
        let files = match language {
            Language::Python => &["requirements.txt"][..],
            Language::Node => &["package.json", LOCK_OF_NODE],
            Language::Go => &[MANIFEST_OF_GO, LOCK_OF_GO, VENDORED_OF_GO],
            Language::Rust => &["Cargo.toml", LOCK_OF_RUST],
        };
        Self {
            language,
            locked,
            files: files.iter().map(|it| (*it).to_owned()).collect(),
        }
    }

    /// Reads the files that exist.
    ///
    /// # Errors
    /// `E_BUILD`, with every problem and its line: a file is missing, can't be read, or declares something else than
    /// names and versions.
    pub fn read(&self, present: &[DeclaringFile]) -> Result<Declaration, Failure> {
        if present.iter().any(|it| it.path == VENDORED_OF_GO) {
            // The application has its modules, and needs no other ones.
            return Ok(Declaration::default());
        }
        let mut problems = Problems::new();
        let mut declaration = Declaration::default();
        let mut declared = Vec::new();
        for path in &self.files {
            let is_lock = matches!(
                &**path,
                LOCK_OF_NODE | LOCK_OF_RUST | LOCK_OF_GO | VENDORED_OF_GO
            );
            let Some(file) = present.iter().find(|it| it.path == *path) else {
                // A file of Go alone is no module, and runs.
                let is_needed = !is_lock && path != MANIFEST_OF_GO;
                if is_needed || self.locked {
                    let message = format!("there is no file {}", quoted(path));
                    problems.add(message, "add the file, or name the packages in the command");
                }
                continue;
            };
            let content = text(&file.content, DECLARING_FILE_MAX_BYTES, path);
            let content = match content {
                Ok(content) => content,
                Err(failure) => {
                    problems.take(failure);
                    continue;
                }
            };
            let content = content.strip_prefix('\u{feff}').unwrap_or(&content);
            let mut reader = Reader {
                path,
                problems: &mut problems,
            };
            match (self.language, is_lock) {
                (Language::Node, true) => {
                    declaration.lock = package_lock::read(content, &mut reader)
                }
                (Language::Rust, true) => declaration.lock = cargo_lock::read(content, &mut reader),
                (Language::Go, true) => declaration.lock = go_sum::read(content, &mut reader),
                (Language::Python, _) => {
                    declared.extend(requirements_txt::read(content, &mut reader))
                }
                (Language::Node, _) => declared.extend(package_json::read(content, &mut reader)),
                (Language::Go, false) => {
                    let (requirements, own) = go_mod::read(content, &mut reader);
                    declared.extend(requirements);
                    declaration.manifest = Some(own);
                }
                (Language::Rust, _) => declared.extend(cargo_toml::read(content, &mut reader)),
            }
        }
        problems.finish(ErrorCode::Build)?;
        declaration.requirements = merge(&declared).map_err(|failure| Failure {
            code: ErrorCode::Build,
            ..failure
        })?;
        Ok(declaration)
    }
}

const MANIFEST_OF_GO: &str = "go.mod";
const LOCK_OF_GO: &str = "go.sum";
const VENDORED_OF_GO: &str = "vendor/modules.txt";
const LOCK_OF_NODE: &str = "package-lock.json";
const LOCK_OF_RUST: &str = "Cargo.lock";

/// The problems of a file.
struct Reader<'r> {
    path: &'r str,
    problems: &'r mut Problems,
}

impl Reader<'_> {
    /// Adds a problem of a line.
    fn refuse(&mut self, line: usize, message: impl AsRef<str>, hint: &str) {
        let message = format!("`{}`, line {line}: {}", self.path, message.as_ref());
        self.problems.add(message, hint);
    }

    /// Reads a dependency, or adds its problem.
    fn requirement(
        &mut self,
        line: usize,
        language: Language,
        (name, extras, versions): (&str, Vec<String>, &str),
    ) -> Option<Requirement> {
        match Requirement::declared(language, name, extras, versions) {
            Ok(requirement) => Some(requirement),
            Err(fault) => {
                let message = format!(
                    "the dependency {} {fault}",
                    quoted(&format!("{name} {versions}"))
                );
                self.refuse(line, message, PLAIN);
                None
            }
        }
    }
}

/// What to do about a dependency in another form.
const PLAIN: &str =
    "declare a package of the registry by its name, with a version or a range of versions";

/// Returns the number of a line, from 1, by the offset of a byte in it.
fn line_of(text: &str, offset: u32) -> usize {
    let before = text.as_bytes().iter().take(offset as usize);
    1 + before.filter(|byte| **byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::{Declaration, Declared, DeclaringFile};
    use crate::failure::{ErrorCode, Failure};
    use crate::language::Language;
    use crate::limits::DECLARING_FILE_MAX_BYTES;
    use proptest::prelude::*;

    /// Reads the usual files of a language.
    pub(super) fn read(language: Language, files: &[(&str, &str)]) -> Result<Declaration, Failure> {
        let files = files.iter().map(|(path, content)| DeclaringFile {
            path: (*path).to_owned(),
            content: content.as_bytes().to_vec(),
        });
        Declared::usual(language, false).read(&files.collect::<Vec<_>>())
    }

    /// Returns the dependencies in one text, or the messages.
    pub(super) fn shown(language: Language, file: &str, content: &str) -> String {
        match read(language, &[(file, content)]) {
            Ok(declaration) => {
                let texts = declaration.requirements.iter().map(|it| {
                    let bare = if it.default_features { "" } else { " bare" };
                    format!("{}{bare}", it.text())
                });
                texts.collect::<Vec<_>>().join(" ")
            }
            Err(failure) => {
                assert_eq!(failure.code, ErrorCode::Build);
                assert!(!failure.hints.is_empty(), "{failure:?}");
                failure.message
            }
        }
    }

    #[test]
    fn files_must_exist_and_have_a_size_and_an_encoding() {
        for language in [Language::Python, Language::Node, Language::Rust] {
            let failure = read(language, &[]).expect_err("no file");
            assert_eq!(failure.code, ErrorCode::Build);
            assert!(
                failure.message.starts_with("there is no file `"),
                "{failure:?}"
            );
        }
        let locked = Declared::usual(Language::Node, true);
        let file = |path: &str, content: &[u8]| DeclaringFile {
            path: path.to_owned(),
            content: content.to_vec(),
        };
        let failure = locked
            .read(&[file("package.json", b"{}")])
            .expect_err("no lock file");
        assert_eq!(failure.message, "there is no file `package-lock.json`");
        let python = Declared::usual(Language::Python, false);
        for (content, message) in [
            (
                vec![b'#'; DECLARING_FILE_MAX_BYTES + 1],
                "requirements.txt has 4194305 bytes",
            ),
            (vec![0xff], "requirements.txt is not UTF-8"),
        ] {
            let failure = python.read(&[file("requirements.txt", &content)]);
            let failure = failure.expect_err(message);
            assert!(failure.message.starts_with(message), "{failure:?}");
            assert_eq!(failure.code, ErrorCode::Build);
        }
        let most = vec![b'#'; DECLARING_FILE_MAX_BYTES];
        assert!(python.read(&[file("requirements.txt", &most)]).is_ok());
    }

    #[test]
    fn two_files_of_python_are_read_together() {
        let files = ["a.txt", "b.txt"].map(str::to_owned).to_vec();
        let declared = Declared {
            files,
            ..Declared::usual(Language::Python, false)
        };
        let read = |other: &str| {
            let file = |path: &str, content: &str| DeclaringFile {
                path: path.to_owned(),
                content: content.into(),
            };
            let read = declared.read(&[file("b.txt", other), file("a.txt", "flask==3.0.3")]);
            read.map_err(|it| it.message)
        };
        assert_eq!(read("Flask\n").expect("flask").requirements.len(), 1);
        let message = "`flask` is required in the versions 3.0.3 and 3.0.4";
        assert_eq!(read("flask==3.0.4"), Err(message.to_owned()));
    }

    proptest! {
        #[test]
        fn no_file_panics(text in r#"([a-z \n={}\[\]":,.^1-3@/-]|\PC){0,80}"#) {
            for language in Language::ALL {
                for path in Declared::usual(language, false).files {
                    let _ = read(language, &[(&path, &text)]);
                }
            }
        }
    }
}
