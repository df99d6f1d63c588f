//! Live lists of tools against the lock: what a server changed is quarantined, and nothing else of its
//! list has an effect.

use super::basis::Basis;
use super::limits::{
    CHANGES_MAX, LIVE_LIST_MAX_BYTES, QUARANTINED_MAX, QUOTE_MAX_CHARS, UNLOCKED_NAMES_MAX,
};
use super::offered::{self, Offered, is_short};
use agent_api::diagnostic::Code;
use agent_api::explain::CallReason;
use agent_api::lower::{ToolEntry, concealed_in, digest};
use agent_api::served::drifted;
use agent_api::text::visible;
use agent_record::Redactor;
use agent_syntax::json::parse_strict;
use agent_syntax::members::{items, member, string};
use std::collections::{BTreeMap, BTreeSet};

/// What a server lists instead of a locked tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Deviation {
    /// Another definition.
    Changed {
        /// Its digest.
        present: String,
        /// Whether it gives an agent more access.
        widens: bool,
    },
    /// Nothing.
    Missing,
    /// Several tools of the name.
    Repeated,
    /// A list that can't be read.
    Unreadable,
    /// So many deviations that all of its tools are quarantined.
    TooMany,
}

/// A locked tool that its server no longer lists as it was locked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drifted {
    /// The tool.
    pub tool: String,
    /// What is listed in its place.
    pub deviation: Deviation,
    /// The differences of the definitions, by JSON pointers.
    pub changes: Vec<String>,
}

/// A tool of a live list that no client gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Withheld {
    /// The tool, with the code points of characters that can't be seen.
    pub tool: String,
    /// Why.
    pub code: Code,
    /// The same in a sentence.
    pub text: String,
}

/// What is known of a server's live tools.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Live {
    /// Whether it has listed them.
    pub(crate) is_listed: bool,
    /// The deviation of all tools.
    pub(crate) whole: Option<Deviation>,
    /// The deviations of single tools, by number.
    pub(crate) deviations: BTreeMap<usize, Deviation>,
    /// Names of listed tools that neither the lock nor the index has.
    pub(crate) unlocked: BTreeSet<String>,
    /// The tools that no lock has, by the name that the server has for them. Only an observing session
    /// offers them.
    pub(crate) offered: BTreeMap<String, Offered>,
    /// Why it can't be reached, until it lists its tools. A state does not have it.
    pub(crate) failure: Option<String>,
    /// The differences of changed tools, by number: the first ones. A state does not have them.
    pub(crate) changes: BTreeMap<usize, Vec<String>>,
}

/// What decides on a live list beside the list itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Watch<'s> {
    /// What was known of the server.
    pub(crate) before: &'s Live,
    /// How many deviations the other servers have.
    pub(crate) deviations: usize,
    /// How many names of tools that no lock has the other servers have.
    pub(crate) names: usize,
    /// Whether the session only observes.
    pub(crate) observe: bool,
    pub(crate) redactor: &'s Redactor,
}

impl Live {
    /// Returns what is listed instead of a tool.
    pub(crate) fn deviation(&self, tool: usize) -> Option<&Deviation> {
        self.whole.as_ref().or_else(|| self.deviations.get(&tool))
    }
}

/// A live list, compared with the lock.
#[derive(Debug, Default)]
pub(crate) struct Comparison {
    pub(crate) live: Live,
    pub(crate) drifted: Vec<Drifted>,
    pub(crate) withheld: Vec<Withheld>,
}

/// Compares the result of `tools/list` with the lock. One entry, whatever is wrong with it, changes nothing
/// for the others.
pub(crate) fn compare(basis: &Basis, server: usize, result: &[u8], watch: Watch<'_>) -> Comparison {
    let mut found = Comparison::default();
    found.live.is_listed = true;
    let text = (result.len() <= LIVE_LIST_MAX_BYTES)
        .then(|| core::str::from_utf8(result).ok())
        .flatten();
    let root = text.and_then(parse_strict);
    let listed = root
        .as_ref()
        .and_then(|root| member(root, "tools"))
        .and_then(items);
    let (Some(text), Some(listed)) = (text, listed) else {
        found.live.whole = Some(Deviation::Unreadable);
        for number in basis.tools_of(server) {
            found.drift(basis, number, Deviation::Unreadable, Vec::new());
        }
        found.live.deviations.clear();
        found.live.offered.clone_from(&watch.before.offered);
        let offered = found.live.offered.values_mut();
        offered.for_each(|it| it.deviation = Some(Deviation::Unreadable));
        return found;
    };
    // The entries by name: the first, and how many there are.
    let mut named: BTreeMap<&str, (&str, usize)> = BTreeMap::new();
    for item in listed {
        match member(item, "name").and_then(string) {
            Some(name) => {
                let entry = named.entry(name).or_insert((item.span.of(text), 0));
                entry.1 += 1;
            }
            None => found.withheld.push(Withheld {
                tool: String::new(),
                code: Code::WrongType,
                text: "an entry of the list is not a tool with a name".to_owned(),
            }),
        }
    }
    for number in basis.tools_of(server) {
        let tool = &basis.tools[number];
        match named.remove(tool.own_name()) {
            None => found.drift(basis, number, Deviation::Missing, Vec::new()),
            Some((entry, 1)) => {
                let entry = ToolEntry::read(entry);
                let definition = entry.formed_as(tool.own_name(), &tool.definition);
                let present = digest(&definition);
                if present != tool.digest {
                    let (changes, widens) = drifted(&tool.definition, &definition);
                    found.drift(
                        basis,
                        number,
                        Deviation::Changed { present, widens },
                        changes,
                    );
                }
            }
            Some(_) => found.drift(basis, number, Deviation::Repeated, Vec::new()),
        }
        for refusal in tool.served.refusals.iter().take(1) {
            found.withheld.push(Withheld {
                tool: visible(tool.name()).into_owned(),
                code: refusal.code,
                text: refusal.text.clone(),
            });
        }
    }
    if found.live.deviations.len() + watch.deviations > QUARANTINED_MAX {
        found.live.whole = Some(Deviation::TooMany);
        found.live.deviations.clear();
    }
    let own = &basis.servers[server];
    let offered = match watch.observe {
        true => found.offer(&named, watch),
        false => BTreeSet::new(),
    };
    for name in named.into_keys().filter(|name| !offered.contains(name)) {
        let of_index = own.unlocked.binary_search_by(|it| it.as_str().cmp(name));
        let has_room = found.live.unlocked.len() + watch.names < UNLOCKED_NAMES_MAX;
        if of_index.is_err() && has_room && is_short(name) {
            found.live.unlocked.insert(name.to_owned());
        }
        for reason in basis.unlocked_reasons(server, name).into_iter().take(1) {
            found.withheld.push(Withheld {
                tool: visible(name).into_owned(),
                code: reason.code,
                text: reason.text,
            });
        }
    }
    found
}

impl Comparison {
    /// Takes the entries that no lock has. Returns the names of those that need no further word.
    fn offer<'n>(
        &mut self,
        named: &BTreeMap<&'n str, (&str, usize)>,
        watch: Watch<'_>,
    ) -> BTreeSet<&'n str> {
        let mut known = BTreeSet::new();
        // What a server took away is the same tool when it comes back.
        self.live.offered.clone_from(&watch.before.offered);
        for it in self.live.offered.values_mut() {
            it.deviation = Some(Deviation::Missing);
        }
        for (name, entry) in named {
            let before = watch.before.offered.get(*name);
            let has_room = self.live.offered.len() + watch.names < UNLOCKED_NAMES_MAX;
            if before.is_none() && !(has_room && is_short(name)) {
                continue;
            }
            if watch.redactor.is_in(entry.0) {
                self.withheld.push(Withheld {
                    tool: visible(name).into_owned(),
                    code: Code::OutputInvalid,
                    text: "its definition holds the value of a secret of the host".to_owned(),
                });
                known.insert(*name);
                continue;
            }
            // What a tool listed first is compared with what it lists later.
            let concealed = before.is_none().then(|| concealed_in(name, entry.0));
            if let Some((character, pointer)) = concealed.flatten() {
                let (character, pointer) = (u32::from(character), visible(&pointer));
                self.withheld.push(Withheld {
                    tool: visible(name).into_owned(),
                    code: Code::InvisibleCharacter,
                    text: format!("its definition contains U+{character:04X} at `{pointer}`"),
                });
                known.insert(*name);
                continue;
            }
            let Some((after, changes)) = offered::after(before, name, *entry) else {
                continue;
            };
            known.insert(*name);
            if let Some(deviation) = &after.deviation {
                self.drifted.push(Drifted {
                    tool: visible(name).into_owned(),
                    deviation: deviation.clone(),
                    changes: changes.iter().map(|it| visible(it).into_owned()).collect(),
                });
            }
            self.live.offered.insert((*name).to_owned(), after);
        }
        known
    }

    fn drift(&mut self, basis: &Basis, tool: usize, deviation: Deviation, changes: Vec<String>) {
        self.live.deviations.insert(tool, deviation.clone());
        if matches!(deviation, Deviation::Changed { .. }) {
            let shown = changes.iter().take(CHANGES_MAX);
            let shown = shown.map(|it| visible(it).chars().take(QUOTE_MAX_CHARS).collect());
            self.live.changes.insert(tool, shown.collect());
        }
        self.drifted.push(Drifted {
            tool: basis.tools[tool].name().to_owned(),
            deviation,
            changes: changes.iter().map(|it| visible(it).into_owned()).collect(),
        });
    }
}

impl Deviation {
    /// Returns the name in records and in the state.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Changed { .. } => "changed",
            Self::Missing => "missing",
            Self::Repeated => "repeated",
            Self::Unreadable => "unreadable",
            Self::TooMany => "too_many",
        }
    }

    /// Returns why a call of the tool is refused. `was` says which definition it had.
    pub(crate) fn reason(&self, server: &str, tool: &str, was: &str) -> CallReason {
        let named = format!("`{}` of `{server}`", visible(tool));
        let (code, text) = match self {
            Self::Changed { present, widens } => {
                let access = match widens {
                    true => ", which may give more access",
                    false => "",
                };
                let text = format!("{named} {was}, and its server now lists {present}{access}");
                (Code::DefinitionChanged, text)
            }
            Self::Missing => (
                Code::ToolUnknown,
                format!("its server no longer lists {named}"),
            ),
            Self::Repeated => (
                Code::DefinitionChanged,
                format!("its server lists {named} more than once"),
            ),
            Self::Unreadable => (
                Code::DefinitionChanged,
                format!("the list of tools that has {named} can't be read"),
            ),
            Self::TooMany => (
                Code::DefinitionChanged,
                format!("too many tools of `{server}` changed, so {named} is withheld too"),
            ),
        };
        let help = match code {
            Code::ToolUnknown => "Call another tool; the server must list this one again.",
            _ => {
                "Call another tool; a human must review the change with `agent index refresh` and lock it."
            }
        };
        CallReason::new(code, text).help(help)
    }
}
