//! Applying suggested fixes to the files of a command.
//!
//! A command runs silently, the engine applies a round of fixes to the texts in memory, and the
//! command runs again, until the engine has nothing left to apply. Then all changed files are
//! written, or shown as a diff, and the last run prints its answer about the new texts.

use super::CommandSession;
use crate::args::{Global, LOCK, Report};
use crate::command::CommandAnswer;
use agent_host::atomic_write::{Links, StagedFile};
use agent_host::contract::diagnostic::DocumentKind;
use agent_host::contract::fixes::{Document, MendedDocument};
use agent_host::diagnostics::Findings;
use agent_host::input::{INDEX_MAX, Input};
use agent_host::system::{Files as _, System};
use agent_host::{Failure, call, output};
use diffy::{DiffOptions, PatchFormatter};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Maximum number of rounds. A fix may uncover the next problem, but two fixes may also undo each
/// other.
const ROUNDS: usize = 10;

/// Answers a command, after the fixes that its options select.
pub(crate) fn mending(
    report: &Report,
    global: &Global,
    run: impl Fn(&mut CommandSession) -> Result<CommandAnswer, Failure>,
) -> Result<CommandAnswer, Failure> {
    let (fixes, mut session) = (&report.fixes, CommandSession::open(global, &report.output)?);
    session.hints_at_fixes = !fixes.unsafe_fixes && !fixes.diff;
    if !fixes.fix && !fixes.unsafe_fixes && !fixes.diff {
        return run(&mut session);
    }
    session.mending = Some(Mending {
        unsafe_too: fixes.unsafe_fixes,
        diff: fixes.diff,
        silent: true,
        files: Vec::new(),
    });
    let mut is_done = false;
    for _ in 0..ROUNDS {
        run(&mut session)?;
        is_done = !session.mend()?;
        session.restart()?;
        if is_done {
            break;
        }
    }
    session.finish_mending(is_done)?;
    run(&mut session)
}

/// The files of a command, with fixes applied.
pub(super) struct Mending {
    unsafe_too: bool,
    diff: bool,
    /// Whether the command runs to find fixes, not to answer.
    silent: bool,
    files: Vec<MendedFile>,
}

/// A file with fixes applied.
struct MendedFile {
    /// The path as the user gave it.
    path: PathBuf,
    /// The path without links, which identifies the file.
    canonical: PathBuf,
    before: Vec<u8>,
    text: String,
    fixes: u32,
}

/// The change of a file in one round.
struct Mended {
    path: PathBuf,
    before: Vec<u8>,
    new: MendedDocument,
}

impl Mending {
    /// Returns the new text of a file, if it was mended.
    ///
    /// # Errors
    ///
    /// For standard input, which can be read only once and not be written to.
    pub(super) fn text(&self, input: &Input) -> Result<Option<Vec<u8>>, Failure> {
        match input {
            Input::File(path) => {
                let canonical = canonical(path);
                let mended = self.files.iter().find(|it| it.canonical == canonical);
                Ok(mended.map(|it| it.text.clone().into_bytes()))
            }
            Input::Stdin => Err(Failure::new("fixes can't be applied to standard input")
                .help("name a file instead of `-`, or leave out `--fix` and `--diff`")),
        }
    }
}

impl Mending {
    /// Remembers the new text of a file.
    fn put(&mut self, path: &Path, before: Vec<u8>, new: MendedDocument) {
        let canonical = canonical(path);
        match self.files.iter_mut().find(|it| it.canonical == canonical) {
            Some(file) => {
                file.text = new.text;
                file.fixes += new.fixes;
            }
            None => self.files.push(MendedFile {
                path: path.to_owned(),
                canonical,
                before,
                text: new.text,
                fixes: new.fixes,
            }),
        }
    }
}

impl MendedFile {
    /// Returns the change of the file as a unified diff.
    fn diff(&self) -> String {
        difference(
            &self.path,
            &String::from_utf8_lossy(&self.before),
            &self.text,
        )
    }
}

/// Returns the change of a file as a unified diff.
pub(crate) fn difference(path: &Path, before: &str, after: &str) -> String {
    let mut options = DiffOptions::new();
    let name = path.display().to_string();
    options.set_original_filename(name.clone());
    options.set_modified_filename(name);
    let patch = options.create_patch(before, after);
    let formatter = PatchFormatter::new().suppress_blank_empty(false);
    formatter.fmt_patch(&patch).to_string()
}

impl CommandSession {
    /// Returns whether this run prints nothing, because it only looks for fixes.
    pub(super) fn is_silent(&self) -> bool {
        self.mending.as_ref().is_some_and(|it| it.silent)
    }

    /// Returns whether this run may write files and print its answer on standard output.
    pub(crate) fn writes(&self) -> bool {
        !(self.mending.as_ref()).is_some_and(|it| it.silent || it.diff)
    }

    /// Forgets everything about the last run but the mended files.
    fn restart(&mut self) -> Result<(), Failure> {
        self.engine = self.component.instantiate()?;
        self.findings = Findings::default();
        self.sources.clear();
        self.policy = None;
        Ok(())
    }

    /// Applies a round of fixes in memory. Returns whether a text changed.
    fn mend(&mut self) -> Result<bool, Failure> {
        let unsafe_too = self.mending.as_ref().is_some_and(|it| it.unsafe_too);
        let mended = self.mended(unsafe_too)?;
        let is_changed = !mended.is_empty();
        if let Some(mending) = &mut self.mending {
            for Mended { path, before, new } in mended {
                mending.put(&path, before, new);
            }
        }
        Ok(is_changed)
    }

    /// Returns the files that a round of fixes changes.
    fn mended(&mut self, unsafe_too: bool) -> Result<Vec<Mended>, Failure> {
        let diagnostics = self.findings.diagnostics();
        let fixes = diagnostics.iter().flat_map(|it| &it.fixes);
        let edits = fixes.flat_map(|fix| &fix.edits);
        let edited: BTreeSet<_> = edits.map(|it| it.place.span.source as u8).collect();
        let mut files = editable(&self.sources);
        files.retain(|(kind, _)| edited.contains(&(*kind as u8)));
        let documents: Vec<_> = files
            .iter()
            .filter_map(|(kind, _)| {
                let text = self.findings.text(*kind)?.to_vec();
                Some(Document { kind: *kind, text })
            })
            .collect();
        if documents.is_empty() {
            return Ok(Vec::new());
        }
        let mended = call!(self.engine, fixes.mend(&documents, diagnostics, unsafe_too))?;
        let mended = mended.into_iter().filter_map(|new| {
            let (_, path) = files.iter().find(|(kind, _)| *kind == new.kind)?;
            let before = documents.iter().find(|it| it.kind == new.kind)?;
            Some(Mended {
                path: path.clone(),
                before: before.text.clone(),
                new,
            })
        });
        Ok(mended.collect())
    }

    /// Says which option would apply fixes of the reported problems.
    pub(super) fn hint_at_fixes(&mut self) -> Result<(), Failure> {
        if !std::mem::take(&mut self.hints_at_fixes) || !self.is_noting() {
            return Ok(());
        }
        for (unsafe_too, option) in [(false, "--fix"), (true, "--unsafe-fixes")] {
            let mended = self.mended(unsafe_too)?;
            let fixes: u32 = mended.iter().map(|it| it.new.fixes).sum();
            if fixes > 0 {
                let fixes = counted(fixes);
                self.note(format_args!(
                    "`{option}` applies {fixes}, and with `--diff` shows them"
                ));
                break;
            }
        }
        Ok(())
    }

    /// Writes the mended files or shows them as a diff. The next run answers.
    fn finish_mending(&mut self, is_done: bool) -> Result<(), Failure> {
        let Some(mending) = &mut self.mending else {
            return Ok(());
        };
        mending.silent = false;
        let changed = |file: &MendedFile| file.before != file.text.as_bytes();
        mending.files.retain(changed);
        let done = if mending.diff {
            let diffs: String = mending.files.iter().map(MendedFile::diff).collect();
            output::print_data(&diffs)?;
            "would apply"
        } else {
            write(&mending.files)?;
            "applied"
        };
        if !self.quiet {
            for MendedFile { path, fixes, .. } in &mending.files {
                let (fixes, path) = (counted(*fixes), path.display());
                output::note(format_args!("{done} {fixes} to {path}"));
            }
            if !is_done {
                let limit = format_args!("more may follow after {ROUNDS} rounds of fixes");
                output::note(format_args!("{limit}: run the command again"));
            }
        }
        Ok(())
    }
}

/// Returns the files that fixes may change, by the kind under which diagnostics point into them. A
/// kind that was read from several files is left out, and so is a file that was read as several
/// kinds: an edit names only the kind.
fn editable(sources: &[(DocumentKind, Input)]) -> Vec<(DocumentKind, PathBuf)> {
    let files: Vec<_> = sources
        .iter()
        .filter_map(|(kind, input)| match input {
            Input::File(path) => Some((*kind, path, canonical(path))),
            Input::Stdin => None,
        })
        .collect();
    let is_only = |(kind, _, file): &&(DocumentKind, &PathBuf, PathBuf)| {
        let mut others = files.iter().filter(|it| it.0 == *kind || it.2 == *file);
        others.all(|it| it.0 == *kind && it.2 == *file)
    };
    let mut editable: Vec<(DocumentKind, PathBuf)> = Vec::new();
    for (kind, path, file) in files.iter().filter(is_only) {
        let is_known = editable.iter().any(|(known, _)| known == kind);
        if !is_known && !is_protected(file) {
            editable.push((*kind, path.to_path_buf()));
        }
    }
    editable
}

fn counted(fixes: u32) -> String {
    let plural = if fixes == 1 { "fix" } else { "fixes" };
    format!("{fixes} {plural}")
}

/// Returns whether a file is a lock or a policy by its name, whatever it was read as.
fn is_protected(file: &Path) -> bool {
    file.file_name().is_some_and(|name| name == LOCK)
        || file.extension().is_some_and(|it| it == "rego")
}

/// Returns the path of a file without links, or the path itself if the file can't be reached.
fn canonical(path: &Path) -> PathBuf {
    System::identity(path).unwrap_or_else(|_| path.to_owned())
}

/// Returns what a link may do in the place of a document. A name alone is usual, and may be one that nobody gave:
/// `AGENTS.md` may then be a link to `CLAUDE.md` beside it, and no link leads out of the folder.
pub(crate) fn usual_links(path: &Path) -> Links {
    match path.parent() == Some(Path::new("")) {
        true => Links::InFolder,
        false => Links::Followed,
    }
}

/// Writes all files, or none if one of them can't be written or was changed in the meantime.
fn write(files: &[MendedFile]) -> Result<(), Failure> {
    let staged = files
        .iter()
        .map(|file| {
            let links = usual_links(&file.path);
            StagedFile::with_links(&file.path, file.text.as_bytes(), links)
        })
        .collect::<Result<Vec<_>, _>>()?;
    for file in files {
        let now = Input::File(file.path.clone()).read(INDEX_MAX)?;
        if now != file.before {
            let path = file.path.display();
            let failure = format_args!("`{path}` was changed while its fixes were applied");
            return Err(Failure::new(failure).help("run the command again"));
        }
    }
    staged.into_iter().try_for_each(StagedFile::commit)
}

#[cfg(test)]
mod tests {
    use super::{MendedFile, editable, write};
    use agent_host::contract::diagnostic::DocumentKind;
    use agent_host::input::Input;
    use std::fs;
    use std::path::PathBuf;

    fn mended(path: PathBuf) -> MendedFile {
        MendedFile {
            canonical: path.clone(),
            path,
            before: b"old".to_vec(),
            text: "new".to_owned(),
            fixes: 1,
        }
    }

    #[test]
    fn a_file_that_somebody_else_changed_is_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let [one, two] = ["one", "two"].map(|name| folder.path().join(name));
        let files = [mended(one.clone()), mended(two.clone())];
        fs::write(&one, "old").unwrap();
        fs::write(&two, "theirs").unwrap();
        let failure = write(&files).unwrap_err();
        assert!(failure.message.contains("two` was changed"), "{failure}");
        assert_eq!(fs::read(&one).unwrap(), b"old");
        assert_eq!(fs::read(&two).unwrap(), b"theirs");
        fs::write(&two, "old").unwrap();
        write(&files).unwrap();
        assert_eq!(fs::read(&one).unwrap(), b"new");
        assert_eq!(fs::read(&two).unwrap(), b"new");
    }

    #[test]
    fn an_edit_belongs_to_one_file() {
        use DocumentKind::{Import, Index, Lock, Manifest, Task, Tenant};
        let editable = |sources: &[(DocumentKind, &str)]| {
            let sources: Vec<_> = sources
                .iter()
                .map(|&(kind, name)| (kind, Input::from(name)))
                .collect();
            let files = editable(&sources).into_iter();
            files
                .map(|(kind, path)| (kind, path.display().to_string()))
                .collect::<Vec<_>>()
        };
        let only = |kind, name: &str| vec![(kind, name.to_owned())];
        assert_eq!(editable(&[(Task, "a"), (Tenant, "-")]), only(Task, "a"));
        // Read again, but the same.
        assert_eq!(editable(&[(Task, "a"), (Task, "a")]), only(Task, "a"));
        // Two documents of a kind, and a document of two kinds.
        let two = [(Index, "a"), (Task, "t"), (Index, "b")];
        assert_eq!(editable(&two), only(Task, "t"));
        let imports = [(Import, "a"), (Import, "b"), (Index, "i")];
        assert_eq!(editable(&imports), only(Index, "i"));
        assert_eq!(editable(&[(Task, "a"), (Lock, "a")]), []);
        assert_eq!(
            editable(&[(Manifest, "x/agents.lock"), (Task, "p.rego")]),
            []
        );
    }
}
