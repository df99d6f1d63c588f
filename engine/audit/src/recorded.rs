//! The records of a run, as its folder has them.

use super::folder::{File, Folder};
use super::members::{at, items, string};
use super::problems::Found;
use agent_api::lower::digest;
use agent_api::text::Span;
use agent_syntax::json::parse_strict;
use agent_syntax::{Node, Value};

/// The names of the files that every run leaves in addition to its episodes and logs.
pub(crate) const REQUEST: &str = "request.envelope.json";
pub(crate) const PLAN: &str = "plan.envelope.json";
pub(crate) const POOL: &str = "tool_pool.json";
pub(crate) const PROFILE: &str = "instruction_profile.json";
pub(crate) const REPORT: &str = "validation_report.json";
pub(crate) const SUMMARY: &str = "run_summary.json";
pub(crate) const INDEX: &str = "episodes/index.jsonl";

/// The documents and the report of a run, in the order in which it stores them.
pub(crate) const DOCUMENTS: [&str; 5] = [REQUEST, PLAN, POOL, PROFILE, REPORT];

/// A file of one JSON value.
#[derive(Debug)]
pub(crate) struct Record<'f> {
    pub(crate) file: &'f File,
    pub(crate) root: Node<'f>,
}

impl Record<'_> {
    /// Returns whether the record takes the place of a document that was absent or unreadable.
    pub(crate) fn is_placeholder(&self) -> bool {
        let Value::Mapping(members) = &self.root.value else {
            return false;
        };
        let of = |key| members.iter().any(|it| it.key == key);
        (members.len() == 1 && of("absent")) || (members.len() == 3 && of("unreadable"))
    }
}

impl Record<'_> {
    /// Returns a content that the record keeps with its digest, unless it is redacted.
    pub(crate) fn content(&self, content: &Node<'_>) -> Option<String> {
        let recorded = string(content, "/digest")?;
        let text = match at(content, "/value") {
            Some(node) => node.span.of(self.file.text.as_str()).to_owned(),
            None => string(content, "/text")?.to_owned(),
        };
        (digest(&text) == recorded).then_some(text)
    }
}

/// A line of the index.
#[derive(Debug)]
pub(crate) struct Line {
    /// Its place in the index, without its end.
    pub(crate) span: Span,
    /// The digest of the line, which the next line holds.
    pub(crate) digest: String,
    /// Its content, if it is one that a run writes.
    pub(crate) entry: Option<Entry>,
}

/// The content of a line of the index.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) digest: String,
    pub(crate) episode_id: String,
    pub(crate) episode_type: String,
    pub(crate) previous: Option<String>,
}

/// The records of a run.
#[derive(Debug)]
pub(crate) struct Recorded<'f> {
    pub(crate) folder: &'f Folder,
    pub(crate) index: Option<&'f File>,
    pub(crate) lines: Vec<Line>,
    /// The episodes that can be read, in the order of the index.
    pub(crate) episodes: Vec<Record<'f>>,
    /// Every other JSON file that can be read.
    others: Vec<Record<'f>>,
}

impl<'f> Recorded<'f> {
    /// Reads the records of a folder, and reports those that can't be read.
    pub(crate) fn read(folder: &'f Folder, found: &mut Found) -> Self {
        let index = folder.file(INDEX);
        let lines = index.map(|it| lines(it.text.as_str())).unwrap_or_default();
        let mut readable: Vec<Option<Record<'f>>> = Vec::new();
        for file in folder.files() {
            // A file that can't be decoded is reported already.
            let is_json = file.path.ends_with(".json") && !file.text.as_str().is_empty();
            readable.push(match is_json.then(|| file.parse()) {
                Some(Ok(root)) => Some(Record { file, root }),
                Some(Err(problems)) => {
                    found.extend(problems);
                    None
                }
                None => None,
            });
        }
        let mut episodes = Vec::new();
        for entry in lines.iter().filter_map(|line| line.entry.as_ref()) {
            let number = folder.find(&episode_path(&entry.episode_id));
            episodes.extend(number.and_then(|it| readable[it].take()));
        }
        Self {
            folder,
            index,
            lines,
            episodes,
            others: readable.into_iter().flatten().collect(),
        }
    }

    /// Returns a file that is not an episode, if it can be read.
    pub(crate) fn record(&self, path: &str) -> Option<&Record<'f>> {
        self.others.iter().find(|it| it.file.path == path)
    }

    /// Returns every record: episodes first.
    pub(crate) fn records(&self) -> impl Iterator<Item = &Record<'f>> {
        self.episodes.iter().chain(&self.others)
    }

    /// Returns the episodes of a `result_details.record`.
    pub(crate) fn of_kind(&self, record: &str) -> impl Iterator<Item = &Record<'f>> {
        let is_it =
            move |it: &&Record<'_>| string(&it.root, "/result_details/record") == Some(record);
        self.episodes.iter().filter(is_it)
    }

    /// Returns the episode of the verdict on the plan.
    pub(crate) fn verdict(&self) -> Option<&Record<'f>> {
        self.of_kind("decision")
            .find(|it| string(&it.root, "/result_details/verdict").is_some())
    }

    /// Returns whether the plan was allowed to run, by the verdict.
    pub(crate) fn is_allowed(&self) -> bool {
        let verdict = self.verdict();
        verdict.and_then(|it| string(&it.root, "/result_details/verdict")) == Some("allow")
    }

    /// Returns the steps of the plan, in order.
    pub(crate) fn planned_steps(&self) -> &[Node<'f>] {
        let plan = self.record(PLAN);
        plan.map(|it| items(&it.root, "/plan/steps"))
            .unwrap_or_default()
    }
}

/// Returns the path of an episode.
pub(crate) fn episode_path(id: &str) -> String {
    format!("episodes/{id}.json")
}

/// Returns the lines of the index. Text behind the last line end is a separate line.
fn lines(index: &str) -> Vec<Line> {
    let mut at = 0;
    let mut lines = Vec::new();
    for line in index.split_inclusive('\n') {
        let text = line.strip_suffix('\n').unwrap_or(line);
        lines.push(Line {
            span: Span::new(at, at + text.len()),
            digest: digest(text),
            entry: entry(text),
        });
        at += line.len();
    }
    lines
}

fn entry(line: &str) -> Option<Entry> {
    let root = parse_strict(line)?;
    let entry = Entry {
        digest: string(&root, "/digest")?.to_owned(),
        episode_id: string(&root, "/episode_id")?.to_owned(),
        episode_type: string(&root, "/episode_type")?.to_owned(),
        previous: string(&root, "/previous").map(str::to_owned),
    };
    let written = agent_run::index_line(
        &entry.digest,
        &entry.episode_id,
        &entry.episode_type,
        entry.previous.as_deref(),
    );
    (written == line).then_some(entry)
}
