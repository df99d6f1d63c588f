//! The folder of a run: its files, as texts and trees.

use agent_api::diagnostic::{Code, Diagnostic, Fix, Problems};
use agent_api::lower::bytes_digest;
use agent_api::text::{DocumentKind, Span, Text, hexadecimal};
use agent_lower::decode;
use agent_syntax::Node;
use agent_syntax::json::parse;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// Maximum number of files of a run.
pub const FILES_LIMIT: usize = 20_000;

/// Maximum size of a file, in bytes.
pub const FILE_LIMIT: usize = 64 << 20;

/// Maximum size of all files, in bytes.
pub const FOLDER_LIMIT: usize = 256 << 20;

/// A file below the folder of a run.
#[derive(Debug, Clone)]
pub struct EvidenceFile {
    /// The path below the folder; `/` separates its parts.
    pub path: String,
    /// The content.
    pub content: Vec<u8>,
}

/// The files of a run. Diagnostics refer to a file by its number in the list.
#[derive(Debug)]
pub struct Folder {
    files: Vec<File>,
    by_path: BTreeMap<String, usize>,
    problems: Vec<Diagnostic>,
    /// The ids that the folders' names are, each with the pointer to it in a summary.
    names: Vec<(&'static str, String)>,
}

/// A file, decoded.
#[derive(Debug)]
pub(crate) struct File {
    pub(crate) path: String,
    pub(crate) bytes: u64,
    /// `sha256-` and base64.
    pub(crate) digest: String,
    /// The same in lower-case hexadecimal digits.
    pub(crate) sha256: String,
    /// The text; empty if it is not UTF-8 or too large.
    pub(crate) text: Text,
}

impl Folder {
    /// Decodes the files of a run. Files beyond the limits are reported and have no text.
    #[must_use]
    pub fn new(files: Vec<EvidenceFile>) -> Self {
        let mut folder = Self {
            files: Vec::new(),
            by_path: BTreeMap::new(),
            problems: Vec::new(),
            names: Vec::new(),
        };
        let mut left = FOLDER_LIMIT;
        for (file, number) in files.into_iter().zip(0..) {
            let limit = left.min(FILE_LIMIT);
            left = left.saturating_sub(file.content.len());
            folder.add(file, number, limit);
        }
        folder
    }

    /// Adds the path of the folder, as far as it is known: `REQUEST/runs/RUN`. Its names have to be the ids
    /// of the run \[3\].
    #[must_use]
    pub fn at(mut self, path: &str) -> Self {
        let mut parts = path.rsplit('/').filter(|part| !part.is_empty());
        if let Some(run) = parts.next() {
            self.names.push(("/run_id", run.to_owned()));
        }
        let request = parts.next().filter(|part| *part == "runs");
        if let Some(request) = request.and_then(|_| parts.next()) {
            self.names.push(("/request_id", request.to_owned()));
        }
        self
    }

    /// Returns the ids that the folders' names are, each with the pointer to it in a summary.
    pub(crate) fn names(&self) -> &[(&'static str, String)] {
        &self.names
    }

    fn add(&mut self, file: EvidenceFile, number: u32, limit: usize) {
        let (bytes, digest) = (file.content.len() as u64, bytes_digest(&file.content));
        let sha256 = Sha256::digest(&file.content);
        let sha256 = hexadecimal(&sha256);
        let kind = DocumentKind::Evidence;
        let limit = if self.files.len() < FILES_LIMIT {
            limit
        } else {
            0
        };
        let text = decode(kind, file.content, limit).unwrap_or_else(|found| {
            self.problems.extend(found.into_iter().map(|mut problem| {
                problem.message = format!("{}: {}", quoted(&file.path), problem.message);
                for label in &mut problem.labels {
                    label.place.number = number;
                }
                problem
            }));
            Text::new(kind, String::new())
        });
        self.by_path
            .entry(file.path.clone())
            .or_insert(self.files.len());
        self.files.push(File {
            path: file.path,
            bytes,
            digest,
            sha256,
            text: text.numbered(number),
        });
    }

    pub(crate) fn files(&self) -> &[File] {
        &self.files
    }

    /// Returns the problems of files that can't be decoded.
    pub(crate) fn problems(&self) -> &[Diagnostic] {
        &self.problems
    }

    /// Returns the number of the file of a path.
    pub(crate) fn find(&self, path: &str) -> Option<usize> {
        self.by_path.get(path).copied()
    }

    /// Returns the file of a path.
    pub(crate) fn file(&self, path: &str) -> Option<&File> {
        self.files.get(self.find(path)?)
    }
}

impl File {
    /// Parses the file as strict JSON.
    ///
    /// # Errors
    /// The problems of the text. Evidence is never edited, so they have no fixes.
    pub(crate) fn parse(&self) -> Result<Node<'_>, Vec<Diagnostic>> {
        let mut problems = Problems::new(&self.text);
        let root = parse(&mut problems);
        let found = problems.finish();
        match root.filter(|_| found.is_empty()) {
            Some(root) => Ok(root),
            None => Err(found
                .into_iter()
                .map(|problem| Diagnostic {
                    fixes: vec![Fix::display(Code::EvidenceChanged.help())],
                    ..problem
                })
                .collect()),
        }
    }

    /// Returns the span of the first line's beginning, for problems of the whole file.
    pub(crate) fn start(&self) -> Span {
        Span::new(0, 0)
    }
}

/// Maximum number of characters of a quoted value.
const QUOTE_LIMIT: usize = 80;

/// Returns a value of evidence in backquotes, cut off where it is long. Characters that can't be seen
/// have their code points.
pub(crate) fn quoted(text: &str) -> String {
    let cut: String = text.chars().take(QUOTE_LIMIT).collect();
    let rest = if cut.len() < text.len() { "…" } else { "" };
    format!("`{}{rest}`", plain(&cut))
}

/// Returns a text in one line and without backquotes, so that it can be quoted in some. Characters that
/// can't be seen have their code points.
pub(crate) fn plain(text: &str) -> String {
    let visible = agent_api::text::visible(text).replace('`', "'");
    visible.replace(char::is_control, " ")
}
