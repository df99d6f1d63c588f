//! Cases in files: inputs beside expected answers.
//!
//! A case holds what differs from its base: a file that it lacks is the file of its base. The base is
//! the case that `case.txt` names, or else the folder `base` of the area, if there is one.
//!
//! ```text
//! base: call/reject/an-unknown-argument
//! absent: agents.lock
//! ```
//!
//! `absent` names a file of the base that the case does without.
//!
//! With `AGENT_BLESS=1` in the environment the present answers become the expected ones. They show
//! what the engine does, not that it is right: review the change before committing it.

use crate::difference::difference;
use crate::native::Answers;
use crate::root;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// The file in which a case names its base.
const CASE: &str = "case.txt";

/// The folder of an area whose files apply to each of its cases.
const BASE: &str = "base";

/// One folder of inputs and expectations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    folder: PathBuf,
    base: Option<Box<Case>>,
    absent: Vec<String>,
}

impl Case {
    /// Opens the case of a name.
    ///
    /// # Panics
    /// If the case or its base does not exist, or `case.txt` is malformed.
    #[must_use]
    pub fn named(name: &str) -> Self {
        let folder = corpus().join(name);
        assert!(folder.is_dir(), "there is no case {name}");
        let text = fs::read_to_string(folder.join(CASE)).unwrap_or_default();
        let mut named = None;
        let mut absent = Vec::new();
        for line in text.lines() {
            match line.split_once(": ") {
                Some(("base", base)) if named.is_none() => named = Some(Self::base(name, base)),
                Some(("absent", file)) => absent.push(file.to_owned()),
                _ => panic!("{name}/{CASE} contains `{line}`"),
            }
        }
        let shared = format!("{}/{BASE}", area(name));
        let has_shared = name != shared && corpus().join(&shared).is_dir();
        let base = named.or_else(|| has_shared.then(|| Self::named(&shared)));
        let case = Self {
            folder,
            base: base.map(Box::new),
            absent,
        };
        for file in &case.absent {
            let inherited = case.base.as_ref().and_then(|base| base.path(file));
            assert!(inherited.is_some(), "{name}: its base has no {file} either");
        }
        case
    }

    /// Opens the base that a case names. It is a case of the same area and names no base itself, so
    /// that one more file explains every case, and no two name each other.
    fn base(name: &str, base: &str) -> Self {
        assert_eq!(
            area(base),
            area(name),
            "{name}: its base is of another area"
        );
        let text = fs::read_to_string(corpus().join(base).join(CASE)).unwrap_or_default();
        let names_another = text.lines().any(|line| line.starts_with("base: "));
        assert!(!names_another, "{name}: its base names a base itself");
        Self::named(base)
    }

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

    /// Returns the bytes of a file of the case or of its base, or `None` if neither has it.
    ///
    /// # Panics
    /// If the file cannot be read.
    #[must_use]
    pub fn input(&self, file: &str) -> Option<Vec<u8>> {
        let path = self.path(file)?;
        Some(fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
    }

    /// Returns the names of the files of the case and of its base, sorted.
    #[must_use]
    pub fn files(&self) -> Vec<String> {
        let inherited = self.base.iter().flat_map(|base| base.files());
        let inherited = inherited.filter(|file| !self.absent.contains(file));
        let files: BTreeSet<_> = self.own_files().into_iter().chain(inherited).collect();
        files.into_iter().collect()
    }

    /// Returns the names of the files that the case itself holds, sorted.
    fn own_files(&self) -> Vec<String> {
        let mut files = names(&self.folder);
        files.retain(|file| file != CASE);
        files
    }

    /// Returns the path of a file, which may be in the base.
    fn path(&self, file: &str) -> Option<PathBuf> {
        let own = self.folder.join(file);
        if own.is_file() {
            return Some(own);
        }
        self.inherited(file)
    }

    /// Returns the path of a file in the base, unless the case does without it.
    fn inherited(&self, file: &str) -> Option<PathBuf> {
        if self.absent.iter().any(|absent| absent == file) {
            return None;
        }
        self.base.as_ref()?.path(file)
    }

    /// Reports each file that the case need not hold because its base has the same.
    pub fn report_copies(&self, failures: &mut Failures) {
        for file in self.own_files() {
            let Some(inherited) = self.inherited(&file) else {
                continue;
            };
            if fs::read(self.folder.join(&file)).ok() == fs::read(&inherited).ok() {
                let inherited = inherited.display();
                failures.add(&self.name(), format!("{file} is a copy of {inherited}"));
            }
        }
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
            let own = self.folder.join(file);
            if blessing() && own.is_file() {
                fs::remove_file(own).expect("a file that is there");
            } else {
                failures.add(
                    &self.name(),
                    format!("{file} is neither input nor expected"),
                );
            }
        }
        for (file, text) in found {
            let own = self.folder.join(file);
            let inherited = self.inherited(file);
            if blessing() && inherited.as_ref().is_some_and(|path| holds(path, text)) {
                if own.is_file() {
                    fs::remove_file(own).expect("a file that is there");
                }
                continue;
            }
            let expected = match inherited {
                Some(inherited) if !own.is_file() && !blessing() => inherited,
                _ => own,
            };
            failures.compare(&format!("{}/{file}", self.name()), &expected, text);
        }
    }
}

/// Returns the area of a name of a case.
fn area(name: &str) -> &str {
    name.split('/').next().unwrap_or_default()
}

fn holds(path: &Path, text: &str) -> bool {
    fs::read(path).is_ok_and(|bytes| bytes == text.as_bytes())
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
    let mut cases = Vec::new();
    let has_verdicts = corpus().join(area).join("accept").is_dir();
    let folders = if has_verdicts {
        vec![format!("{area}/accept"), format!("{area}/reject")]
    } else {
        vec![area.to_owned()]
    };
    for folder in folders {
        let mut subjects = names(&corpus().join(&folder));
        subjects.retain(|name| name != BASE && corpus().join(&folder).join(name).is_dir());
        cases.extend(
            subjects
                .iter()
                .map(|name| Case::named(&format!("{folder}/{name}"))),
        );
    }
    assert!(!cases.is_empty(), "there are no cases in {area}");
    if blessing() {
        // A case is compared with the blessed answers of its base.
        cases.sort_by_key(|case| case.folder.join(CASE).is_file());
    }
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
