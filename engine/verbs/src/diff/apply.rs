//! Application of diffs.

use super::{Diff, DiffError, LineKind};

/// What to do about a diff that does not fit its file.
const REREAD: &str = "read the file again, and make the diff against its present content";

/// Returns the content of a file after a diff: every line of context and every removed line is at its place.
pub(crate) fn apply(diff: &Diff, old: &str) -> Result<String, DiffError> {
    let mut lines = old.split_inclusive('\n');
    let (mut at, mut new_at) = (0, 0);
    let mut new = String::with_capacity(old.len());
    for (number, hunk) in (1..).zip(&diff.hunks) {
        let error = |line, message: String, hint| DiffError {
            line,
            hunk: Some(number),
            message,
            hint,
        };
        if hunk.old_start < at {
            let message = "begins before the end of the hunk before it".to_owned();
            return Err(error(
                hunk.number,
                message,
                "order the hunks by their lines",
            ));
        }
        while at < hunk.old_start {
            let Some(line) = lines.next() else {
                let message = format!("begins after line {at}, the last one of the file");
                return Err(error(hunk.number, message, REREAD));
            };
            push(&mut new, line).ok_or_else(|| unended(diff))?;
            at += 1;
            new_at += 1;
        }
        if hunk.new_start != new_at {
            let message = format!(
                "puts the hunk after line {} of the new file, where it comes after line {new_at}",
                hunk.new_start
            );
            return Err(error(
                hunk.number,
                message,
                "correct the header of the hunk",
            ));
        }
        for line in &hunk.lines {
            if line.kind != LineKind::Added {
                let found = lines.next();
                at += 1;
                let is_same = found.is_some_and(|found| match found.strip_suffix('\n') {
                    Some(found) => line.ended && found == line.text,
                    None => !line.ended && found == line.text,
                });
                if !is_same {
                    let message = match found {
                        Some(_) => format!("differs from line {at} of the file"),
                        None => format!("comes after line {}, the last one of the file", at - 1),
                    };
                    return Err(error(line.number, message, REREAD));
                }
            }
            if line.kind != LineKind::Removed {
                push(&mut new, &line.text).ok_or_else(|| unended(diff))?;
                if line.ended {
                    new.push('\n');
                }
                new_at += 1;
            }
        }
    }
    for line in lines {
        push(&mut new, line).ok_or_else(|| unended(diff))?;
    }
    Ok(new)
}

/// Adds a line, unless the line before it has no line end.
fn push(new: &mut String, line: &str) -> Option<()> {
    let is_open = !new.is_empty() && !new.ends_with('\n');
    (!is_open).then(|| new.push_str(line))
}

/// Returns the error of the first line that is marked as the last one of the new file and is not.
fn unended(diff: &Diff) -> DiffError {
    let hunks = (1..).zip(&diff.hunks);
    let mut lines = hunks.flat_map(|(hunk, it)| it.lines.iter().map(move |line| (hunk, line)));
    let line = lines.find(|(_, line)| !line.ended && line.kind != LineKind::Removed);
    DiffError {
        line: line.map_or(1, |(_, line)| line.number),
        hunk: line.map(|(hunk, _)| hunk),
        message: "has no line end, and is not the last line of the new file".to_owned(),
        hint: "mark only the last line of the file as one without a line end",
    }
}

#[cfg(test)]
mod tests {
    use super::super::Diff;
    use super::apply;
    use proptest::prelude::*;

    fn applied(diff: &str, old: &str) -> Result<String, String> {
        let read = Diff::read(diff, "f").and_then(|diff| apply(&diff, old));
        read.map_err(|it| format!("{}/{}: {}", it.hunk.unwrap_or(0), it.line, it.message))
    }

    const HEAD: &str = "--- a/f\n+++ b/f\n";

    /// Writes a diff in one hunk, of everything from the first line that differs to the last.
    fn diff(old: &str, new: &str) -> String {
        let lines = |text: &str| -> Vec<String> {
            let marked = |line: &str| match line.strip_suffix('\n') {
                Some(line) => format!("{line}\n"),
                None => format!("{line}\n\\ No newline at end of file\n"),
            };
            text.split_inclusive('\n').map(marked).collect()
        };
        let (old, new) = (lines(old), lines(new));
        let before = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
        let rest = old[before..].iter().rev().zip(new[before..].iter().rev());
        let after = rest.take_while(|(a, b)| a == b).count();
        let (start, kept) = (before.saturating_sub(2), after.min(2));
        let (old_end, new_end) = (old.len() - after, new.len() - after);
        let range = |end: usize| match end + kept - start {
            0 => format!("{start},0"),
            count => format!("{},{count}", start + 1),
        };
        let marked = |mark: char, lines: &[String]| -> String {
            lines.iter().map(|line| format!("{mark}{line}")).collect()
        };
        format!(
            "{HEAD}@@ -{} +{} @@\n{}{}{}{}",
            range(old_end),
            range(new_end),
            marked(' ', &old[start..before]),
            marked('-', &old[before..old_end]),
            marked('+', &new[before..new_end]),
            marked(' ', &old[old_end..old_end + kept]),
        )
    }

    #[test]
    fn a_diff_applies_where_it_says() {
        for (diff, old, new) in [
            ("@@ -1 +1 @@\n-a\n+b\n", "a\n", "b\n"),
            ("@@ -1 +1 @@\n-a\n+b", "a\n", "b\n"),
            (
                "@@ -1,2 +1,2 @@ fn main()\n a\n-b\n+c\n",
                "a\nb\nd\n",
                "a\nc\nd\n",
            ),
            ("@@ -0,0 +1 @@\n+a\n", "b\n", "a\nb\n"),
            ("@@ -1,0 +2 @@\n+b\n", "a\n", "a\nb\n"),
            ("@@ -2 +1,0 @@\n-b\n", "a\nb\nc\n", "a\nc\n"),
            (
                "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n",
                "a",
                "a\n",
            ),
            (
                "@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n",
                "a\n",
                "a",
            ),
            ("@@ -1 +1 @@\n-a\r\n+a\n", "a\r\n", "a\n"),
            ("@@ -1 +1 @@\n--- x\n+++ y\n", "-- x\n", "++ y\n"),
            (
                "@@ -1 +1,2 @@\n a\n+b\n@@ -3 +4,2 @@\n c\n+d\n",
                "a\n-\nc\n",
                "a\nb\n-\nc\nd\n",
            ),
        ] {
            assert_eq!(
                applied(&format!("{HEAD}{diff}"), old),
                Ok(new.to_owned()),
                "{diff}"
            );
        }
        for head in [
            "--- f\n+++ f\n",
            "--- a/f\t2026-01-01 00:00:00\n+++ b/f\t2026-01-01\n",
            "diff --git a/f b/f\nindex 0123456..789abcd 100644\n--- a/f\n+++ b/f\n",
        ] {
            let diff = format!("{head}@@ -1 +1 @@\n-a\n+b\n");
            assert_eq!(applied(&diff, "a\n"), Ok("b\n".to_owned()), "{head}");
        }
    }

    #[test]
    fn a_diff_that_does_not_fit_is_refused_at_its_line() {
        for (diff, old, message) in [
            (
                "@@ -1 +1 @@\n-a\n+b\n",
                "x\n",
                "1/4: differs from line 1 of the file",
            ),
            (
                "@@ -1 +1 @@\n-a\n+b\n",
                "a",
                "1/4: differs from line 1 of the file",
            ),
            (
                "@@ -1 +1 @@\n-a\n+b\n",
                "a\r\n",
                "1/4: differs from line 1 of the file",
            ),
            (
                "@@ -1 +1 @@\n-a\n+b\n",
                "a \n",
                "1/4: differs from line 1 of the file",
            ),
            (
                "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n",
                "a\n",
                "1/4: differs from line 1 of the file",
            ),
            // Not where it says, though near.
            (
                "@@ -2 +2 @@\n-a\n+b\n",
                "a\nx\n",
                "1/4: differs from line 2 of the file",
            ),
            (
                "@@ -1 +1 @@\n-a\n+b\n",
                "",
                "1/4: comes after line 0, the last one of the file",
            ),
            (
                "@@ -9 +9 @@\n-a\n+b\n",
                "a\n",
                "1/3: begins after line 1, the last one of the file",
            ),
            (
                "@@ -1 +3 @@\n-a\n+b\n",
                "a\n",
                "1/3: puts the hunk after line 2 of the new file, where it comes after line 0",
            ),
            (
                "@@ -2 +2 @@\n-b\n+c\n@@ -1 +1 @@\n-a\n+b\n",
                "a\nb\n",
                "2/6: begins before the end of the hunk before it",
            ),
            (
                "@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n",
                "a\nc\n",
                "1/5: has no line end, and is not the last line of the new file",
            ),
            (
                "@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n@@ -3 +3 @@\n-c\n+d\n",
                "a\nx\nc\n",
                "1/5: has no line end, and is not the last line of the new file",
            ),
        ] {
            assert_eq!(
                applied(&format!("{HEAD}{diff}"), old),
                Err(message.to_owned()),
                "{diff}"
            );
        }
    }

    #[test]
    fn a_malformed_diff_is_refused_at_its_line() {
        let huge = format!("{HEAD}@@ -1 +1,99999999 @@\n-a\n+b\n");
        let hunks = format!("{HEAD}{}", "@@ -0,0 +1 @@\n+a\n".repeat(10_001));
        let lines = format!("{HEAD}{}", "\n".repeat(1_000_001));
        for (diff, message) in [
            ("", "0/1: must begin with `---`"),
            ("a\n", "0/1: is not a header of this file's diff"),
            (
                "@@ -1 +1 @@\n-a\n+b\n",
                "0/1: is not a header of this file's diff",
            ),
            ("--- a/f\n", "0/1: must begin with `+++`"),
            (
                "--- a/g\n+++ b/f\n",
                "0/1: names another file than the path of the patch",
            ),
            (
                "--- a/f\n+++ b/g\n",
                "0/2: names another file than the path of the patch",
            ),
            ("--- a/../f\n+++ b/f\n", "0/1: names another file"),
            ("--- /f\n+++ b/f\n", "0/1: names another file"),
            ("--- \"a/f\"\n+++ b/f\n", "0/1: names another file"),
            ("--- b/f\n+++ b/f\n", "0/1: names another file"),
            (
                "--- /dev/null\n+++ /dev/null\n",
                "0/2: names no file on either side",
            ),
            (
                "diff --git a/f b/g\n",
                "0/1: is not a header of this file's diff",
            ),
            ("rename from f\nrename to g\n", "0/1: renames a file"),
            (
                "diff --git a/f b/f\nsimilarity index 90%\n",
                "0/2: renames or copies a file",
            ),
            ("copy from f\n", "0/1: copies a file"),
            (
                "diff --git a/f b/f\nold mode 100644\n",
                "0/2: changes a mode",
            ),
            ("new mode 100755\n", "0/1: changes a mode"),
            ("new file mode 104755\n", "0/1: sets a mode"),
            ("deleted file mode 100644\n", "0/1: names a mode"),
            ("GIT binary patch\n", "0/1: is binary"),
            ("Binary files a/f and b/f differ\n", "0/1: is binary"),
            ("--- a/f\n+++ b/f\nx\n", "1/3: is not the header of a hunk"),
            (
                "--- a/f\n+++ b/f\n@@ -1 +1\n-a\n+b\n",
                "1/3: is not the header of a hunk",
            ),
            (
                "--- a/f\n+++ b/f\n@@ -0 +1 @@\n-a\n+b\n",
                "1/3: is not the header of a hunk",
            ),
            (
                "--- a/f\n+++ b/f\n@@ -1,-1 +1 @@\n-a\n",
                "1/3: is not the header of a hunk",
            ),
            (
                "--- a/f\n+++ b/f\n@@ -1 +1 @@x\n-a\n",
                "1/3: is not the header of a hunk",
            ),
            (&huge, "1/3: is not the header of a hunk"),
            (
                "--- a/f\n+++ b/f\n@@ -1,2 +1 @@\n-a\n+b\n",
                "1/5: ends the diff before the lines",
            ),
            (
                "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n-b\n+c\n",
                "1/5: is one more than the header counts",
            ),
            (
                "--- a/f\n+++ b/f\n@@ -1 +1 @@\n+a\n+b\n-c\n",
                "1/5: is one more than the header counts",
            ),
            (
                "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n+c\n",
                "2/6: is not the header of a hunk",
            ),
            (
                "--- a/f\n+++ b/f\n@@ -1 +1 @@\n a\n",
                "1/4: ends a hunk without a change",
            ),
            (
                "--- a/f\n+++ b/f\n@@ -0,0 +0,0 @@\n",
                "1/3: ends a hunk without a change",
            ),
            (
                "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-a\n+b\n\n",
                "1/6: begins with none of",
            ),
            (
                "--- a/f\n+++ b/f\n@@ -1 +1 @@\n\\ No newline at end of file\n",
                "1/4: does not follow a line",
            ),
            (
                "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+\n\\ No newline at end of file\n",
                "1/6: does not follow a line",
            ),
            (
                "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n\\ No newline\n+b\n",
                "1/5: begins with none of",
            ),
            (
                "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n--- a/g\n+++ b/g\n",
                "2/6: begins another file",
            ),
            (
                "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\ndiff --git a/g b/g\n",
                "2/6: begins another file",
            ),
            (
                "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\nrename from f\n",
                "2/6: renames a file",
            ),
            (&hunks, "10000/20002: begins more than 10,000 hunks"),
            (&lines, "0/1: makes the diff longer than a million lines"),
        ] {
            let found = applied(diff, "a\n").expect_err(diff.get(..200).unwrap_or(diff));
            assert!(found.starts_with(message), "{:.200}\n{found}", diff);
        }
    }

    proptest! {
        #[test]
        fn a_diff_of_two_contents_makes_the_second_of_the_first(
            old in "([ab]?\r?\n|[-+ \\\\@]{1,2}\n|x\n){0,12}[ax]?",
            new in "([ab]?\r?\n|[-+ \\\\@]{1,2}\n|x\n){0,12}[ax]?",
        ) {
            prop_assume!(old != new);
            let text = diff(&old, &new);
            prop_assert_eq!(applied(&text, &old), Ok(new), "{}", text);
        }

        #[test]
        fn no_diff_panics(
            lines in prop::collection::vec(
                r"(--- a/f|\+\+\+ b/f|@@ -[0-3](,[0-3])? \+[0-3](,[0-3])? @@|[-+ ]?[ab]|\\ No newline at end of file|\PC{0,4})",
                0..12,
            ),
            old in "([ab]\n){0,4}[ab]?",
        ) {
            let text = format!("{HEAD}{}", lines.join("\n"));
            let _ = Diff::read(&text, "f").and_then(|diff| apply(&diff, &old));
        }
    }
}
