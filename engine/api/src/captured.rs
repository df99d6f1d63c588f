//! Servers in an index, added and compared by captures \[0, 4\].

use agent_diagnostic::{Code, Diagnostic, Fix, Severity};
use agent_explain::{EntryDifference, entry_differences, left_out_definition};
use agent_import::{Imported, LiveServer, Overlay, Renamed, import, renamed};
use agent_lower::{self as lower, Checked, Lowered, concealed, definition_digest};
use agent_model::ServerView;
use agent_text::{DocumentKind, Span};

/// How a capability is declared while a server is captured: a user of options has no overlay.
const DECLARE: &str = "declare it with `--capability TOOL=VERB:RESOURCE`, or with `x-summit-capabilities` in a file for `--overlay`";

/// An index, compared with what its servers say now.
#[derive(Debug, Clone, Default)]
pub struct Refreshed {
    /// The text of the index with the newer entries.
    pub index: String,
    /// The differences, in the order of the servers.
    pub differences: Vec<EntryDifference>,
    /// Whether the text has what every difference is about. It has not if what a server says can't be put
    /// into an index.
    pub is_complete: bool,
}

/// Adds a captured server to an existing or a new index.
///
/// # Errors
/// Every problem of the capture, the overlay and the index; that the index has this version of the server
/// already. A tool whose definition has characters that people don't see is a warning.
pub fn add(
    server: &LiveServer,
    overlay: Option<Overlay>,
    existing: Option<Vec<u8>>,
) -> Lowered<Imported> {
    let version = server.version.clone().or_else(|| server.reported_version());
    let document = server.document(version.as_deref(), false);
    let mut added = import(vec![document], overlay, existing.clone())?;
    // The options leave out what nothing rates.
    added.warnings.retain(|it| it.code != Code::ImportUnrated);
    let undeclared = added.warnings.iter_mut();
    for warning in undeclared.filter(|it| it.code == Code::ImportNoCapability) {
        warning.fixes = vec![Fix::display(DECLARE)];
    }
    if let Some(known) = added
        .value
        .changed
        .iter()
        .chain(&added.value.unchanged)
        .next()
    {
        let message = format!("the index already has the server `{known}`");
        let problem = Diagnostic::new(Code::DuplicateServer, message);
        let help = format!("Compare it with `agent index refresh {}`.", server.id);
        let problem = problem.help(help);
        let index = existing.and_then(|it| lower::index(it).ok());
        let entry = index.as_ref().and_then(|it| {
            let (id, version) = known.split_once('@')?;
            it.value.find(id, version)
        });
        return Err(vec![match entry {
            Some(entry) => problem.label(entry.place_of_id(), "in the index here"),
            None => problem,
        }]);
    }
    let Checked { value: index, .. } = lower::index(added.value.index.clone().into_bytes())?;
    let named = added.value.added.iter().filter_map(|it| it.split_once('@'));
    let entries = named.filter_map(|(id, version)| index.find(id, version));
    let hidden = entries.flat_map(ServerView::tools).filter_map(concealed);
    let hidden = hidden.map(|it| left_out_definition(&it));
    added.warnings.extend(hidden);
    Ok(added)
}

/// Compares the entries of servers with what they say now, and puts the newer definitions into their entries.
/// Whatever else an entry says stays.
///
/// # Errors
/// Every problem of the index.
pub fn refresh(servers: &[LiveServer], existing: Vec<u8>) -> Lowered<Refreshed> {
    let before = lower::index(existing)?.value;
    let mut refreshed = Refreshed {
        is_complete: true,
        ..Refreshed::default()
    };
    let (mut renames, mut documents, mut numbers) = (Vec::new(), Vec::new(), Vec::new());
    let versions: Vec<_> = servers
        .iter()
        .map(|server| {
            let entry = before.find(&server.id, server.version.as_deref()?)?;
            Some((
                entry,
                server.other_version(entry.version(), entry.endpoint()),
            ))
        })
        .collect();
    for ((server, entry), number) in servers.iter().zip(&versions).zip(0..) {
        let Some((entry, other)) = entry else {
            continue;
        };
        match compare(server, *entry, other.as_deref()) {
            Ok(differences) => refreshed.differences.extend(differences),
            Err(problems) => {
                let refused = problems.into_iter().map(|it| refusal(*entry, it));
                refreshed.differences.extend(refused);
                refreshed.is_complete = false;
                continue;
            }
        }
        if let Some(other) = other {
            if before.find(&server.id, other).is_some() {
                let message = format!("the index already has the version `{other}` of the server");
                let problem = Diagnostic::new(Code::DuplicateServer, message);
                refreshed.differences.push(refusal(*entry, problem));
                refreshed.is_complete = false;
                continue;
            }
            renames.push(Renamed {
                id: &server.id,
                from: entry.version(),
                to: other,
            });
        }
        let version = other.as_deref().unwrap_or(entry.version());
        documents.push(server.document(Some(version), true));
        numbers.push(number);
    }
    let text = renamed(&before, &renames);
    if documents.is_empty() {
        refreshed.index = text;
        return Ok(Checked {
            value: refreshed,
            warnings: Vec::new(),
        });
    }
    let mut merged = import(documents, None, Some(text.into_bytes()))?;
    refreshed.index = merged.value.index;
    // Tools that a server adds and drops are among the differences.
    merged.warnings.retain(|it| it.code == Code::ImportClaims);
    for label in merged.warnings.iter_mut().flat_map(|it| &mut it.labels) {
        if label.place.source == DocumentKind::Import {
            let number: Option<&u32> = numbers.get(label.place.number as usize);
            label.place.number = number.copied().unwrap_or_default();
        }
    }
    Ok(Checked {
        value: refreshed,
        warnings: merged.warnings,
    })
}

/// Returns why the entry of a server stays as it is.
fn refusal(entry: ServerView<'_>, problem: Diagnostic) -> EntryDifference {
    let places = problem.labels.iter().map(|label| label.place);
    let mut places: Vec<_> = places
        .filter(|it| it.source == DocumentKind::Index)
        .collect();
    places.truncate(1);
    if places.is_empty() {
        places.push(entry.place_of_id());
    }
    EntryDifference {
        server: format!("{}@{}", entry.id(), entry.version()),
        tool: None,
        code: problem.code,
        widens: false,
        text: problem.message,
        changes: Vec::new(),
        places,
    }
}

/// Returns the differences between an entry and what its server says now.
fn compare(
    server: &LiveServer,
    entry: ServerView<'_>,
    version: Option<&str>,
) -> Result<Vec<EntryDifference>, Vec<Diagnostic>> {
    let document = server.document(Some(entry.version()), true);
    let alone = format!("[{}]", entry.entry()).into_bytes();
    let imported = import(vec![document], None, Some(alone)).and_then(|it| {
        let newer = lower::index(it.value.index.into_bytes())?;
        Ok((newer, it.value.left_out))
    });
    let (newer, left_out) = imported.map_err(|mut problems| {
        problems.retain(|it| it.severity == Severity::Error);
        for label in problems.iter_mut().flat_map(|it| &mut it.labels) {
            // One byte precedes the entry in the index that it is alone in.
            if label.place.source == DocumentKind::Index {
                let Span { start, end } = label.place.span;
                let [start, end] = [start, end].map(|at| at.saturating_sub(1) as usize);
                label.place = entry.place_of(Span::new(start, end));
            }
        }
        problems
    })?;
    let Some(after) = newer.value.find(entry.id(), entry.version()) else {
        return Ok(Vec::new());
    };
    let mut differences = entry_differences(entry, after, version);
    // A tool that is left out is missing in the newer entry, and its server still lists it.
    for found in left_out {
        if entry.tool(&found.tool).is_some() {
            let is_it = |it: &EntryDifference| it.tool.as_ref() == Some(&found.tool);
            differences.retain(|it| !is_it(it));
            differences.push(EntryDifference {
                server: format!("{}@{}", entry.id(), entry.version()),
                text: format!("the server lists a tool that is left out: {}", found.defect),
                tool: Some(found.tool),
                code: found.code,
                widens: false,
                changes: Vec::new(),
                places: vec![entry.place_of_id()],
            });
        }
    }
    // Places of the newer entry are in a text that is discarded.
    for found in after.tools().filter_map(concealed) {
        let known = entry.tool(found.tool.name()).map(definition_digest);
        if known.as_ref() != Some(&definition_digest(found.tool)) {
            let difference = refusal(entry, left_out_definition(&found));
            let tool = Some(found.tool.name().to_owned());
            differences.push(EntryDifference {
                tool,
                places: vec![entry.place_of_id()],
                ..difference
            });
        }
    }
    Ok(differences)
}
