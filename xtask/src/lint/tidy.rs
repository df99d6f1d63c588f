//! Checks on files beyond those of the formatter and the compiler.

use agent_pack::{Workspace, read};
use anyhow::{Result, bail};
use std::env;
use std::path::Path;
use std::process::Command;

use crate::{process, status};

/// Maximum size of a file in bytes. A larger file is an artefact and belongs to a release, not into
/// the history.
const LARGEST_FILE: usize = 1 << 20;

/// The folders that every system has. Others in the path of this source tree belong to this machine
/// alone.
const COMMON_FOLDERS: [&str; 9] = [
    "/", "/home", "/mnt", "/opt", "/root", "/srv", "/tmp", "/usr", "/var",
];

/// The usual host names of package registries. A lock file that names one was made with a private
/// mirror.
const REGISTRY_HOSTS: [&str; 4] = ["files", "index", "registry", "static"];

/// The only source that a lock file may name: it is the same for everybody.
const PUBLIC_REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// The same for npm. A lock file may omit the source of its packages, and ours does. One made with
/// a private mirror names the mirror in every line. In pieces, so that this file does not fail its
/// own check.
const PUBLIC_NPM_REGISTRY: &str = concat!("https:", "//registry.npmjs.org/");

/// In pieces, so that this file does not fail its own check.
const UNFINISHED: [&str; 2] = [concat!("todo", "!("), concat!("unimplemented", "!(")];

/// Phrases that prose avoids, because they hide the subject of a sentence. A plainer one exists for
/// each, such as "is not a URL", "appears twice" or "use one of". `_` replaces each space, so that
/// this file does not fail its own check.
const OBSCURE: [&str; 68] = [
    "a_change_that_would_do",
    "allowed_are",
    "and_is_none",
    "are_looked_for",
    "are_told",
    "as_anybody's",
    "becomes_of_it",
    "begins_to_tell",
    "beside_each_other",
    "by_each_of_which",
    "by_what_each_is_told",
    "did_not_do",
    "documents_of_others",
    "gets_to_know",
    "gets_to_see",
    "how_the_servers_do",
    "in_vain",
    "instance_of_its_own",
    "is_looked_for",
    "is_no_number",
    "is_no_string",
    "is_no_URL",
    "is_nobody's",
    "is_none_at_all",
    "is_none_that",
    "is_read_off",
    "is_to_be_said",
    "is_told",
    "learns_nothing_but",
    "nearly_so",
    "need_not_come",
    "no_change_was_found_by_which",
    "none_of_one's_own",
    "none_of_the_things",
    "of_no_form",
    "of_one's_own",
    "of_which_there_may_be",
    "only_what_is_called_by",
    "said_beside",
    "save_for",
    "says_of_itself",
    "so_many_of",
    "somebody_else",
    "somebody_else's",
    "somebody_listens",
    "spelled_nearly",
    "stands_beside",
    "stands_twice",
    "the_whole_story",
    "there_was_none",
    "told_apart",
    "what_became_of",
    "what_becomes_of",
    "what_came_of",
    "what_comes_of",
    "what_is_missing_in_it",
    "what_is_no",
    "what_stands",
    "what_there_is",
    "what_waits_for",
    "where_none_is_given",
    "where_none_is_named",
    "where_something_comes_from",
    "who_has_no",
    "who_has_them",
    "will_not_do",
    "would_do_as_well",
    "would_have_done",
];

/// The endings of files that contain prose.
const PROSE: [&str; 4] = [".html", ".md", ".rs", ".wit"];

pub(super) fn check(workspace: &Workspace) -> Result<()> {
    let folders = machine_folders(workspace.root(), env::var("HOME").ok().as_deref());
    let mut count = 0;
    for name in files(workspace)? {
        let path = workspace.root().join(&name);
        // Listed but gone: deleted, and the deletion not yet committed.
        if !path.is_file() {
            continue;
        }
        for problem in problems(&name, &read(&path)?, &folders) {
            status::doing("Untidy", format_args!("{name}: {problem}"));
            count += 1;
        }
    }
    if count > 0 {
        bail!("{count} things are untidy");
    }
    Ok(())
}

/// Returns the files of the repository, including those that `git add` would add.
fn files(workspace: &Workspace) -> Result<Vec<String>> {
    let mut git = Command::new("git");
    git.args(["ls-files", "-z", "--cached", "--others"]);
    git.arg("--exclude-standard").current_dir(workspace.root());
    let output = process::output(&mut git)?;
    Ok(output.split_terminator('\0').map(str::to_owned).collect())
}

/// Returns the folders whose names identify this machine.
fn machine_folders(root: &Path, home: Option<&str>) -> Vec<String> {
    let ancestors = root.ancestors().filter_map(Path::to_str).map(str::to_owned);
    ancestors
        .filter(|folder| !COMMON_FOLDERS.contains(&folder.as_str()))
        .chain(home.filter(|home| *home != "/").map(str::to_owned))
        .collect()
}

fn problems(name: &str, bytes: &[u8], machine_folders: &[String]) -> Vec<String> {
    let mut problems = Vec::new();
    if bytes.len() > LARGEST_FILE {
        problems.push(format!(
            "{} bytes; at most {LARGEST_FILE} are allowed",
            bytes.len()
        ));
    }
    let Ok(text) = str::from_utf8(bytes) else {
        return problems;
    };
    for folder in machine_folders {
        if let Some(line) = line_of(text, |line| names_folder(line, folder)) {
            problems.push(format!(
                "line {line} names a folder of this machine, {folder}"
            ));
        }
    }
    const FOREIGN: &str = "has a source other than the public registry";
    let file_name = name.rsplit('/').next();
    let (is_wrong, problem): (fn(&str) -> bool, _) = match file_name {
        Some("package-lock.json") => (names_npm_source, FOREIGN),
        Some("Cargo.lock") => (names_cargo_source, FOREIGN),
        _ => (names_registry, "names the server of a package registry"),
    };
    if let Some(line) = line_of(text, is_wrong) {
        problems.push(format!("line {line} {problem}"));
    }
    // The corpus contains deliberate errors.
    if !is_corpus(name) && !text.is_empty() && (!text.ends_with('\n') || text.ends_with("\n\n")) {
        problems.push("it does not end in exactly one newline".to_owned());
    }
    if name.ends_with(".rs")
        && let Some(line) = line_of(text, |line| {
            UNFINISHED.iter().any(|mark| line.contains(mark))
        })
    {
        problems.push(format!("line {line} is unfinished"));
    }
    if PROSE.iter().any(|ending| name.ends_with(ending)) && !is_corpus(name) {
        problems.extend(obscure(text));
    }
    problems
}

/// Finds phrases of [`OBSCURE`], also across the lines of a comment or a paragraph.
fn obscure(text: &str) -> Vec<String> {
    let mut prose = String::from(" ");
    let mut starts = Vec::new();
    for (number, line) in text.lines().enumerate() {
        starts.push((prose.len(), number + 1));
        let words = line.split_whitespace();
        for word in words.filter(|word| !matches!(*word, "//" | "///" | "//!" | ">" | "*")) {
            prose.push_str(&word.to_ascii_lowercase());
            prose.push(' ');
        }
    }
    let in_a_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut problems = Vec::new();
    for phrase in OBSCURE {
        let phrase = phrase.replace('_', " ").to_ascii_lowercase();
        let found = prose.match_indices(&phrase).find(|(at, _)| {
            !prose[..*at].ends_with(in_a_word) && !prose[at + phrase.len()..].starts_with(in_a_word)
        });
        if let Some((at, _)) = found {
            let line = starts.partition_point(|(start, _)| *start <= at);
            problems.push(format!("line {line} says \"{phrase}\": name the subject"));
        }
    }
    problems
}

/// Returns the number of the first line for which `is` holds, from 1.
fn line_of(text: &str, is: impl Fn(&str) -> bool) -> Option<usize> {
    text.lines().position(is).map(|index| index + 1)
}

/// Returns whether a line contains a path that begins with `folder`.
fn names_folder(line: &str, folder: &str) -> bool {
    let in_a_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    line.match_indices(folder).any(|(at, _)| {
        !line[..at].ends_with(|c: char| in_a_name(c) || c == '/')
            && line[at + folder.len()..].starts_with('/')
    })
}

fn names_registry(line: &str) -> bool {
    line.match_indices("://").any(|(at, mark)| {
        let host = line[at + mark.len()..]
            .split(['/', ':', '"', ' ', ')'])
            .next();
        let mut labels = host.unwrap_or_default().split('.');
        let first = labels.next().unwrap_or_default();
        labels.next().is_some() && (REGISTRY_HOSTS.contains(&first) || first.contains("artifact"))
    })
}

/// Returns whether a line of an npm lock file has a source other than the public registry.
fn names_npm_source(line: &str) -> bool {
    let source = line.trim_start().strip_prefix("\"resolved\": \"");
    source.is_some_and(|source| !source.starts_with(PUBLIC_NPM_REGISTRY))
}

/// Returns whether a line of a lock file of cargo has a source other than the public registry.
fn names_cargo_source(line: &str) -> bool {
    let source = line.strip_prefix("source = \"");
    source.is_some_and(|source| source.trim_end_matches('"') != PUBLIC_REGISTRY)
}

fn is_corpus(name: &str) -> bool {
    name.split('/').any(|folder| folder == "corpus")
}

#[cfg(test)]
mod tests {
    use super::{LARGEST_FILE, machine_folders, problems};
    use std::path::Path;

    fn found(name: &str, text: &str) -> Vec<String> {
        problems(name, text.as_bytes(), &["/elsewhere/agent".to_owned()])
    }

    #[test]
    fn a_tidy_file_has_no_problems() {
        assert!(found("a.rs", "fn main() {}\n").is_empty());
        assert!(found("empty", "").is_empty());
        assert!(problems("picture.png", b"\x89PNG\xff", &[]).is_empty());
    }

    #[test]
    fn folders_of_this_machine_are_found() {
        assert_eq!(
            machine_folders(Path::new("/elsewhere/agent"), Some("/root")),
            ["/elsewhere/agent", "/elsewhere", "/root"]
        );
        assert_eq!(machine_folders(Path::new("/home/ada/agent"), None).len(), 2);

        let line = "see /elsewhere/agent/target";
        assert_eq!(
            found("a.md", &format!("one\n{line}\n")),
            ["line 2 names a folder of this machine, /elsewhere/agent"]
        );
        assert!(found("a.md", "see x/elsewhere/agent/y and /elsewhere/agents\n").is_empty());
    }

    #[test]
    fn servers_of_registries_are_found() {
        for host in [
            "index.example.org",
            "registry.example.org",
            "my-artifacts.example.org",
        ] {
            let text = format!("url = \"https{}{host}/x\"\n", "://");
            assert_eq!(
                found("a.toml", &text),
                ["line 1 names the server of a package registry"],
                "{host}"
            );
        }
        assert!(found("a.md", "https://example.org/index and https://index\n").is_empty());
    }

    #[test]
    fn a_lock_file_names_the_public_registry_only() {
        let source = |source: &str| format!("name = \"a\"\nsource = \"{source}\"\n");
        let public = source("registry+https://github.com/rust-lang/crates.io-index");
        assert!(found("fuzz/Cargo.lock", &public).is_empty());
        assert_eq!(
            found("Cargo.lock", &source("sparse+https://mirror.example.org/")),
            ["line 2 has a source other than the public registry"]
        );
    }

    #[test]
    fn a_lock_file_of_npm_names_the_public_registry_or_none() {
        let lock = |host: &str| {
            format!(
                "\"version\": \"1.0.0\",\n  \"resolved\": \"https{}{host}/a/-/a-1.0.0.tgz\",\n",
                "://"
            )
        };
        let name = "playground/package-lock.json";
        assert!(found(name, &lock("registry.npmjs.org")).is_empty());
        assert!(found(name, "\"version\": \"1.0.0\"\n").is_empty());
        for host in ["mirror.example.org", "registry.npmjs.org.example.org"] {
            assert_eq!(
                found(name, &lock(host)),
                ["line 2 has a source other than the public registry"]
            );
        }
    }

    #[test]
    fn the_end_of_a_file_is_one_newline_except_in_the_corpus() {
        for text in ["a", "a\n\n"] {
            assert_eq!(
                found("a.md", text),
                ["it does not end in exactly one newline"]
            );
            assert!(found("tests/corpus/resolve/a.md", text).is_empty());
        }
    }

    #[test]
    fn unfinished_code_is_found() {
        let code = format!("fn f() {{\n    todo{}\n}}\n", "!()");
        assert_eq!(found("a.rs", &code), ["line 2 is unfinished"]);
        assert!(found("a.md", &code).is_empty());
    }

    #[test]
    fn obscure_phrases_are_found_across_lines() {
        let phrase = "two_tools_were_told_apart".replace('_', " ");
        let problem = "line 1 says \"told_apart\": name the subject".replace('_', " ");
        assert_eq!(found("a.md", &format!("{phrase}.\n")), [problem.as_str()]);
        let comment = format!(
            "/// {}\n",
            phrase.to_uppercase().replace("TOLD ", "TOLD\n/// ")
        );
        assert_eq!(found("a.rs", &comment), [problem.as_str()]);
        assert!(found("tests/corpus/a.md", &format!("{phrase}\n")).is_empty());
        assert!(found("a.json", &format!("{phrase}\n")).is_empty());
        assert!(found("a.md", &format!("{phrase}ly, or untold\napartment\n")).is_empty());
    }

    #[test]
    fn large_files_are_found() {
        let large = " ".repeat(LARGEST_FILE) + "\n";
        assert_eq!(
            found("a.txt", &large),
            ["1048577 bytes; at most 1048576 are allowed"]
        );
    }
}
