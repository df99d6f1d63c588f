//! Reading the part of a compact explanation that is about capabilities.

use super::super::capabilities::DENIALS;
use super::{Compact, HINT, column, invalid, number_below};
use crate::resolution::{FULL_LIMIT, write_reason};
use agent_decide::{PolicyErrorKind, Preference, Rejection};
use agent_diagnostic::{Code, Problems};
use agent_lower::fields::{Object, choice, integer, list, text};
use agent_model::{HealthStatus, Name};
use agent_syntax::json::Writer;
use agent_syntax::{Node, Value};
use agent_text::Span;
use rustc_hash::FxHashMap;

/// How often a tag may be compared. A file that takes more says much less in the full form than
/// is compared for it, which none does that was written here.
const COMPARISONS: u64 = 1 << 32;

/// Where something is wrong, and what.
pub(super) type Problem = (Span, &'static str);

/// All numbers are within their lists.
pub(super) struct Capabilities<'n> {
    advertised: Vec<Advertised<'n>>,
    denials: Vec<Rejection<'n>>,
    /// Of each server.
    priorities: Vec<i64>,
    requirements: Vec<Asked<'n>>,
    tools: Tools<'n>,
    /// That of the lists of `advertised` which a tool has.
    weight: usize,
}

/// What a tool advertises.
struct Advertised<'n> {
    /// Pairs and what each is limited by; the blocks of one pair stand together.
    blocks: Vec<(&'n str, Vec<&'n str>)>,
    /// The pairs.
    offered: Vec<&'n str>,
    /// How many blocks and tags there are.
    weight: usize,
}

struct Asked<'n> {
    verb: &'n str,
    resource: &'n str,
    /// `verb:resource`
    pair: String,
    constraints: Vec<&'n str>,
    /// For tools the number of what is said against them.
    denied: FxHashMap<usize, usize>,
    load: &'n str,
    selected: Option<Selected<'n>>,
    /// Where the answer stands.
    selected_span: Span,
}

struct Selected<'n> {
    definition: &'n str,
    hash: &'n str,
    tool: usize,
}

/// Columns of one length.
struct Tools<'n> {
    advertised: Vec<usize>,
    name: Vec<&'n str>,
    /// Never less than before.
    server: Vec<usize>,
}

impl<'n> Capabilities<'n> {
    pub(super) fn read(
        object: &Object<'n, '_>,
        servers: usize,
        problems: &mut Problems<'_>,
    ) -> Option<Self> {
        let pairs = column(object, "pairs", problems, text)?;
        let tags = column(object, "tags", problems, text)?;
        let advertised = column(object, "advertised", problems, |node, path, problems| {
            Advertised::read(node, path, &pairs, &tags, problems)
        })?;
        let denials = column(object, "denials", problems, read_denial)?;
        let priorities = column(object, "priorities", problems, |node, path, problems| {
            integer(node, path, problems).map(|priority| priority.value)
        })?;
        if priorities.len() != servers {
            let span = object.optional("priorities")?.key_span;
            invalid(problems, span, "not as long as the columns of servers");
            return None;
        }
        let tools = object.required_object("tools", HINT, problems)?;
        let tools = Tools::read(&tools, advertised.len(), servers, problems)?;
        let requirements = column(object, "requirements", problems, |node, path, problems| {
            Asked::read(node, path, tools.name.len(), denials.len(), problems)
        })?;
        let mut used = vec![false; advertised.len()];
        tools.advertised.iter().for_each(|list| used[*list] = true);
        let weights = advertised.iter().map(|list| list.weight);
        let weight = used.into_iter().zip(weights);
        Some(Self {
            weight: weight
                .map(|(used, weight)| if used { weight } else { 0 })
                .sum(),
            advertised,
            denials,
            priorities,
            requirements,
            tools,
        })
    }

    /// Write an element for each requirement. Stops behind [`FULL_LIMIT`], and at an answer that
    /// can't be: where it stands, and why.
    pub(super) fn write(&self, w: &mut Writer, compact: &Compact<'n>) -> Result<(), Problem> {
        let mut left = COMPARISONS;
        for asked in &self.requirements {
            if w.len() > FULL_LIMIT {
                break;
            }
            let weight = self.weight.saturating_mul(1 + asked.constraints.len());
            left = left
                .checked_sub(weight as u64)
                .ok_or((asked.selected_span, "this takes too much"))?;
            // What all tools that advertise the same are told.
            let mut failures = FxHashMap::default();
            let eligible = self.eligible(asked, compact, &mut failures);
            let selected = asked.selected.as_ref().map(|selected| selected.tool);
            let fits = match selected {
                None => eligible.is_empty(),
                Some(tool) => eligible.binary_search(&tool).is_ok(),
            };
            if !fits {
                let label = "this does not follow from the rest";
                return Err((asked.selected_span, label));
            }
            w.object(|w| self.write_requirement(w, asked, &eligible, &failures, compact));
        }
        Ok(())
    }

    /// The tools that there is no reason against. `failures` is filled for every list.
    fn eligible(
        &self,
        asked: &Asked<'n>,
        compact: &Compact<'n>,
        failures: &mut FxHashMap<usize, Option<Rejection<'n>>>,
    ) -> Vec<usize> {
        for list in &self.tools.advertised {
            failures
                .entry(*list)
                .or_insert_with(|| self.advertised[*list].failure(asked));
        }
        (0..self.tools.name.len())
            .filter(|tool| {
                let failure = failures.get(&self.tools.advertised[*tool]);
                failure.is_some_and(Option::is_none)
                    && self.refusals(compact, *tool).is_empty()
                    && asked.label(compact, self.tools.name[*tool]).is_none()
                    && !asked.denied.contains_key(tool)
            })
            .collect()
    }

    /// Why the server of a tool does not meet the constraints.
    fn refusals<'c>(&self, compact: &'c Compact<'n>, tool: usize) -> &'c [Rejection<'n>] {
        let server = self.tools.server[tool];
        &compact.failures[compact.servers.failures[server]]
    }

    fn write_requirement(
        &self,
        w: &mut Writer,
        asked: &Asked<'n>,
        eligible: &[usize],
        failures: &FxHashMap<usize, Option<Rejection<'n>>>,
        compact: &Compact<'n>,
    ) {
        let (id, version) = (&compact.servers.id, &compact.servers.version);
        w.key("capability").object(|w| {
            w.key("constraints")
                .strings(asked.constraints.iter().copied());
            w.key("resource").string(asked.resource);
            w.key("verb").string(asked.verb);
        });
        w.key("eligible").array(|w| {
            let Some(selected) = &asked.selected else {
                return;
            };
            for tool in eligible.iter().filter(|tool| **tool != selected.tool) {
                let server = self.tools.server[*tool];
                w.object(|w| {
                    w.key("id").string(id[server]);
                    w.key("lostOn")
                        .string(self.lost(selected.tool, *tool, compact).name());
                    w.key("tool").string(self.tools.name[*tool]);
                    w.key("version").string(version[server]);
                });
                if w.len() > FULL_LIMIT {
                    return;
                }
            }
        });
        w.key("load").string(asked.load);
        w.key("rejected").array(|w| {
            let mut tools = (0..self.tools.name.len()).peekable();
            for server in 0..id.len() {
                let mut has_tools = false;
                while let Some(tool) = tools.next_if(|tool| self.tools.server[*tool] == server) {
                    has_tools = true;
                    if w.len() > FULL_LIMIT {
                        return;
                    }
                    if eligible.binary_search(&tool).is_ok() {
                        continue;
                    }
                    w.object(|w| {
                        w.key("id").string(id[server]);
                        w.key("reasons").array(|w| {
                            self.write_reasons(w, asked, tool, failures, compact);
                        });
                        w.key("tool").string(self.tools.name[tool]);
                        w.key("version").string(version[server]);
                    });
                }
                if !has_tools {
                    w.object(|w| {
                        w.key("id").string(id[server]);
                        w.key("reasons").array(|w| {
                            let offered = Vec::new();
                            write_reason(w, &Rejection::MissingCapability { offered });
                        });
                        w.key("tool").null();
                        w.key("version").string(version[server]);
                    });
                    if w.len() > FULL_LIMIT {
                        return;
                    }
                }
            }
        });
        w.key("selected");
        match &asked.selected {
            None => w.null(),
            Some(selected) => w.object(|w| {
                let server = self.tools.server[selected.tool];
                w.key("definition").string(selected.definition);
                w.key("hash").string(selected.hash);
                w.key("id").string(id[server]);
                w.key("tool").string(self.tools.name[selected.tool]);
                w.key("version").string(version[server]);
            }),
        }
    }

    /// The reasons against a tool that is not eligible, in the order of the checks.
    fn write_reasons(
        &self,
        w: &mut Writer,
        asked: &Asked<'n>,
        tool: usize,
        failures: &FxHashMap<usize, Option<Rejection<'n>>>,
        compact: &Compact<'n>,
    ) {
        let failure = failures.get(&self.tools.advertised[tool]);
        let failure = failure.and_then(Option::as_ref);
        let label = asked.label(compact, self.tools.name[tool]);
        let forbidden = label.map(|label| Rejection::ForbiddenAction { label });
        let mut fixed = failure
            .into_iter()
            .chain(self.refusals(compact, tool))
            .chain(&forbidden)
            .peekable();
        // Only what has none of these is asked about further.
        let denial = if fixed.peek().is_none() {
            let denial = asked.denied.get(&tool);
            denial.map(|denial| &self.denials[*denial])
        } else {
            None
        };
        for reason in fixed.chain(denial) {
            write_reason(w, reason);
        }
    }

    /// The rule on which an eligible tool lost.
    fn lost(&self, selected: usize, tool: usize, compact: &Compact<'n>) -> Preference {
        let servers = &compact.servers;
        let (a, b) = (self.tools.server[selected], self.tools.server[tool]);
        if self.priorities[a] != self.priorities[b] {
            Preference::Priority
        } else if servers.id[a] != servers.id[b] {
            Preference::Id
        } else if servers.version[a] != servers.version[b] {
            Preference::Version
        } else {
            Preference::Tool
        }
    }
}

impl<'n> Advertised<'n> {
    fn read(
        node: &'n Node<'_>,
        path: &str,
        pairs: &[&'n str],
        tags: &[&'n str],
        problems: &mut Problems<'_>,
    ) -> Option<Self> {
        let mut blocks: Vec<(&str, Vec<&str>)> = Vec::new();
        let mut last = 0;
        for block in list(node, path, problems)? {
            let [pair, own] = list(block, path, problems)? else {
                invalid(problems, block.span, "no pair and its tags");
                return None;
            };
            let pair_span = pair.span;
            let pair = number_below(pairs.len(), pair, path, problems)?;
            if pair < last {
                invalid(problems, pair_span, "out of order");
                return None;
            }
            last = pair;
            let own: Option<Vec<_>> = list(own, path, problems)?
                .iter()
                .map(|tag| number_below(tags.len(), tag, path, problems).map(|tag| tags[tag]))
                .collect();
            blocks.push((pairs[pair], own?));
        }
        let mut offered: Vec<_> = blocks.iter().map(|(pair, _)| *pair).collect();
        offered.dedup();
        let weight = blocks.iter().map(|(_, tags)| 1 + tags.len()).sum();
        Some(Self {
            blocks,
            offered,
            weight,
        })
    }

    /// Why this won't do, whatever else is said of a tool.
    fn failure(&self, asked: &Asked<'n>) -> Option<Rejection<'n>> {
        let lacking = self
            .blocks
            .iter()
            .filter(|(pair, _)| {
                pair.split_once(':').is_some_and(|(verb, resource)| {
                    verb == asked.verb && resource == asked.resource
                })
            })
            .map(|(_, tags)| {
                let required = asked.constraints.iter().copied();
                required
                    .filter(|tag| !tags.contains(tag))
                    .collect::<Vec<_>>()
            })
            .min_by(|a, b| a.len().cmp(&b.len()).then_with(|| a.cmp(b)));
        match lacking {
            None => Some(Rejection::MissingCapability {
                offered: self.offered.clone(),
            }),
            Some(missing) if missing.is_empty() => None,
            Some(missing) => Some(Rejection::ConstraintUnmet { missing }),
        }
    }
}

impl<'n> Asked<'n> {
    fn read(
        node: &'n Node<'_>,
        path: &str,
        tools: usize,
        denials: usize,
        problems: &mut Problems<'_>,
    ) -> Option<Self> {
        let object = Object::of(node, path, node.span, problems)?;
        let capability = object.required_object("capability", HINT, problems)?;
        let word = |object: &Object<'n, '_>, key: &str, problems: &mut Problems<'_>| {
            let entry = object.required(key, HINT, problems)?;
            text(&entry.value, path, problems)
        };
        let denied = column(&object, "denied", problems, |node, path, problems| {
            let [tool, denial] = list(node, path, problems)? else {
                invalid(problems, node.span, "no tool and what is said against it");
                return None;
            };
            Some((
                number_below(tools, tool, path, problems)?,
                number_below(denials, denial, path, problems)?,
            ))
        })?;
        let answer = &object.required("selected", HINT, problems)?.value;
        let selected = match answer.value {
            Value::Null => None,
            _ => {
                let selected = object.object("selected", problems)?;
                let tool = selected.required("tool", HINT, problems)?;
                Some(Selected {
                    definition: word(&selected, "definition", problems)?,
                    hash: word(&selected, "hash", problems)?,
                    tool: number_below(tools, &tool.value, path, problems)?,
                })
            }
        };
        let verb = word(&capability, "verb", problems)?;
        let resource = word(&capability, "resource", problems)?;
        Some(Self {
            verb,
            resource,
            pair: format!("{verb}:{resource}"),
            constraints: column(&capability, "constraints", problems, text)?,
            denied: denied.into_iter().collect(),
            load: word(&object, "load", problems)?,
            selected,
            selected_span: answer.span,
        })
    }

    /// The label that forbids a tool of a name, or else what is asked for.
    fn label<'c>(&self, compact: &'c Compact<'n>, tool: &str) -> Option<&'c str> {
        let forbid = &compact.constraints.forbid;
        [tool, self.verb, &self.pair].into_iter().find_map(|name| {
            forbid
                .binary_search_by(|label| label.value.as_str().cmp(name))
                .ok()
                .map(|found| forbid[found].value.as_str())
        })
    }
}

impl<'n> Tools<'n> {
    fn read(
        object: &Object<'n, '_>,
        advertised: usize,
        servers: usize,
        problems: &mut Problems<'_>,
    ) -> Option<Self> {
        let columns = Self {
            advertised: column(object, "advertised", problems, |node, path, problems| {
                number_below(advertised, node, path, problems)
            })?,
            name: column(object, "name", problems, text)?,
            server: column(object, "server", problems, |node, path, problems| {
                number_below(servers, node, path, problems)
            })?,
        };
        if !columns.server.is_sorted() {
            let span = object.optional("server")?.key_span;
            invalid(problems, span, "out of order");
            return None;
        }
        let len = columns.name.len();
        if columns.advertised.len() != len || columns.server.len() != len {
            let span = object.optional("name")?.key_span;
            invalid(problems, span, "the columns have different lengths");
            return None;
        }
        Some(columns)
    }
}

/// A reason that a policy or the health of a server gives.
fn read_denial<'n>(
    node: &'n Node<'_>,
    path: &str,
    problems: &mut Problems<'_>,
) -> Option<Rejection<'n>> {
    let object = Object::of(node, path, node.span, problems)?;
    let field = |key: &str, problems: &mut Problems<'_>| {
        let entry = object.required(key, HINT, problems)?;
        Some(&entry.value)
    };
    let code = field("code", problems)?;
    let name = text(code, path, problems)?;
    match DENIALS.into_iter().find(|denial| denial.name() == name) {
        Some(Code::PolicyDenied) => {
            let reason = field("reason", problems)?;
            Some(Rejection::PolicyDenied {
                reason: match reason.value {
                    Value::Null => None,
                    _ => Some(text(reason, path, problems)?),
                },
            })
        }
        Some(Code::PolicyError) => {
            let reason = field("reason", problems)?;
            let names = ["budget", "runtime", "type", "undefined"].into_iter();
            choice(reason, path, PolicyErrorKind::parse, names, problems).map(|reason| {
                Rejection::PolicyError {
                    reason: reason.value,
                }
            })
        }
        Some(Code::HealthVeto) => {
            let status = field("status", problems)?;
            let names = HealthStatus::names();
            Some(Rejection::HealthVeto {
                status: match status.value {
                    Value::Null => None,
                    _ => Some(choice(status, path, HealthStatus::parse, names, problems)?.value),
                },
            })
        }
        _ => {
            invalid(
                problems,
                code.span,
                "no reason that a policy or health gives",
            );
            None
        }
    }
}
