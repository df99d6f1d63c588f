//! A case in files.

use agent_diagnostic::Diagnostic;
use agent_tests::corpus::corpus;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Documents by their usual names.
pub(super) type Documents = BTreeMap<String, Vec<u8>>;

/// A question about broken documents, with its causes and with the documents after the fixes.
#[derive(Debug)]
pub(super) struct BrokenCase {
    pub(super) class: String,
    subject: String,
    /// `validate FILE`, `resolve` and so on.
    pub(super) ask: String,
    /// The documents of the base, all of them valid.
    pub(super) base: Documents,
    /// The same with the broken ones of the case.
    pub(super) documents: Documents,
    /// The documents that are expected after the fixes.
    pub(super) goal: Documents,
    pub(super) unsafe_fixes: bool,
    /// Whether there may be more errors than causes.
    pub(super) more: bool,
    pub(super) tenant_id: Option<String>,
    /// A document of the base that is not given.
    pub(super) absent: Option<String>,
    pub(super) causes: Vec<Cause>,
}

/// A cause of a refusal. Of alternatives, separated by `|`, any one will do.
#[derive(Debug)]
pub(super) struct Cause {
    codes: Vec<String>,
    /// The files in which the cause may be shown.
    pub(super) files: Vec<String>,
    /// Line and column. None: anywhere in the file.
    pub(super) place: Option<(usize, usize)>,
    /// The text at the place.
    pub(super) text: String,
    /// The words that the message or a fix must contain, each with its alternatives.
    words: Vec<Vec<String>>,
}

impl Cause {
    /// Reads `CODE file line:column "text" ; word, word`.
    fn read(line: &str) -> Self {
        let (head, words) = line.split_once(" ; ").unwrap_or((line, ""));
        let mut parts = head.splitn(4, ' ');
        let mut part = || parts.next().unwrap_or_default();
        let (codes, files, place, text) = (part(), part(), part(), part());
        let place = place.split_once(':').map(|(line, column)| {
            let number = |text: &str| text.parse().expect("a number");
            (number(line), number(column))
        });
        let quoted = text.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
        let words = words.split(", ").filter(|word| !word.is_empty());
        Self {
            codes: alternatives(codes),
            files: alternatives(files),
            place,
            text: quoted.unwrap_or_default().to_owned(),
            words: words.map(|it| alternatives(&it.to_lowercase())).collect(),
        }
    }

    /// Returns whether a diagnostic has the code, in the file.
    pub(super) fn is_named_by(&self, diagnostic: &Diagnostic) -> bool {
        let reason = diagnostic.reason.map(|code| code.name());
        let names = [Some(diagnostic.code.name()), reason];
        let names = names.into_iter().flatten();
        let file = diagnostic.labels.first();
        let file = file.map(|label| label.place.source.usual_name());
        let in_file = file.is_none_or(|name| self.files.iter().any(|file| file == name));
        in_file
            && names
                .into_iter()
                .any(|name| self.codes.iter().any(|it| it == name))
    }

    /// Returns whether the first label of a diagnostic begins at the place.
    pub(super) fn is_placed_by(&self, diagnostic: &Diagnostic) -> bool {
        let Some((line, column)) = self.place else {
            return true;
        };
        let start = diagnostic.labels.first().map(|label| label.place.start);
        start.is_some_and(|it| it.line as usize == line && it.column as usize == column)
    }

    /// Returns whether a diagnostic or one of its fixes contains the words.
    pub(super) fn is_worded_by(&self, diagnostic: &Diagnostic) -> bool {
        let labels = diagnostic.labels.iter().map(|label| &label.text);
        let fixes = diagnostic.fixes.iter().map(|fix| &fix.title);
        let texts = [&diagnostic.message].into_iter().chain(labels);
        let texts = texts.chain(&diagnostic.notes).chain(fixes);
        let text = texts.map(|it| it.to_lowercase() + "\n").collect::<String>();
        let told = |words: &Vec<String>| words.iter().any(|word| text.contains(word));
        self.words.iter().all(told)
    }
}

fn alternatives(text: &str) -> Vec<String> {
    text.split('|').map(str::to_owned).collect()
}

impl BrokenCase {
    /// The class and the subject: `syntax/three-commas-missing`.
    pub(super) fn name(&self) -> String {
        format!("{}/{}", self.class, self.subject)
    }

    /// Returns whether only a person can mend the documents.
    pub(super) fn is_left(&self) -> bool {
        self.goal == self.documents
    }

    fn read(class: &str, subject: &str) -> Self {
        let folder = corpus().join("broken").join(class).join(subject);
        let text = fs::read_to_string(folder.join("case.txt")).expect("a readable case");
        let value = |key: &str| {
            let mut lines = text.lines();
            lines.find_map(|line| Some(line.strip_prefix(key)?.strip_prefix(": ")?.to_owned()))
        };
        let required = |key: &str| value(key).unwrap_or_else(|| panic!("{subject}: no {key}"));
        let base = corpus().join("broken/base").join(required("base"));
        let base = files(&base);
        let absent = value("absent");
        let mut broken = files(&folder);
        broken.remove("case.txt");
        let mut documents = base.clone();
        documents.extend(broken.clone());
        if let Some(absent) = &absent {
            documents.remove(absent);
        }
        let mut goal = documents.clone();
        let fix = required("fix");
        match &*fix {
            "none" => {}
            "base" => goal.extend(base.clone()),
            folder_of_files => {
                let fixed = files(&folder.join(folder_of_files));
                assert!(!fixed.is_empty(), "{subject}: nothing in {folder_of_files}");
                goal.extend(fixed);
            }
        }
        let keys = ["ask", "base", "fix", "more", "tenant-id", "absent"];
        let is_cause = |line: &&str| !keys.iter().any(|key| line.starts_with(&format!("{key}: ")));
        let causes: Vec<_> = text.lines().filter(is_cause).map(Cause::read).collect();
        assert!(!causes.is_empty(), "{subject}: no cause");
        Self {
            class: class.to_owned(),
            subject: subject.to_owned(),
            ask: required("ask"),
            base,
            documents,
            goal,
            unsafe_fixes: fix == "fixed-unsafe",
            more: value("more").is_some(),
            tenant_id: value("tenant-id"),
            absent,
            causes,
        }
    }
}

/// Returns all cases, sorted by name.
pub(super) fn broken_cases() -> Vec<BrokenCase> {
    let broken = corpus().join("broken");
    let classes = folders(&broken).into_iter().filter(|class| class != "base");
    let mut cases = Vec::new();
    for class in classes {
        let subjects = folders(&broken.join(&class));
        let read = subjects
            .iter()
            .map(|subject| BrokenCase::read(&class, subject));
        cases.extend(read);
    }
    assert!(cases.len() >= 150, "only {} cases", cases.len());
    cases
}

fn folders(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a readable folder");
    let entries = entries.map(|entry| entry.expect("a readable entry"));
    let folders = entries.filter(|entry| entry.path().is_dir());
    let mut names: Vec<_> = folders
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

fn files(folder: &Path) -> Documents {
    let entries = fs::read_dir(folder).expect("a readable folder");
    let entries = entries.map(|entry| entry.expect("a readable entry"));
    let files = entries.filter(|entry| entry.path().is_file());
    files
        .map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            (name, fs::read(entry.path()).expect("a readable file"))
        })
        .collect()
}
