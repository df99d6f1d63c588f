//! `requirements.txt` of pip.

use super::{PLAIN, Reader};
use crate::failure::quoted;
use crate::language::{Language, Requirement, extras};

/// Reads the dependencies of a file.
pub(super) fn read(text: &str, reader: &mut Reader<'_>) -> Vec<Requirement> {
    let lines = text.lines().enumerate();
    let found = lines.filter_map(|(number, line)| dependency(number + 1, line, reader));
    found.collect()
}

fn dependency(number: usize, line: &str, reader: &mut Reader<'_>) -> Option<Requirement> {
    // A comment begins a line, or follows white space.
    let comment = line.match_indices('#').map(|(at, _)| at).find(|at| {
        let before = line[..*at].chars().next_back();
        before.is_none_or(char::is_whitespace)
    });
    let line = line[..comment.unwrap_or(line.len())].trim();
    let shown = quoted(line);
    let mut refuse = |why: &str, hint: &str| {
        reader.refuse(number, format!("{shown} {why}"), hint);
        None
    };
    if line.is_empty() {
        return None;
    }
    if line.ends_with('\\') {
        return refuse(
            "goes on in the next line",
            "write each requirement in a line, without hashes: the installed packages are locked \
             with their digests",
        );
    }
    if line.starts_with("-r") || line.starts_with("--requirement") {
        return refuse(
            "names another file",
            "name each file in the command: `pip install -r a -r b`",
        );
    }
    if line.starts_with('-') {
        return refuse(
            "is an option",
            "remove it: packages come from the indexes of this machine's configuration of pip",
        );
    }
    if line.contains("--hash") {
        return refuse(
            "has a hash",
            "remove the hashes: the installed packages are locked with their digests",
        );
    }
    if line.contains("://") || line.contains('@') {
        return refuse("is a URL", PLAIN);
    }
    if line.contains(';') {
        return refuse(
            "has a marker",
            "remove the marker, or the line if it does not apply",
        );
    }
    if line.starts_with(['.', '/', '~']) || line.contains(['/', '\\']) {
        return refuse("is a path", PLAIN);
    }
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let end = line.find(|c| !is_part(c)).unwrap_or(line.len());
    let (name, rest) = line.split_at(end);
    let rest = rest.trim_start();
    let (extra, versions) = match rest.starts_with('[') {
        true => rest.split_at(rest.find(']').map_or(rest.len(), |at| at + 1)),
        false => ("", rest),
    };
    let Some((_, extras)) = extras(Language::Python, extra) else {
        return refuse("has malformed extras", PLAIN);
    };
    reader.requirement(number, Language::Python, (name, extras, versions))
}

#[cfg(test)]
mod tests {
    use crate::declared::tests::shown;
    use crate::language::Language;

    #[test]
    fn requirements_are_names_with_versions() {
        let shown = |content: &str| shown(Language::Python, "requirements.txt", content);
        for (content, expected) in [
            ("", ""),
            ("\u{feff}# a comment\r\n\r\n  flask\r\n", "flask"),
            ("Flask==3.0.3 # comment", "Flask==3.0.3"),
            (
                "flask [async, dotenv] >= 2 , < 4",
                "flask[async,dotenv]>= 2 , < 4",
            ),
            ("a~=1.4.2\nb!=2.*\nc", "a~=1.4.2 b!=2.* c"),
            ("a==1.0\nA==1.0", "a==1.0"),
            ("a\n-e .", "`requirements.txt`, line 2: `-e .` is an option"),
            (
                "-r other.txt",
                "`requirements.txt`, line 1: `-r other.txt` names another file",
            ),
            (
                "-c other.txt",
                "`requirements.txt`, line 1: `-c other.txt` is an option",
            ),
            (
                "--index-url https://x",
                "`requirements.txt`, line 1: `--index-url https://x` is an option",
            ),
            (
                "a==1 \\\n  --hash=sha256:0",
                "`requirements.txt`, line 1: `a==1 \\` goes on in the next line; `requirements.txt`, line 2: `--hash=sha256:0` is an option",
            ),
            (
                "a==1 --hash=sha256:0",
                "`requirements.txt`, line 1: `a==1 --hash=sha256:0` has a hash",
            ),
            (
                "git+https://x/y",
                "`requirements.txt`, line 1: `git+https://x/y` is a URL",
            ),
            (
                "a @ file:///x",
                "`requirements.txt`, line 1: `a @ file:///x` is a URL",
            ),
            ("./a", "`requirements.txt`, line 1: `./a` is a path"),
            ("a/b.whl", "`requirements.txt`, line 1: `a/b.whl` is a path"),
            (
                "a; os_name == 'nt'",
                "`requirements.txt`, line 1: `a; os_name == 'nt'` has a marker",
            ),
            (
                "a[b",
                "`requirements.txt`, line 1: `a[b` has malformed extras",
            ),
            (
                "a 1",
                "`requirements.txt`, line 1: the dependency `a 1` has no version or range of versions",
            ),
            (
                "a=1",
                "`requirements.txt`, line 1: the dependency `a =1` has no version or range of versions",
            ),
            (
                "${A}",
                "`requirements.txt`, line 1: the dependency ` ${A}` does not begin with the name of a package",
            ),
        ] {
            assert_eq!(shown(content), expected, "{content}");
        }
    }
}
