//! Records of changes, in a task's `patches/`, by which they can be undone.

use super::diff::{Diff, apply, write};
use super::document::{items_of, text, text_of, whole};
use super::failure::{ErrorCode, Failure, Problems, quoted};
use super::fs_apply::{Change, Content, Present, check_tree, contents};
use super::limits::{FILES_MAX, MODE_MAX, RECORD_MAX_BYTES};
use super::path::path_fault;
use agent_lower::bytes_digest;
use agent_syntax::Node;
use agent_syntax::json::{Writer, parse_strict};
use agent_syntax::members::member;
use base64::prelude::{BASE64_STANDARD, Engine};

/// Returns a record of changes as JSON that ends with a newline.
///
/// It has a diff of each file, and the digests of both sides. A side that is not UTF-8 is kept as a whole.
pub fn record(changes: &[Change]) -> String {
    let mut w = Writer::pretty();
    w.object(|w| {
        w.key("changes").array(|w| {
            for change in changes {
                w.object(|w| write_change(w, change));
            }
        });
        w.key("version").string("v1");
    });
    w.finish()
}

fn write_change(w: &mut Writer, change: &Change) {
    let texts = [&change.before, &change.after].map(|side| match side {
        Some(content) => str::from_utf8(&content.bytes).map(Some),
        None => Ok(None),
    });
    let diff = match texts {
        [Ok(before), Ok(after)] => Some(write(&change.path, before, after)),
        _ => None,
    };
    let side = |w: &mut Writer, content: &Option<Content>| match content {
        Some(content) => w.object(|w| {
            if diff.is_none() {
                w.key("base64")
                    .string(&BASE64_STANDARD.encode(&content.bytes));
            }
            w.key("digest").string(&bytes_digest(&content.bytes));
            w.key("mode").number(content.mode);
        }),
        None => w.null(),
    };
    side(w.key("after"), &change.after);
    side(w.key("before"), &change.before);
    if let Some(diff) = &diff {
        w.key("diff").string(diff);
    }
    w.key("path").string(&change.path);
}

/// A record that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record(Vec<RecordedChange>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct RecordedChange {
    path: String,
    before: Option<RecordedSide>,
    after: Option<RecordedSide>,
    diff: Option<Diff>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct RecordedSide {
    bytes: Option<Vec<u8>>,
    digest: String,
    mode: u32,
}

impl Record {
    /// Reads a record.
    ///
    /// # Errors
    /// `E_FS`: no `fs.apply` wrote it.
    pub fn read(bytes: &[u8]) -> Result<Self, Failure> {
        let text = text(bytes, RECORD_MAX_BYTES, "the record");
        let read = text.ok().and_then(|text| {
            let root = parse_strict(&text)?;
            let changes = items_of(&root, "changes");
            (text_of(&root, "version") == Some("v1") && changes.len() <= 2 * FILES_MAX)
                .then_some(())?;
            changes.iter().map(recorded).collect()
        });
        read.map(Self).ok_or_else(|| {
            let message = "the record of changes is damaged";
            Failure::new(ErrorCode::Fs, message)
                .hint("restore the file below `patches/` from a copy")
        })
    }

    /// Returns the paths of the files to read before [`Record::undo`].
    pub fn reads(&self) -> Vec<&str> {
        self.0.iter().map(|it| &*it.path).collect()
    }

    /// Returns the changes that undo the recorded ones, given all files below `source/`.
    ///
    /// # Errors
    /// `E_FS`, with every problem: a file changed after the record, or the record is damaged. Then nothing may
    /// be written.
    pub fn undo(&self, present: &[Present]) -> Result<Vec<Change>, Failure> {
        let mut problems = Problems::new();
        let now = contents(present, &self.reads(), &mut problems);
        let mut changes = Vec::new();
        for recorded in &self.0 {
            let before = now.get(&*recorded.path).copied();
            match recorded.undone(before) {
                Ok(after) => changes.push(Change {
                    path: recorded.path.clone(),
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
}

impl RecordedChange {
    /// Returns the file before the change, given its present content.
    fn undone(&self, now: Option<&Content>) -> Result<Option<Content>, (String, &'static str)> {
        let digest = now.map(|it| bytes_digest(&it.bytes));
        if digest.as_ref() != self.after.as_ref().map(|it| &it.digest) {
            let message = format!("{} changed after the record was made", quoted(&self.path));
            return Err((message, "undo the later changes first"));
        }
        let Some(before) = &self.before else {
            return Ok(None);
        };
        let bytes = match (&self.diff, &before.bytes) {
            (_, Some(bytes)) => Some(bytes.clone()),
            (Some(diff), None) => {
                let now = now.map_or(&[][..], |it| &it.bytes);
                let now = str::from_utf8(now).ok();
                let undone = now.and_then(|now| apply(&diff.clone().reversed(), now).ok());
                undone.map(String::into_bytes)
            }
            (None, None) => None,
        };
        match bytes.filter(|bytes| bytes_digest(bytes) == before.digest) {
            Some(bytes) => Ok(Some(Content {
                bytes,
                mode: before.mode,
            })),
            None => {
                let message = format!("the record of {} is damaged", quoted(&self.path));
                Err((message, "restore the file below `patches/` from a copy"))
            }
        }
    }
}

fn recorded(change: &Node<'_>) -> Option<RecordedChange> {
    let path = text_of(change, "path").filter(|path| path_fault(path).is_none())?;
    let side = |name: &str| -> Option<Option<RecordedSide>> {
        let side = member(change, name)?;
        let Some(digest) = text_of(side, "digest") else {
            return Some(None);
        };
        let bytes = match text_of(side, "base64") {
            Some(base64) => Some(BASE64_STANDARD.decode(base64).ok()?),
            None => None,
        };
        let mode = whole(side, "mode", "", &mut Problems::new())?;
        Some(Some(RecordedSide {
            bytes,
            digest: digest.to_owned(),
            mode: (mode <= MODE_MAX).then_some(mode)?,
        }))
    };
    let diff = match text_of(change, "diff") {
        Some(diff) => Some(Diff::read(diff, path).ok()?),
        None => None,
    };
    Some(RecordedChange {
        path: path.to_owned(),
        before: side("before")?,
        after: side("after")?,
        diff,
    })
}

#[cfg(test)]
mod tests {
    use super::{Record, record};
    use crate::document::with_document;
    use crate::envelope::success;
    use crate::failure::{ErrorCode, Failure};
    use crate::fs_apply::{Change, Content, FsApply, Present};
    use crate::limits::FILE_MAX_BYTES;
    use crate::schemas::SchemaOf;
    use crate::verb::DaemonVerb;
    use agent_syntax::json_string;
    use proptest::prelude::*;

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
    fn changes_are_made_and_undone() {
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
        let text = record(&made);
        let undone = Record::read(text.as_bytes()).expect("a record");
        assert_eq!(undone.reads(), read.reads());
        let undone = undone.undo(&now).expect("undone");
        let reversed: Vec<_> = made.iter().cloned().map(Change::reversed).collect();
        assert_eq!(undone, reversed);
        assert_eq!(after(&now, &undone), present);
        // A record is undone once, and only while its files are unchanged.
        let failure = Record::read(text.as_bytes())
            .and_then(|it| it.undo(&present))
            .expect_err("undone before");
        assert_eq!(failure.code, ErrorCode::Fs);
        assert!(
            failure
                .message
                .starts_with("`bin` changed after the record was made; "),
            "{}",
            failure.message
        );
    }

    #[test]
    fn damaged_records_are_refused() {
        let made =
            changes(&input(&[write("a", "x")], &[]), &[file("a", b"y\n")]).expect("a change");
        let text = record(&made);
        for (from, to) in [
            ("\"v1\"", "\"v2\""),
            ("\"path\": \"a\"", "\"path\": \"../a\""),
            ("\"mode\": 420", "\"mode\": 2541"),
            ("--- a/a", "--- a/b"),
            ("@@ -1,1", "@@ -1,2"),
            ("sha256-", "sha512-"),
            ("-y", "-z"),
        ] {
            let damaged = text.replace(from, to);
            assert_ne!(damaged, text, "{from}");
            let undone =
                Record::read(damaged.as_bytes()).and_then(|it| it.undo(&[file("a", b"x")]));
            assert_eq!(undone.map_err(|it| it.code), Err(ErrorCode::Fs), "{to}");
        }
        // Without a diff, whose headers name the path too.
        let made =
            changes(&input(&[write("a", "x")], &[]), &[file("a", b"\xff")]).expect("a change");
        let text = record(&made);
        assert!(Record::read(text.as_bytes()).is_ok());
        for path in ["../a", "/a", ".git/config"] {
            let damaged = text.replace("\"path\": \"a\"", &format!("\"path\": \"{path}\""));
            assert!(Record::read(damaged.as_bytes()).is_err(), "{path}");
        }
        for text in ["", "[]", "{\"changes\":[{}],\"version\":\"v1\"}", "\u{1}"] {
            assert!(Record::read(text.as_bytes()).is_err(), "{text}");
        }
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

    proptest! {
        #[test]
        fn every_change_can_be_undone(
            old in prop::collection::btree_map("[a-c]", "([xy]?\n){0,4}[xy]?", 0..3),
            new in prop::collection::btree_map("[a-d]", "([xy]?\n){0,4}[xy]?", 0..4),
        ) {
            let present: Vec<_> = old.iter().map(|(path, text)| file(path, text.as_bytes())).collect();
            let writes: Vec<_> = new.iter().map(|(path, text)| write(path, text)).collect();
            let made = changes(&input(&writes, &[]), &present).expect("changes");
            let now = after(&present, &made);
            let record = Record::read(record(&made).as_bytes()).expect("a record");
            let undone = record.undo(&now).expect("undone");
            prop_assert_eq!(after(&now, &undone), present);
        }
    }
}
