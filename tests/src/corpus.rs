//! Cases in files: inputs beside expected answers.
//!
//! With `AGENT_BLESS=1` in the environment the present answers become the expected ones. They show
//! what the engine does, not that it is right: review the change before committing it.

use crate::difference::difference;
use crate::native::Answers;
use crate::root;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// One folder of inputs and expectations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    folder: PathBuf,
}

impl Case {
    /// The area, the verdict and the subject: `resolve/accept/two-versions-of-one-id`.
    #[must_use]
    pub fn name(&self) -> String {
        let name = self.folder.strip_prefix(corpus()).unwrap_or(&self.folder);
        name.components()
            .map(|part| part.as_os_str().to_string_lossy())
            .collect::<Vec<_>>()
            .join("/")
    }

    /// Returns whether the case is in a folder `accept`, not in a folder `reject`.
    #[must_use]
    pub fn accepted(&self) -> bool {
        let parent = self.folder.parent().and_then(Path::file_name);
        match parent.and_then(|name| name.to_str()) {
            Some("accept") => true,
            Some("reject") => false,
            other => panic!("{}: {other:?} is neither accept nor reject", self.name()),
        }
    }

    /// Returns the bytes of an input, or `None` if the file does not exist.
    #[must_use]
    pub fn input(&self, file: &str) -> Option<Vec<u8>> {
        fs::read(self.folder.join(file)).ok()
    }

    /// Returns the names of the files in the folder, sorted.
    #[must_use]
    pub fn files(&self) -> Vec<String> {
        names(&self.folder)
    }

    /// Compares the answers with the files of expected answers: all of them must exist, and no
    /// others besides the inputs.
    pub fn check(&self, inputs: &[&str], found: &[(&str, &str)], failures: &mut Failures) {
        let expected_files = found.iter().map(|(file, _)| *file);
        let known: Vec<_> = inputs.iter().copied().chain(expected_files).collect();
        for file in self
            .files()
            .iter()
            .filter(|file| !known.contains(&&***file))
        {
            if blessing() {
                fs::remove_file(self.folder.join(file)).expect("a file that is there");
            } else {
                failures.add(
                    &self.name(),
                    format!("{file} is neither input nor expected"),
                );
            }
        }
        for (file, text) in found {
            let path = self.folder.join(file);
            failures.compare(&format!("{}/{file}", self.name()), &path, text);
        }
    }
}

/// The failures of cases.
#[derive(Debug, Default)]
pub struct Failures(Vec<String>);

impl Failures {
    /// Adds a failure.
    pub fn add(&mut self, case: &str, what: impl AsRef<str>) {
        self.0.push(format!("{case}: {}", what.as_ref()));
    }

    /// Compares a text with the file of the expected text, or blesses it.
    pub fn compare(&mut self, name: &str, path: &Path, found: &str) {
        match fs::read_to_string(path) {
            Ok(expected) if expected == found => {}
            _ if blessing() => fs::write(path, found).expect("the corpus can be written to"),
            Ok(expected) => {
                let difference = difference(&expected, found).unwrap_or_default();
                self.add(name, format!("expected -, found +, from {difference}"));
            }
            Err(error) => self.add(
                name,
                format!("nothing is expected ({error}); `cargo xtask bless` writes what is found:\n{found}"),
            ),
        }
    }

    /// Ends the test.
    ///
    /// # Panics
    /// If there is a failure.
    pub fn finish(self) {
        let count = self.0.len();
        assert!(count == 0, "{count} failures\n\n{}", self.0.join("\n"));
    }
}

/// Returns whether to write the expected answers instead of comparing them.
#[must_use]
pub fn blessing() -> bool {
    env::var_os("AGENT_BLESS").is_some_and(|value| !value.is_empty() && value != "0")
}

/// Returns the cases below a folder of the corpus, such as `resolve`, sorted by name.
///
/// # Panics
/// If there are no cases: a missing corpus must not pass.
#[must_use]
pub fn cases(area: &str) -> Vec<Case> {
    let folder = corpus().join(area);
    let mut cases = Vec::new();
    let holds_cases = names(&folder)
        .iter()
        .all(|name| ["accept", "reject"].contains(&&**name));
    let folders = if holds_cases {
        vec!["accept", "reject"]
    } else {
        vec![""]
    };
    for verdict in folders {
        let folder = folder.join(verdict);
        cases.extend(names(&folder).iter().map(|name| Case {
            folder: folder.join(name),
        }));
    }
    assert!(
        !cases.is_empty(),
        "there are no cases in {}",
        folder.display()
    );
    cases
}

/// Returns the folder of all cases.
#[must_use]
pub fn corpus() -> PathBuf {
    root().join("tests/corpus")
}

/// Returns one of several answers.
///
/// # Panics
/// If the answer does not exist.
#[must_use]
pub fn answer<'a>(answers: &'a Answers, name: &str) -> &'a str {
    answers
        .get(name)
        .unwrap_or_else(|| panic!("there is no answer {name}"))
}

fn names(folder: &Path) -> Vec<String> {
    let entries =
        fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut names: Vec<_> = entries
        .map(|entry| {
            entry
                .expect("a readable folder")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    names.sort();
    names
}
