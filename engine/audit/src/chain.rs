//! The chain: every file is the one that the run stored.

use super::folder::{File, quoted};
use super::members::{at, items, number, string};
use super::problems::{At, Found};
use super::recorded::{DOCUMENTS, INDEX, Line, Record, Recorded, SUMMARY, episode_path};
use agent_api::diagnostic::Code;
use agent_run::is_summary_digest;
use std::collections::{BTreeMap, BTreeSet};

/// Checks the digests of all files.
pub(crate) fn check(recorded: &Recorded<'_>, found: &mut Found) {
    let Some(index) = recorded.index else {
        let message = format!("`{INDEX}` is missing: nothing shows which episodes the run had");
        found.report(Code::EvidenceMissing, None, "", message);
        return;
    };
    let mut known = BTreeSet::from([INDEX.to_owned(), SUMMARY.to_owned()]);
    lines(recorded, index, found, &mut known);
    files(recorded, found, &mut known);
    summary(recorded, index, found);
    let mut seen = BTreeSet::new();
    for file in recorded.folder.files() {
        if !seen.insert(&file.path) || !known.contains(&file.path) {
            let message = format!("no episode of the run names {}", quoted(&file.path));
            let at = Some(At::start(file));
            found.report(
                Code::EvidenceUnexpected,
                at,
                "not stored by the run",
                message,
            );
        }
    }
}

/// Checks each line of the index against its episode and the line before.
fn lines(recorded: &Recorded<'_>, index: &File, found: &mut Found, known: &mut BTreeSet<String>) {
    let at = |line: &Line| Some(At::new(index, line.span));
    let mut before: Option<&Line> = None;
    for (line, number) in recorded.lines.iter().zip(1..) {
        let previous = before.map(|it| &*it.digest);
        let last = before.replace(line);
        let Some(entry) = &line.entry else {
            let message = format!("line {number} of the index is not one that a run writes");
            found.report(Code::EvidenceChanged, at(line), "changed", message);
            continue;
        };
        if entry.previous.as_deref() != previous {
            let message = match last {
                Some(_) => format!("line {number} of the index does not follow the line before"),
                None => "the first line of the index follows another one".to_owned(),
            };
            let before = last.and_then(at);
            let (code, label) = (Code::EvidenceChanged, "holds the digest of another line");
            found.report_both(code, at(line), label, before, "the line before", message);
        }
        let path = episode_path(&entry.episode_id);
        if !known.insert(path.clone()) {
            let message = format!(
                "the episode {} is twice in the index",
                quoted(&entry.episode_id)
            );
            found.report(Code::EvidenceInconsistent, at(line), "again", message);
        }
        match recorded.folder.file(&path) {
            None => {
                let message = format!("{} is missing", quoted(&path));
                found.report(
                    Code::EvidenceMissing,
                    at(line),
                    "its episode is missing",
                    message,
                );
            }
            Some(file) if file.digest != entry.digest => {
                let message = format!("{} is not the episode that the run stored", quoted(&path));
                let (code, label) = (Code::EvidenceChanged, "changed");
                found.report_both(
                    code,
                    Some(At::start(file)),
                    label,
                    at(line),
                    "its line",
                    message,
                );
            }
            Some(_) => {}
        }
    }
    if let Some(line) = before.filter(|_| !index.text.as_str().ends_with('\n')) {
        let message = "the last line of the index is cut off".to_owned();
        found.report(Code::EvidenceChanged, at(line), "without its end", message);
    }
}

/// Checks the files that episodes cover. The last episode that names a file counts.
fn files(recorded: &Recorded<'_>, found: &mut Found, known: &mut BTreeSet<String>) {
    let mut covered = BTreeMap::new();
    for episode in &recorded.episodes {
        for file in items(&episode.root, "/meta_episode/files") {
            if let (Some(path), Some(digest)) = (string(file, "/name"), string(file, "/digest")) {
                let at = At::new(episode.file, file.span);
                covered.insert(path, (at, digest, number(file, "/bytes")));
            }
        }
    }
    for (path, (at, digest, bytes)) in &covered {
        known.insert((*path).to_owned());
        match recorded.folder.file(path) {
            None => {
                let message = format!("{} is missing", quoted(path));
                found.report(Code::EvidenceMissing, Some(*at), "stored here", message);
            }
            Some(file) if file.digest != **digest => {
                let message = format!("{} is not the file that the run stored", quoted(path));
                let (code, label) = (Code::EvidenceChanged, "changed");
                found.report_both(
                    code,
                    Some(At::start(file)),
                    label,
                    Some(*at),
                    "stored",
                    message,
                );
            }
            Some(file) if Some(file.bytes) != *bytes => {
                let message = format!(
                    "{} has {} bytes, and not as recorded",
                    quoted(path),
                    file.bytes
                );
                found.report(Code::EvidenceInconsistent, Some(*at), "recorded", message);
            }
            Some(_) => {}
        }
    }
    for path in DOCUMENTS {
        if covered.contains_key(path) {
            continue;
        }
        known.insert(path.to_owned());
        let file = recorded.folder.file(path);
        let message = match file {
            Some(_) => format!("no episode covers `{path}`"),
            None => format!("`{path}` is missing"),
        };
        let at = file.map(At::start);
        found.report(
            Code::EvidenceMissing,
            at,
            "not covered by an episode",
            message,
        );
    }
}

/// Checks the summary: it holds the head of the chain, and the last episode holds its digest.
fn summary(recorded: &Recorded<'_>, index: &File, found: &mut Found) {
    let Some(file) = recorded.folder.file(SUMMARY) else {
        let end = recorded.lines.last().map(|it| At::new(index, it.span));
        let message = format!(
            "`{SUMMARY}` is missing: the run was interrupted, or the end of its evidence is cut off"
        );
        let label = "the chain is known up to here only";
        found.report(Code::EvidenceMissing, end, label, message);
        return;
    };
    let last = recorded.of_kind("run").last();
    let digest = last.and_then(|it| string(&it.root, "/result_details/summary"));
    if !digest.is_some_and(|it| is_summary_digest(it, file.text.as_str())) {
        let message = format!("`{SUMMARY}` is not the summary that the run stored");
        let other = last.map(|it| At::start(it.file));
        let (code, label) = (Code::EvidenceChanged, "changed");
        found.report_both(
            code,
            Some(At::start(file)),
            label,
            other,
            "the run",
            message,
        );
    }
    if let Some(record) = recorded.record(SUMMARY) {
        head(recorded, record, index, found);
    }
}

/// Compares the chain's length and head with the summary.
fn head(recorded: &Recorded<'_>, summary: &Record<'_>, index: &File, found: &mut Found) {
    let chain = at(&summary.root, "/chain");
    let place = Some(At::new(summary.file, chain.unwrap_or(&summary.root).span));
    let end = recorded.lines.last().map(|it| At::new(index, it.span));
    let lines = recorded.lines.len() as u64;
    let episodes = number(&summary.root, "/chain/episodes");
    let head = recorded.lines.last().map(|it| &*it.digest);
    let message = match episodes {
        Some(episodes) if episodes > lines => {
            format!(
                "the last {} of {episodes} episodes are cut off",
                episodes - lines
            )
        }
        Some(episodes) if episodes == lines => {
            if string(&summary.root, "/chain/head") == head {
                return;
            }
            "the last line of the index is not the head of the chain".to_owned()
        }
        _ => format!("the index has {lines} lines, and the run had fewer episodes"),
    };
    let (code, label) = (Code::EvidenceChanged, "the chain of the run");
    found.report_both(code, place, label, end, "the end of the index", message);
}
