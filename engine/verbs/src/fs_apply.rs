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
    /// The content, of a file that [`FsApply::reads`] names.
    pub content: Option<Content>,
}

/// A file after a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The path below `source/`.
    pub path: String,
    /// The file; `None` if it is removed.
    pub after: Option<Content>,
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

    /// Returns the paths of the files to read before [`FsApply::changes`], those of writes for their modes.
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
fn contents<'p>(
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
fn check_tree(changes: &[Change], present: &[Present], problems: &mut Problems) {
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

#[cfg(test)]
mod tests {
    use super::{Change, Content, FsApply, Present};
    use crate::document::with_document;
    use crate::envelope::success;
    use crate::failure::Failure;
    use crate::limits::FILE_MAX_BYTES;
    use crate::schemas::SchemaOf;
    use crate::verb::DaemonVerb;
    use agent_syntax::json_string;

    fn content(bytes: &[u8], mode: u32) -> Content {
        Content {
            bytes: bytes.to_owned(),
            mode,
        }
    }

    fn file(path: &str, bytes: &[u8]) -> Present {
        Present {
            path: path.to_owned(),
            content: Some(content(bytes, 0o644)),
        }
    }

    /// The files after changes.
    fn after(present: &[Present], changes: &[Change]) -> Vec<Present> {
        let mut files: Vec<_> = present.to_owned();
        for change in changes {
            files.retain(|it| it.path != change.path);
            files.extend(change.after.clone().map(|content| Present {
                path: change.path.clone(),
                content: Some(content),
            }));
        }
        files.sort_by(|a, b| a.path.cmp(&b.path));
        files
    }

    fn changes(input: &str, present: &[Present]) -> Result<Vec<Change>, Failure> {
        FsApply::read(input.as_bytes())?.changes(present)
    }

    fn write(path: &str, content: &str) -> String {
        format!(
            "{{\"path\":{},\"content\":{}}}",
            json_string(path),
            json_string(content)
        )
    }

    fn patch(path: &str, diff: &str) -> String {
        format!(
            "{{\"path\":{},\"diff\":{}}}",
            json_string(path),
            json_string(diff)
        )
    }

    fn input(writes: &[String], patches: &[String]) -> String {
        format!(
            "{{\"writes\":[{}],\"patches\":[{}]}}",
            writes.join(","),
            patches.join(",")
        )
    }

    #[test]
    fn changes_are_made() {
        let mut present = vec![
            file("a", b"1\n2\n"),
            file("bin", b"\xff"),
            file("gone", b"x\n"),
            file("s", b""),
        ];
        present[0].content.as_mut().expect("a content").mode = 0o755;
        let request = input(
            &[write("bin", "text"), write("new/file", ""), write("s", "s")],
            &[
                patch("a", "--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n 1\n-2\n+3\n"),
                patch("gone", "--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"),
                patch(
                    "made",
                    "--- /dev/null\n+++ b/made\n@@ -0,0 +1 @@\n+m\n\\ No newline at end of file\n",
                ),
            ],
        );
        let read = FsApply::read(request.as_bytes()).expect("a request");
        assert_eq!(read.reads(), ["bin", "new/file", "s", "a", "gone", "made"]);
        assert_eq!(read.data(), "{\"patches\":3,\"writes\":3}\n");
        let output = SchemaOf::Output(DaemonVerb::FsApply);
        assert_eq!(
            with_document(output, success(&read.data()).as_bytes(), |_| Ok(())),
            Ok(())
        );
        let made = read.changes(&present).expect("changes");
        let now = after(&present, &made);
        let shown: Vec<_> = now
            .iter()
            .map(|it| {
                let content = it.content.as_ref().expect("a content");
                format!(
                    "{} {:o} {}",
                    it.path,
                    content.mode,
                    String::from_utf8_lossy(&content.bytes).escape_debug()
                )
            })
            .collect();
        assert_eq!(
            shown,
            [
                r"a 755 1\n3\n",
                "bin 644 text",
                "made 644 m",
                "new/file 644 ",
                "s 644 s"
            ]
        );
    }

    #[test]
    fn a_request_changes_everything_or_nothing() {
        let present = [
            file("a", b"1\n"),
            file("b/c", b""),
            file("bin", b"\xff\n"),
            Present {
                path: "large".to_owned(),
                content: None,
            },
        ];
        let diff = |path: &str| format!("--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-1\n+2\n");
        for (writes, patches, code, message) in [
            (vec![], vec![], "", ""),
            (
                vec![write("../x", "")],
                vec![],
                "E_FS",
                "`/writes/0/path` has a segment of dots: `../x`",
            ),
            (
                vec![write("/etc/passwd", "")],
                vec![],
                "E_FS",
                "`/writes/0/path` is absolute: `/etc/passwd`",
            ),
            (
                vec![],
                vec![patch("a/../b", &diff("a"))],
                "E_FS",
                "`/patches/0/path` has a segment of dots",
            ),
            (
                vec!["{\"path\":\"x\",\"content\":\"\",\"mode\":2048}".to_owned()],
                vec![],
                "E_PLAN",
                "`/writes/0/mode` ",
            ),
            (
                vec![write("x", ""), write("x", "")],
                vec![],
                "E_FS",
                "`/writes/1/path` is the path of `/writes/0` too: `x`",
            ),
            (
                vec![write("a", "")],
                vec![patch("a", &diff("a"))],
                "E_PLAN",
                "`/patches/0/path` is the path of `/writes/0` too: `a`",
            ),
            (
                vec![],
                vec![patch("a", &diff("a")), patch("a", &diff("a"))],
                "E_PLAN",
                "`/patches/1/path` is the path of `/patches/0` too",
            ),
            (
                vec![write("A", "")],
                vec![],
                "E_FS",
                "`A` differs from `a` in case alone",
            ),
            (
                vec![write("a/b", "")],
                vec![],
                "E_FS",
                "`a/b` needs `a` as a folder and as a file",
            ),
            (
                vec![write("b", "")],
                vec![],
                "E_FS",
                "`b` needs `b` as a folder and as a file",
            ),
            (
                vec![write("large", "")],
                vec![],
                "E_FS",
                "`large` was not read",
            ),
            (
                vec![],
                vec![patch("a", &diff("b"))],
                "E_FS",
                "`a`: line 1 of the diff names another file than the path of the patch",
            ),
            (
                vec![],
                vec![patch("x", &diff("x"))],
                "E_FS",
                "`x` does not exist",
            ),
            (
                vec![],
                vec![patch("a", "--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+x\n")],
                "E_FS",
                "`a` exists, and the diff creates it",
            ),
            (
                vec![],
                vec![patch("a", "--- a/a\n+++ /dev/null\n@@ -1 +1 @@\n-1\n+2\n")],
                "E_FS",
                "`a`: the diff deletes the file, and leaves lines of it",
            ),
            (
                vec![],
                vec![patch("a", "--- a/a\n+++ b/a\n")],
                "E_FS",
                "`a`: the diff has no hunk",
            ),
            (
                vec![],
                vec![patch("bin", &diff("bin"))],
                "E_FS",
                "`bin` is not UTF-8 at byte 0",
            ),
            (
                vec![],
                vec![patch("a", &diff("a").replace("\n-1", "\n-0"))],
                "E_FS",
                "`a`: hunk 1, line 4 of the diff differs from line 1 of the file",
            ),
            (
                vec![write("ok", "")],
                vec![
                    patch("a", &diff("a").replace("\n-1", "\n-0")),
                    patch("x", &diff("x")),
                ],
                "E_FS",
                "`a`: hunk 1, line 4 of the diff differs from line 1 of the file; `x` does not exist",
            ),
        ] {
            let text = input(&writes, &patches);
            match changes(&text, &present) {
                Ok(_) => assert_eq!(code, "", "{text}"),
                Err(failure) => {
                    assert_eq!(failure.code.name(), code, "{text} {}", failure.message);
                    assert!(
                        failure.message.starts_with(message),
                        "{text}\n{}",
                        failure.message
                    );
                    assert!(!failure.hints.is_empty(), "{text}");
                }
            }
        }
        // A file keeps its mode, and loses bits that no request can set.
        let mut set_uid = file("a", b"1\n");
        set_uid.content = Some(content(b"1\n", 0o4755));
        for request in [
            input(&[write("a", "")], &[]),
            input(&[], &[patch("a", &diff("a"))]),
        ] {
            let made = changes(&request, std::slice::from_ref(&set_uid)).expect("a change");
            assert_eq!(
                made[0].after.as_ref().map(|it| it.mode),
                Some(0o755),
                "{request}"
            );
        }
        // A removed file makes way for a folder.
        let moved = input(
            &[write("a/b", "")],
            &[patch("a", "--- a/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n")],
        );
        assert!(changes(&moved, &present).is_ok());
    }

    #[test]
    fn patched_files_have_limits() {
        let line = |bytes: usize| format!("{}\n", "x".repeat(bytes - 1));
        let present = |bytes| -> Vec<_> {
            ["a", "b", "c"]
                .iter()
                .map(|it| file(it, line(bytes).as_bytes()))
                .collect()
        };
        let patches = ["a", "b", "c"]
            .map(|it| patch(it, &format!("--- a/{it}\n+++ b/{it}\n@@ -1,0 +2 @@\n+y\n")));
        let full = present(FILE_MAX_BYTES - 2);
        assert!(changes(&input(&[], &patches), &full).is_ok());
        let failure = changes(&input(&[write("d", "z")], &patches), &full).expect_err("too many");
        assert_eq!(
            failure.message,
            "the changed files would have more than 12582912 bytes together"
        );
        let failure = changes(&input(&[], &patches[..1]), &present(FILE_MAX_BYTES - 1));
        assert_eq!(
            failure.map_err(|it| it.message),
            Err("`a` would have more than 4194304 bytes".to_owned())
        );
    }
}
