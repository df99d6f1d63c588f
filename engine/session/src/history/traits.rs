//! What the calls of a tool are for a history: the labels of its data, and whether it sends or writes.
//!
//! What an agent got is described by who vouches for it: the entry of the index, and the operator's tenant. A server
//! vouches for itself with annotations, which only make it less safe than an absent one if they say so.

use crate::basis::Tool;
use crate::method::Method;
use agent_api::lower::{ToolEntry, is_label};
use agent_api::model::{HistoryTerms, ToolTraits, ToolView};
use agent_api::text::sort::{set_of, sort_by};
use agent_syntax::json::{Writer, parse_strict};
use agent_syntax::members::{boolean, items, member, string};
use agent_syntax::{Node, Value};
use std::collections::BTreeSet;

/// The label of data that nobody rated.
pub(crate) const UNKNOWN: &str = "unknown";

/// The label of data that others may have written.
const UNTRUSTED: &str = "untrusted";

/// The labels that a tag of a capability adds.
const OF_TAGS: [&str; 2] = ["private", UNTRUSTED];

/// The resource of capabilities that reach others.
const INTERNET: &str = "internet";

/// The tag of a tool that only reads.
const READONLY: &str = "readonly";

/// Maximum number of labels in `x-labels`. A list with more is not read, and its data may be anything.
const NAMES_MAX: usize = 32;

/// The hints of MCP, each with its least safe default.
const HINTS: [(&str, bool); 4] = [
    ("destructiveHint", true),
    ("idempotentHint", false),
    ("openWorldHint", true),
    ("readOnlyHint", false),
];

/// What the calls of a tool are.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Traits {
    /// The id of the server.
    pub(crate) server: String,
    pub(crate) version: String,
    /// The name that the server has for the tool, or the method of a request.
    pub(crate) tool: String,
    /// The values of the hints, in their order.
    pub(crate) hints: [bool; 4],
    /// `verb:resource`: sorted.
    pub(crate) capabilities: Vec<String>,
    /// The labels of its data: sorted.
    pub(crate) labels: Vec<String>,
    /// Whether it sends data to others.
    pub(crate) sends: bool,
    /// Whether it changes something.
    pub(crate) writes: bool,
}

impl Traits {
    /// Returns what a locked tool is, of a server whose data has labels.
    pub(crate) fn of_tool(
        view: Option<ToolView<'_>>,
        tool: &Tool,
        of_server: &BTreeSet<String>,
        terms: &HistoryTerms,
    ) -> Self {
        let definition = ToolEntry::read(&tool.definition);
        let hint = |name| definition.hint(name);
        let what = (&*tool.served.server, &*tool.served.version, tool.own_name());
        let mut traits = Self::least_safe(what);
        traits.hints = HINTS.map(|(name, default)| hint(name).unwrap_or(default));
        let mut labels = of_server.clone();
        let mut is_readonly = hint("readOnlyHint") == Some(true);
        let mut writes = false;
        traits.sends = hint("openWorldHint") != Some(false);
        for block in view.into_iter().flat_map(ToolView::advertised) {
            traits.capabilities.push(block.pair().to_owned());
            let (verb, resource) = block.verb_and_resource();
            traits.sends |= resource == INTERNET || verb == "notify";
            writes |= matches!(verb, "execute" | "notify" | "write");
            is_readonly |= block.tags().any(|tag| tag == READONLY);
            let tags = block.tags().filter(|tag| OF_TAGS.contains(tag));
            labels.extend(tags.map(str::to_owned));
            if resource == INTERNET {
                labels.insert(UNTRUSTED.to_owned());
            }
        }
        traits.writes = writes || !is_readonly;
        if hint("openWorldHint") != Some(false) {
            labels.insert(UNTRUSTED.to_owned());
        }
        labels.extend(view.into_iter().flat_map(|it| labels_of(it.entry())));
        sort_by(&mut traits.capabilities, Ord::cmp);
        traits.capabilities.dedup();
        traits.labels = labels.into_iter().collect();
        traits.by_operator(terms)
    }

    /// Returns what a request for a resource or a prompt is, and the call of a tool that no lock has: the least safe
    /// that the labels of the server allow. A request changes nothing, but its URI can hold data for the server.
    pub(crate) fn of_request(
        what: (&str, &str, &str),
        of_server: &BTreeSet<String>,
        terms: &HistoryTerms,
    ) -> Self {
        let mut labels = of_server.clone();
        labels.insert(UNTRUSTED.to_owned());
        let traits = Self {
            labels: labels.into_iter().collect(),
            writes: Method::named(what.2).is_none(),
            ..Self::least_safe(what)
        };
        traits.by_operator(terms)
    }

    fn least_safe((server, version, tool): (&str, &str, &str)) -> Self {
        Self {
            server: server.to_owned(),
            version: version.to_owned(),
            tool: tool.to_owned(),
            hints: HINTS.map(|(_, default)| default),
            capabilities: Vec::new(),
            labels: Vec::new(),
            sends: true,
            writes: true,
        }
    }

    /// Applies what the operator says.
    fn by_operator(mut self, terms: &HistoryTerms) -> Self {
        let of_tool = |it: &&ToolTraits| {
            let mut tools = it.tools.iter();
            tools.any(|tools| tools.selects(&self.server, &self.tool))
        };
        let mut labels = set_of(self.labels.iter().cloned());
        for change in terms.labels.iter().filter(of_tool) {
            labels.extend(change.add.iter().cloned());
            labels.retain(|label| !change.remove.contains(label));
            self.sends = change.sends.unwrap_or(self.sends);
            self.writes = change.writes.unwrap_or(self.writes);
        }
        self.labels = labels.into_iter().collect();
        self
    }

    /// Writes `annotations`.
    pub(crate) fn write_annotations(&self, w: &mut Writer) {
        w.key("annotations").object(|w| {
            for ((name, _), value) in HINTS.iter().zip(self.hints) {
                w.key(name).bool(value);
            }
        });
    }

    /// Writes `capabilities`.
    pub(crate) fn write_capabilities(&self, w: &mut Writer) {
        let names = self.capabilities.iter().map(|it| &**it);
        w.key("capabilities").strings(names);
    }

    /// Writes `labels`.
    pub(crate) fn write_labels(&self, w: &mut Writer) {
        w.key("labels").strings(self.labels.iter().map(|it| &**it));
    }

    /// Reads what a record or a state has of a tool.
    pub(crate) fn read(node: &Node<'_>, what: (&str, &str, &str)) -> Option<Self> {
        let texts = |name| {
            let found = items(member(node, name)?)?.iter();
            let found = found.map(|it| Some(string(it)?.to_owned()));
            found.collect::<Option<Vec<_>>>()
        };
        let annotations = member(node, "annotations")?;
        let mut hints = [false; 4];
        for (hint, (name, _)) in hints.iter_mut().zip(HINTS) {
            *hint = boolean(member(annotations, name)?)?;
        }
        let (server, version, tool) = what;
        Some(Self {
            server: server.to_owned(),
            version: version.to_owned(),
            tool: tool.to_owned(),
            hints,
            capabilities: texts("capabilities")?,
            labels: texts("labels")?,
            sends: boolean(member(node, "sends")?)?,
            writes: boolean(member(node, "writes")?)?,
        })
    }
}

/// Returns the labels that an entry of the index gives a server or a tool. One that is not a list of labels says
/// nothing that could be relied on.
pub(crate) fn labels_of(entry: &str) -> BTreeSet<String> {
    let mut labels = BTreeSet::new();
    let Some(root) = parse_strict(entry) else {
        return set_of([UNKNOWN.to_owned()]);
    };
    if let Some(unrated) = member(&root, "x-unrated") {
        let rated = |it: &Node<'_>| string(it).is_some_and(|it| it != "data");
        let is_rated = items(unrated).is_some_and(|it| it.iter().all(rated));
        labels.extend((!is_rated).then(|| UNKNOWN.to_owned()));
    }
    match member(&root, "x-labels").map(|it| &it.value) {
        None => {}
        Some(Value::Sequence(items)) if items.len() <= NAMES_MAX => {
            for item in items {
                let label = string(item).filter(|it| is_label(it));
                labels.insert(label.unwrap_or(UNKNOWN).to_owned());
            }
        }
        Some(_) => {
            labels.insert(UNKNOWN.to_owned());
        }
    }
    labels
}
