//! `fs.apply`: writes and patches of a task's `source/`, all of them or none \[2, 2.2\].

use super::diff::{Diff, DiffError, apply};
use super::document::{items_of, text_of, with_document};
use super::failure::{ErrorCode, Failure, Problems, quoted};
use super::file_plan::{Write, writes};
use super::limits::{FILE_MAX_BYTES, FILES_MAX_BYTES, MODE_DEFAULT, MODE_MAX};
use super::path::{Files, check_path};
use super::schemas::SchemaOf;
use super::verb::DaemonVerb;
use agent_syntax::json::Writer;
use std::collections::BTreeMap;

/// A patch of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patch {
    /// The path below `source/`.
    pub path: String,
    /// A unified diff of this file.
    pub diff: String,
}

/// The input of `fs.apply`, and what a planner answers a change with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FsApply {
    /// The files to write, in order.
    pub writes: Vec<Write>,
    /// The patches, in order.
    pub patches: Vec<Patch>,
}

/// The content of a file with its permissions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// The permissions.
    pub mode: u32,
}

/// A file that exists below `source/`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Present {
    /// The path below `source/`.
    pub path: String,
    /// The content, of a file that [`FsApply::reads`] or [`Record::reads`](super::Record::reads) names.
    pub content: Option<Content>,
}

/// A file before and after a change. Both sides of one that nothing changes are equal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The path below `source/`.
    pub path: String,
    /// The file before; `None` if there was none.
    pub before: Option<Content>,
    /// The file after; `None` if it is removed.
    pub after: Option<Content>,
}

impl Change {
    /// Returns the change that undoes this one.
    #[must_use]
    pub fn reversed(self) -> Self {
        Self {
            path: self.path,
            before: self.after,
            after: self.before,
        }
    }
}

impl FsApply {
    /// Reads the input of `fs.apply`.
    ///
    /// # Errors
    /// `E_PLAN`: the input violates its schema, has too much, or changes a file twice. `E_FS`: a path or a mode
    /// is not allowed.
    pub fn read(input: &[u8]) -> Result<Self, Failure> {
        with_document(SchemaOf::Input(DaemonVerb::FsApply), input, |root| {
            let mut problems = Problems::new();
            let writes = writes(items_of(root, "writes"), "/writes", &mut problems);
            let mut patches = Vec::new();
            for (number, patch) in items_of(root, "patches").iter().enumerate() {
                let path = text_of(patch, "path").unwrap_or_default();
                check_path(path, &format!("/patches/{number}/path"), &mut problems);
                patches.push(Patch {
                    path: path.to_owned(),
                    diff: text_of(patch, "diff").unwrap_or_default().to_owned(),
                });
            }
            problems.finish(ErrorCode::Fs)?;
            let mut problems = Problems::new();
            let written =
                (writes.iter().enumerate()).map(|(at, it)| (&it.path, format!("/writes/{at}")));
            let mut first: BTreeMap<_, _> = written.collect();
            for (number, patch) in patches.iter().enumerate() {
                let at = format!("/patches/{number}");
                if let Some(other) = first.insert(&patch.path, at.clone()) {
                    problems.add(
                        format!(
                            "`{at}/path` is the path of `{other}` too: {}",
                            quoted(&patch.path)
                        ),
                        "change each file once in a request",
                    );
                }
            }
            problems.finish(ErrorCode::Plan)?;
            Ok(Self { writes, patches })
        })
    }

    /// Returns the paths of the files to read before [`FsApply::changes`], those of writes for the record.
    pub fn reads(&self) -> Vec<&str> {
        let writes = self.writes.iter().map(|it| &*it.path);
        writes
            .chain(self.patches.iter().map(|it| &*it.path))
            .collect()
    }

    /// Decides the new contents of all files, given all files below `source/`.
    ///
    /// # Errors
    /// `E_FS`, with every problem: a diff does not fit its file at a hunk and a line, a file to patch is missing
    /// or is not UTF-8, or a path collides with another one. Then nothing may be written.
    pub fn changes(&self, present: &[Present]) -> Result<Vec<Change>, Failure> {
        let mut problems = Problems::new();
        let before = contents(present, &self.reads(), &mut problems);
        let mut changes = Vec::new();
        for write in &self.writes {
            let before = before.get(&*write.path).copied();
            let kept = before.map_or(MODE_DEFAULT, |it| it.mode & MODE_MAX);
            changes.push(Change {
                path: write.path.clone(),
                before: before.cloned(),
                after: Some(Content {
                    bytes: write.content.clone().into_bytes(),
                    mode: write.mode.unwrap_or(kept),
                }),
            });
        }
        for patch in &self.patches {
            let before = before.get(&*patch.path).copied();
            match patched(patch, before) {
                Ok(after) => changes.push(Change {
                    path: patch.path.clone(),
                    before: before.cloned(),
                    after,
                }),
                Err((message, hint)) => problems.add(message, hint),
            }
        }
        check_tree(&changes, present, &mut problems);
        problems.finish(ErrorCode::Fs)?;
        Ok(changes)
    }

    /// Returns `data` of the response as JSON that ends with a newline: the counts.
    pub fn data(&self) -> String {
        let count = |it: usize| u32::try_from(it).unwrap_or(u32::MAX);
        let mut w = Writer::dense();
        w.object(|w| {
            w.key("patches").number(count(self.patches.len()));
            w.key("writes").number(count(self.writes.len()));
        });
        w.finish()
    }
}

/// Returns the contents of the files that a change needs.
pub(super) fn contents<'p>(
    present: &'p [Present],
    needed: &[&str],
    problems: &mut Problems,
) -> BTreeMap<&'p str, &'p Content> {
    let by_path: BTreeMap<_, _> = present.iter().map(|it| (&*it.path, it)).collect();
    let mut contents = BTreeMap::new();
    for path in needed {
        match by_path.get(path) {
            Some(Present {
                path,
                content: Some(content),
            }) => {
                contents.insert(&**path, content);
            }
            Some(_) => problems.add(
                format!("{} was not read", quoted(path)),
                "keep regular files of at most 4 MiB in `source/`",
            ),
            None => {}
        }
    }
    contents
}

/// Checks the files that a task has after changes.
pub(super) fn check_tree(changes: &[Change], present: &[Present], problems: &mut Problems) {
    let changed: BTreeMap<_, _> = changes.iter().map(|it| (&*it.path, it)).collect();
    let mut files = Files::default();
    for file in present.iter().filter(|it| !changed.contains_key(&*it.path)) {
        files.exists(&file.path);
    }
    let mut bytes = 0;
    for change in changes {
        let Some(after) = &change.after else {
            continue;
        };
        files.written(&change.path, &change.path, problems);
        bytes += after.bytes.len();
        if after.bytes.len() > FILE_MAX_BYTES {
            problems.add(
                format!(
                    "{} would have more than {FILE_MAX_BYTES} bytes",
                    quoted(&change.path)
                ),
                "split the file",
            );
        }
    }
    if bytes > FILES_MAX_BYTES {
        problems.add(
            format!("the changed files would have more than {FILES_MAX_BYTES} bytes together"),
            "change fewer files in one request",
        );
    }
    files.finish(problems);
}

/// A message and a hint.
type Problem = (String, &'static str);

/// Returns a file after its patch, `None` if the patch removes it.
fn patched(patch: &Patch, before: Option<&Content>) -> Result<Option<Content>, Problem> {
    let path = quoted(&patch.path);
    let worded = |it: DiffError| {
        let hunk = it
            .hunk
            .map_or(String::new(), |hunk| format!("hunk {hunk}, "));
        (
            format!("{path}: {hunk}line {} of the diff {}", it.line, it.message),
            it.hint,
        )
    };
    let diff = Diff::read(&patch.diff, &patch.path).map_err(worded)?;
    if diff.hunks.is_empty() {
        let hint = "use `writes` for an empty file and for a mode";
        return Err((format!("{path}: the diff has no hunk"), hint));
    }
    let old = match (diff.creates, before) {
        (true, None) => "",
        (true, Some(_)) => {
            let hint = "make the diff against the present content";
            return Err((format!("{path} exists, and the diff creates it"), hint));
        }
        (false, None) => {
            return Err((
                format!("{path} does not exist"),
                "write the file with `writes`",
            ));
        }
        (false, Some(content)) => str::from_utf8(&content.bytes).map_err(|error| {
            let message = format!("{path} is not UTF-8 at byte {}", error.valid_up_to());
            (message, "write the whole file with `writes`")
        })?,
    };
    let new = apply(&diff, old).map_err(worded)?;
    if diff.deletes && !new.is_empty() {
        let hint = "remove every line of a file to delete it";
        return Err((
            format!("{path}: the diff deletes the file, and leaves lines of it"),
            hint,
        ));
    }
    Ok((!diff.deletes).then(|| Content {
        bytes: new.into_bytes(),
        mode: before.map_or(MODE_DEFAULT, |it| it.mode & MODE_MAX),
    }))
}
