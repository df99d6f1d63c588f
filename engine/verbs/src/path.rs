//! Paths of files below the folder of a task.

use super::failure::{Problems, quoted};
use super::limits::{PATH_MAX_BYTES, PATH_SEGMENT_MAX_BYTES, PATH_SEGMENTS_MAX, SOURCE_FILES_MAX};
use agent_text::{TextForm, has_hidden};
use std::collections::BTreeMap;

/// Names that Windows gives to devices, in any folder and with any extension.
const DEVICES: [&str; 6] = ["aux", "con", "conin$", "conout$", "nul", "prn"];

/// Folders whose files run commands or belong to the daemon.
const RESERVED: [&str; 3] = [".git", "git~1", ".mcpd"];

/// The names by which git takes a folder for a repository, whose `config` runs commands: the first name, and all of one
/// list. `commondir` names the folder that has `objects` and `refs` (`is_git_directory` in setup.c of git).
const REPOSITORY: (&str, [&[&str]; 2]) = ("head", [&["objects", "refs"], &["commondir"]]);

/// Returns what is wrong with a path, as the predicate of a sentence.
///
/// A sound path is relative, names each file in one way and the same file on every system, and stays in the
/// folder that it is joined to, as long as no folder on it is a symbolic link.
pub fn path_fault(path: &str) -> Option<&'static str> {
    if path.is_empty() {
        return Some("is empty");
    }
    if path.len() > PATH_MAX_BYTES {
        return Some("is longer than 512 bytes");
    }
    if path.starts_with('/') {
        return Some("is absolute");
    }
    if path.contains('\\') {
        return Some("contains a backslash");
    }
    if path.contains(':') {
        return Some("contains a colon, which names a drive or a stream on Windows");
    }
    if has_hidden(path, TextForm::Name) {
        return Some("contains a character that can't be seen");
    }
    if path.contains(|c| matches!(c, '\u{300}'..='\u{36f}')) {
        return Some("contains a combining mark, which some file systems write as another name");
    }
    if path.split('/').count() > PATH_SEGMENTS_MAX {
        return Some("has more than 16 segments");
    }
    path.split('/').find_map(segment_fault)
}

fn segment_fault(segment: &str) -> Option<&'static str> {
    match segment {
        "" => return Some("has an empty segment"),
        "." | ".." => return Some("has a segment of dots"),
        _ if segment.len() > PATH_SEGMENT_MAX_BYTES => {
            return Some("has a segment of more than 128 bytes");
        }
        _ if segment.ends_with(['.', ' ']) => {
            return Some("has a segment that ends with a dot or a space, which Windows drops");
        }
        _ => {}
    }
    let lower = folded(segment);
    if RESERVED.contains(&&*lower) {
        return Some("has a segment that belongs to Git or to the daemon");
    }
    is_device(&lower).then_some("has a segment that is a device on Windows")
}

fn is_device(lower: &str) -> bool {
    let stem = lower.split('.').next().unwrap_or_default().trim_end();
    let numbered = ["com", "lpt"].iter().find_map(|it| stem.strip_prefix(it));
    let is_number = |it: &str| {
        let mut chars = it.chars();
        let number = chars
            .next()
            .filter(|c| matches!(c, '0'..='9' | '¹' | '²' | '³'));
        number.is_some() && chars.next().is_none()
    };
    DEVICES.contains(&stem) || numbered.is_some_and(is_number)
}

/// Returns the form in which names are the same where case does not matter.
fn folded(name: &str) -> String {
    name.to_uppercase().to_lowercase()
}

/// The paths of the files in one folder, of which some are new.
#[derive(Debug, Default)]
pub(crate) struct Files<'p> {
    /// The first spelling of each file and folder by its folded form, and whether it is a file.
    names: BTreeMap<String, (&'p str, bool)>,
    count: usize,
}

impl<'p> Files<'p> {
    /// Adds a file that exists. Others of its kind are not compared: a person may have made them.
    pub(crate) fn exists(&mut self, path: &'p str) {
        self.count += 1;
        for (name, is_file) in prefixes(path) {
            self.names.entry(folded(name)).or_insert((name, is_file));
        }
    }

    /// Adds a file that is written, with the problems of its path beside the others.
    pub(crate) fn written(&mut self, path: &'p str, pointer: &str, problems: &mut Problems) {
        self.count += 1;
        for (name, is_file) in prefixes(path) {
            let (other, other_is_file) = *self.names.entry(folded(name)).or_insert((name, is_file));
            if other != name {
                problems.add(
                    format!("`{pointer}` differs from {} in case alone", quoted(other)),
                    "give the files names that differ in more than case",
                );
                return;
            }
            if other_is_file != is_file {
                problems.add(
                    format!(
                        "`{pointer}` needs {} as a folder and as a file",
                        quoted(name)
                    ),
                    "move one of the files into another folder",
                );
                return;
            }
        }
    }

    /// Adds the folders that git would take for repositories, and a problem if there are more files than a task may have.
    pub(crate) fn finish(self, problems: &mut Problems) {
        for (name, (path, _)) in &self.names {
            let (head, others) = REPOSITORY;
            let Some(folder) = name.strip_suffix(head).filter(|it| is_prefix(it)) else {
                continue;
            };
            let has = |other: &&str| self.names.contains_key(&format!("{folder}{other}"));
            if let Some(others) = others.into_iter().find(|it| it.iter().all(has)) {
                let others = others.join("` and `");
                problems.add(
                    format!(
                        "{} with `{others}` beside it makes a folder that git takes for a repository",
                        quoted(path)
                    ),
                    "give the file another name, or move it into another folder",
                );
            }
        }
        if self.count > SOURCE_FILES_MAX {
            problems.add(
                format!(
                    "the task would have {} files; at most {SOURCE_FILES_MAX} are allowed",
                    self.count
                ),
                "remove files that the application does not need",
            );
        }
    }
}

/// Returns whether a part of a path ends where a name begins.
fn is_prefix(part: &str) -> bool {
    part.is_empty() || part.ends_with('/')
}

/// Returns the folders on a path, and the path itself as a file.
fn prefixes(path: &str) -> impl Iterator<Item = (&str, bool)> {
    let folders = path.match_indices('/').map(|(at, _)| (&path[..at], false));
    folders.chain([(path, true)])
}

/// Adds a problem if a path is not sound.
pub(crate) fn check_path(path: &str, pointer: &str, problems: &mut Problems) -> bool {
    let fault = path_fault(path);
    if let Some(fault) = fault {
        problems.add(
            format!("`{pointer}` {fault}: {}", quoted(path)),
            "write a relative path with `/` between its segments, such as `src/app.py`",
        );
    }
    fault.is_none()
}

#[cfg(test)]
mod tests {
    use super::{Files, path_fault};
    use crate::failure::{ErrorCode, Problems};
    use crate::limits::SOURCE_FILES_MAX;
    use proptest::prelude::*;

    #[test]
    fn paths_stay_in_their_folder() {
        let deep = vec!["a"; 17].join("/");
        let long = format!("{}/{}", "a".repeat(100), "b".repeat(129));
        let longer = vec!["a".repeat(100); 6].join("/");
        for (path, fault) in [
            ("app.py", ""),
            ("src/app.py", ""),
            ("src/[id]/page.tsx", ""),
            (".env", ""),
            (".github/workflows/ci.yml", ""),
            (".gitignore", ""),
            ("a..b", ""),
            ("grüße.txt", ""),
            ("console.js", ""),
            ("com10", ""),
            ("", "is empty"),
            ("/etc/passwd", "absolute"),
            ("//etc/passwd", "absolute"),
            ("..", "dots"),
            ("../x", "dots"),
            ("a/../../x", "dots"),
            ("a/..", "dots"),
            ("./a", "dots"),
            ("a/./b", "dots"),
            ("a//b", "empty segment"),
            ("a/", "empty segment"),
            ("...", "ends with a dot"),
            (".. ", "ends with a dot"),
            ("a./b", "ends with a dot"),
            ("a\\b", "backslash"),
            ("..\\x", "backslash"),
            ("C:/x", "colon"),
            ("a.txt:stream", "colon"),
            ("a\0b", "can't be seen"),
            ("a\nb", "can't be seen"),
            ("a\u{7f}", "can't be seen"),
            ("a\u{85}", "can't be seen"),
            ("a\u{200b}b", "can't be seen"),
            ("a\u{202e}b", "can't be seen"),
            ("a\u{ad}b", "can't be seen"),
            ("a\u{fe01}b", "can't be seen"),
            ("a\u{e000}b", "can't be seen"),
            ("a\u{200d}b", "can't be seen"),
            ("a\u{200f}b", "can't be seen"),
            ("\u{1f9d1}\u{200d}\u{1f680}.txt", ""),
            ("\u{645}\u{6cc}\u{200c}\u{62e}.txt", ""),
            ("e\u{301}", "combining"),
            ("CON", "device"),
            ("con.txt", "device"),
            ("a/NUL", "device"),
            ("aux .c", "device"),
            ("COM1.log", "device"),
            ("lpt9", "device"),
            ("COM¹", "device"),
            ("conin$", "device"),
            (".git/hooks/pre-commit", "Git"),
            ("a/.GIT/config", "Git"),
            ("GIT~1/config", "Git"),
            (".mcpd/policy.yaml", "daemon"),
            (&deep, "segments"),
            (&long, "128"),
            (&longer, "512"),
        ] {
            match path_fault(path) {
                None => assert_eq!(fault, "", "{path:?} is accepted"),
                Some(found) => {
                    assert!(
                        !fault.is_empty() && found.contains(fault),
                        "{path:?} {found}"
                    );
                }
            }
        }
    }

    fn conflict(existing: &[&str], written: &[&str]) -> String {
        let mut files = Files::default();
        let mut problems = Problems::new();
        existing.iter().for_each(|path| files.exists(path));
        for path in written {
            files.written(path, path, &mut problems);
        }
        files.finish(&mut problems);
        let failure = problems.finish(ErrorCode::Fs);
        failure.err().map(|it| it.message).unwrap_or_default()
    }

    #[test]
    fn files_do_not_collide() {
        for (existing, written, message) in [
            (vec![], vec!["a", "b", "c/a"], ""),
            (
                vec![],
                vec!["a.py", "A.py"],
                "`A.py` differs from `a.py` in case alone",
            ),
            (
                vec![],
                vec!["Src/a", "src/b"],
                "`src/b` differs from `Src` in case alone",
            ),
            (
                vec!["Readme"],
                vec!["README"],
                "`README` differs from `Readme` in case alone",
            ),
            (vec!["A", "a"], vec!["b"], ""),
            (
                vec![],
                vec!["stra\u{df}e", "STRASSE"],
                "`STRASSE` differs from `straße` in case alone",
            ),
            (
                vec![],
                vec!["a", "a/b"],
                "`a/b` needs `a` as a folder and as a file",
            ),
            (
                vec![],
                vec!["a/b", "a"],
                "`a` needs `a` as a folder and as a file",
            ),
            (
                vec!["a/b/c"],
                vec!["a/b"],
                "`a/b` needs `a/b` as a folder and as a file",
            ),
        ] {
            assert_eq!(
                conflict(&existing, &written),
                message,
                "{existing:?} {written:?}"
            );
        }
    }

    #[test]
    fn no_folder_is_a_repository() {
        let message = |path: &str, others: &str| {
            format!(
                "`{path}` with `{others}` beside it makes a folder that git takes for a repository"
            )
        };
        for (existing, written, expected) in [
            (
                vec![],
                vec!["HEAD", "objects/a", "refs"],
                message("HEAD", "objects` and `refs"),
            ),
            (
                vec!["a/objects/b"],
                vec!["a/head", "a/Refs/c"],
                message("a/head", "objects` and `refs"),
            ),
            (
                vec!["a/HEAD"],
                vec!["a/commondir"],
                message("a/HEAD", "commondir"),
            ),
            (vec![], vec!["HEAD", "objects/a", "a/refs"], String::new()),
            (
                vec![],
                vec!["OVERHEAD", "objects/a", "refs/a"],
                String::new(),
            ),
            (
                vec![],
                vec!["objects/a", "refs/a", "commondir"],
                String::new(),
            ),
        ] {
            assert_eq!(
                conflict(&existing, &written),
                expected,
                "{existing:?} {written:?}"
            );
        }
    }

    #[test]
    fn a_task_has_a_limit_of_files() {
        let existing: Vec<_> = (0..SOURCE_FILES_MAX).map(|it| format!("f{it}")).collect();
        let existing: Vec<_> = existing.iter().map(String::as_str).collect();
        assert_eq!(conflict(&existing[1..], &["a"]), "");
        assert_eq!(
            conflict(&existing, &["a"]),
            "the task would have 65537 files; at most 65536 are allowed"
        );
    }

    /// Where a path leads from a folder, as a file system follows it; `None` outside of the folder.
    fn depth(path: &str) -> Option<usize> {
        let mut depth: usize = 0;
        for segment in path.split(['/', '\\']) {
            match segment.trim_end_matches([' ']) {
                "" if depth == 0 => return None,
                "" | "." => {}
                ".." => depth = depth.checked_sub(1)?,
                _ => depth += 1,
            }
        }
        Some(depth)
    }

    proptest! {
        #[test]
        fn an_accepted_path_never_leaves_its_folder(path in r"([a-z.]{0,3}|\.\.|[/\\]|:|\PC| ){0,12}") {
            if path_fault(&path).is_none() {
                prop_assert!(depth(&path).is_some_and(|it| it > 0), "{path:?}");
                prop_assert!(!path.split('/').any(|it| matches!(it, "" | "." | "..")));
            }
        }
    }
}
