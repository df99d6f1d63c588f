//! Writing of diffs.

use std::fmt::Write as _;

/// Lines of context around a change.
const CONTEXT_LINES: usize = 3;

/// Returns a diff of two contents in one hunk, from the first line that differs to the last. Takes linear time,
/// whatever the contents are. An absent content is `/dev/null`.
pub(crate) fn write(path: &str, old: Option<&str>, new: Option<&str>) -> String {
    let side = |prefix, content: Option<&str>| match content {
        Some(_) => format!("{prefix}/{path}"),
        None => "/dev/null".to_owned(),
    };
    let mut out = format!("--- {}\n+++ {}\n", side("a", old), side("b", new));
    let (old, new) = (lines_of(old), lines_of(new));
    if old == new {
        return out;
    }
    let before = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let after = old[before..].iter().rev().zip(new[before..].iter().rev());
    let after = after.take_while(|(a, b)| a == b).count();
    let start = before.saturating_sub(CONTEXT_LINES);
    let kept = after.min(CONTEXT_LINES);
    let (old_end, new_end) = (old.len() - after, new.len() - after);
    let range = |end: usize| match end + kept - start {
        0 => format!("{start},0"),
        count => format!("{},{count}", start + 1),
    };
    // A string takes everything that is written to it.
    let _ = writeln!(out, "@@ -{} +{} @@", range(old_end), range(new_end));
    let mut put = |mark: char, lines: &[&str]| {
        for line in lines {
            out.push(mark);
            out.push_str(line);
            if !line.ends_with('\n') {
                out.push_str("\n\\ No newline at end of file\n");
            }
        }
    };
    put(' ', &old[start..before]);
    put('-', &old[before..old_end]);
    put('+', &new[before..new_end]);
    put(' ', &old[old_end..old_end + kept]);
    out
}

fn lines_of(content: Option<&str>) -> Vec<&str> {
    content.unwrap_or_default().split_inclusive('\n').collect()
}

#[cfg(test)]
mod tests {
    use super::super::{Diff, apply};
    use super::write;
    use proptest::prelude::*;

    #[test]
    fn a_diff_is_as_others_write_it() {
        let old = "1\n2\n3\n4\n5\n6\n7\n8\n";
        let new = "1\n2\n3\n4\nfive\n6\n7\n8";
        assert_eq!(
            write("a.txt", Some(old), Some(new)),
            "--- a/a.txt\n+++ b/a.txt\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n-6\n-7\n-8\n+five\n+6\n+7\n+8\n\
             \\ No newline at end of file\n"
        );
        assert_eq!(
            write("a", None, Some("x\n")),
            "--- /dev/null\n+++ b/a\n@@ -0,0 +1,1 @@\n+x\n"
        );
        assert_eq!(
            write("a", Some("x"), None),
            "--- a/a\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-x\n\\ No newline at end of file\n"
        );
        assert_eq!(write("a", Some("x"), Some("x")), "--- a/a\n+++ b/a\n");
    }

    proptest! {
        #[test]
        fn a_diff_applied_and_reversed_gives_the_original(
            old in prop::option::of("([ab]?\r?\n|[-+ \\\\@]{1,2}\n|x){0,12}"),
            new in prop::option::of("([ab]?\r?\n|[-+ \\\\@]{1,2}\n|x){0,12}"),
        ) {
            if old.is_none() && new.is_none() {
                return Ok(());
            }
            let text = write("f", old.as_deref(), new.as_deref());
            let diff = Diff::read(&text, "f");
            prop_assert!(diff.is_ok(), "{text}\n{diff:?}");
            let diff = diff.expect("checked");
            let (old, new) = (old.unwrap_or_default(), new.unwrap_or_default());
            prop_assert_eq!(apply(&diff, &old), Ok(new.clone()));
            prop_assert_eq!(apply(&diff.reversed(), &new), Ok(old));
        }
    }
}
