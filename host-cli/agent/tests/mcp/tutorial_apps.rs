//! The page `docs/tutorial-apps.md`: its commands print what it says, as they are written there.

use crate::bed::Bed;
use std::env;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

/// What the page calls the folder, its home, the tasks and the port.
const FOLDER: &str = "/home/ada/hello";
const TASKS: [&str; 2] = ["02dd79", "20e3d4"];
const PORT: &str = "127.0.0.1:23456";

/// The texts of fenced blocks with their languages, in the order of the page.
fn blocks(page: &str) -> Vec<(&str, &str)> {
    let fenced = page.split("```").skip(1).step_by(2);
    fenced.filter_map(|block| block.split_once('\n')).collect()
}

/// Returns the lines of a text without what no two runs share: times, and how long a request took.
fn timeless(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for line in text.trim_end().lines() {
        let mut timeless = String::new();
        let mut rest = line;
        while let Some(at) = rest.find("latency_ms") {
            let number = rest[at..]
                .find(|c: char| c.is_ascii_digit())
                .unwrap_or_default();
            timeless += &rest[..at + number];
            rest = rest[at + number..].trim_start_matches(|c: char| c.is_ascii_digit());
        }
        // The daemon itself is at any port.
        if rest.starts_with("mcpd serves") {
            rest = rest.rsplit_once(" at ").unwrap().0;
        }
        // `[25/Nov/2026 10:39:02]`
        let dated = rest.split_once(" [").and_then(|(before, after)| {
            let (time, after) = after.split_once(']')?;
            time.contains('/').then(|| format!("{before}{after}"))
        });
        timeless += dated.as_deref().unwrap_or(rest);
        lines.push(timeless);
    }
    lines
}

/// What the page calls something, and what it is called here.
struct Names(Vec<(String, String)>);

impl Names {
    /// Returns a text of the page with the names of here.
    fn here(&self, text: &str) -> String {
        let replaced = |text: String, (theirs, ours): &(String, String)| text.replace(theirs, ours);
        self.0.iter().fold(text.to_owned(), replaced)
    }

    /// Returns a text of here with the names of the page.
    fn there(&self, text: &str) -> String {
        let replaced = |text: String, (theirs, ours): &(String, String)| text.replace(ours, theirs);
        self.0.iter().fold(text.to_owned(), replaced)
    }

    /// Learns what a task is called here from the first URL that is printed where the page has one of it.
    fn learn(&mut self, shown: &str, expected: &str) {
        let is_new = |id: &&str| {
            expected.contains(&format!("/apps/{id}"))
                && self.0.iter().all(|(theirs, _)| theirs != id)
        };
        let Some((url, rest)) = shown.split_once("/apps/") else {
            return;
        };
        if let Some(id) = TASKS.into_iter().find(is_new) {
            let address = url.rsplit("//").next().unwrap();
            self.0.retain(|(theirs, _)| theirs != PORT);
            self.0.push((PORT.to_owned(), address.to_owned()));
            self.0.push((id.to_owned(), rest[..id.len()].to_owned()));
        }
    }
}

#[test]
fn the_commands_print_what_the_page_says() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tutorial-apps.md");
    let page = fs::read_to_string(page).unwrap();
    let bed = Bed::not_started();
    let folder = bed.path("").display().to_string();
    let folder = folder.trim_end_matches('/');
    fs::create_dir(bed.path("bin")).unwrap();
    symlink(env!("CARGO_BIN_EXE_agent"), bed.path("bin/mcp")).unwrap();
    let path = format!("{folder}/bin:{}", env::var("PATH").unwrap());

    let mut names = Names(vec![(FOLDER.to_owned(), folder.to_owned())]);
    let mut assignment = String::new();
    let mut ran = 0;
    for (language, text) in blocks(&page) {
        match language {
            "json" if text.contains("probes") => {
                fs::write(bed.path("check.json"), names.here(text)).unwrap();
            }
            "python" => {
                // The daemon that was started before would serve the client.
                bed.done(&["mcpd", "--stop"]);
                fs::write(bed.path("client.py"), text).unwrap();
            }
            _ => {}
        }
        if language != "console" {
            continue;
        }
        for command in format!("\n{text}").split("\n$ ").skip(1) {
            let (line, expected) = command.split_once('\n').unwrap_or((command, ""));
            let line = names.here(line);
            if line.starts_with("daemon=") {
                assignment = format!("{line}\n");
            }
            let before = match line.contains("$daemon") {
                true => &*assignment,
                false => "",
            };
            let mut shell = bed.shell(&format!("{before}{line}"));
            shell
                .env("HOME", folder)
                .env("PATH", &path)
                .env("LC_ALL", "C");
            let output = shell.output().unwrap();
            let shown = String::from_utf8([output.stderr, output.stdout].concat()).unwrap();
            names.learn(&shown, expected);
            let [mut shown, mut expected] = [&*names.there(&shown), expected].map(timeless);
            // Another program of this machine may have the usual port.
            shown.retain(|it| !it.contains(" is taken: apps are at "));
            if line == "mcp list" {
                // By ids, which no two runs share.
                shown.sort();
                expected.sort();
            }
            assert_eq!(shown, expected, "{line}");
            ran += 1;
        }
    }
    assert_eq!(ran, 24);
}
