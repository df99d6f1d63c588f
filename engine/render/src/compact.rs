//! The compact explanation: what `agents.resolution.json` holds, by columns.
//!
//! The full form has an object for each requirement and server, which for 1,000 requirements and
//! 100,000 servers would be more than 10 GB. But whether a server is rejected, and why, follows
//! from little: its categories and scopes, the constraints that it fails for every requirement, and
//! the requirement. The compact form writes each of these once.
//!
//! One line of JSON, keys sorted:
//!
//! | key | value |
//! |---|---|
//! | `agent`, `constraints`, `satisfied` | as in the full form |
//! | `capabilities` | what the requirements of capabilities follow from; absent without any |
//! | `categories` | the names of all categories; elsewhere they are numbers of this list |
//! | `compactVersion` | 1, or 2 with `capabilities`, or 3 with `only` |
//! | `failures` | lists of reasons that don't depend on a requirement, as in the full form |
//! | `only` | the names of all tools that requirements name; absent without any |
//! | `requirements` | `category` (a name), `load`, `only` and `serve` as in the full form, `permissions` (names), and `selected`: null, or `hash` and the number of the `server` |
//! | `scopes` | the names of all required scopes |
//! | `servers` | columns, ordered by id, then version: `categories` and `scopes` (lists of numbers), `failures` (a number), `id`, `only` (lists of numbers into the list `only`), `signed`, `version` |
//!
//! Within `capabilities`:
//!
//! | key | value |
//! |---|---|
//! | `advertised` | the different lists of blocks that tools advertise; a block is the number of its pair and a list of numbers of tags |
//! | `denials` | the reasons that a policy or the health of a server gives, as in the full form |
//! | `pairs`, `tags` | the names of all pairs `verb:resource` and of all constraints |
//! | `priorities` | a column of the servers |
//! | `requirements` | `capability`, `load`; `denied`: pairs of a tool and a denial; and `selected`: null, or `definition`, `hash` and the number of the `tool` |
//! | `tools` | columns, ordered by server, then name: `advertised` (a number), `name`, `server` (a number) |

mod capabilities;

use super::json::{ObjectMembers, write_agent, write_constraints, write_names, write_reason};
use super::requirement::{write_load, write_only, write_serve};
use agent_decide::{Rejection, Resolution, constraint_failures};
use agent_explain::Decision;
use agent_model::{ConstraintKey, Constraints, Manifest, Name, ServerView};
use agent_syntax::json::Writer;
use agent_text::sort::sort_by;
use rustc_hash::FxHashMap;

/// The version of the format where no capability is required.
const VERSION: u32 = 1;

/// The version of the format where one is.
const VERSION_WITH_CAPABILITIES: u32 = 2;

/// The version of the format where a requirement names tools.
const VERSION_WITH_ONLY: u32 = 3;

/// Returns a compact explanation with a final newline.
pub fn compact(resolution: &Resolution) -> String {
    let manifest = resolution.manifest();
    let index = resolution.index();
    let scopes = RequiredScopes::of(resolution);
    let only = named_tools(manifest);
    let failures = Failures::of(resolution);
    let servers = || index.by_name().iter().map(|rank| index.server(*rank));
    // The place of each server in the columns.
    let mut places = vec![0; index.len()];
    for (place, rank) in index.by_name().iter().enumerate() {
        places[*rank as usize] = place as u32;
    }
    let matching = Some(resolution.matching()).filter(|matching| !matching.is_empty());
    let mut w = Writer::dense();
    w.object(|w| {
        w.key("agent").object(|w| write_agent(w, &manifest.agent));
        if let Some(matching) = matching {
            w.key("capabilities")
                .object(|w| capabilities::write(w, matching, &places));
        }
        w.key("categories").strings(index.category_names());
        w.key("compactVersion").number(match matching {
            _ if !only.is_empty() => VERSION_WITH_ONLY,
            None => VERSION,
            Some(_) => VERSION_WITH_CAPABILITIES,
        });
        w.key("constraints")
            .object(|w| write_constraints(w, &manifest.constraints));
        w.key("failures").array(|w| {
            for reasons in &failures.lists {
                w.array(|w| {
                    for reason in reasons {
                        w.object(|w| write_reason(w, reason));
                    }
                });
            }
        });
        write_names(w, "only", only.iter().copied());
        let requirements = manifest.requirements.iter().enumerate();
        w.objects("requirements", requirements, |w, (number, requirement)| {
            let decision = Decision::Category(resolution, number);
            w.key("category")
                .string(requirement.category.value.as_str());
            write_load(w, decision);
            write_only(w, decision);
            w.key("permissions")
                .strings(requirement.permissions.iter().map(|p| p.value.as_str()));
            w.optional_object("selected", resolution.selected(number), |w, server| {
                w.key("hash").optional(resolution.hash(number).as_deref());
                w.key("server").number(places[server.rank() as usize]);
            });
            write_serve(w, decision);
        });
        w.key("satisfied").bool(resolution.satisfied());
        w.key("scopes").strings(scopes.names.iter().copied());
        w.key("servers").object(|w| {
            w.key("categories").array(|w| {
                for server in servers() {
                    w.numbers(server.category_numbers().iter().copied());
                }
            });
            w.key("failures")
                .array(|w| servers().for_each(|server| w.number(failures.number(server))));
            w.key("id").strings(servers().map(ServerView::id));
            if !only.is_empty() {
                w.key("only").array(|w| {
                    for server in servers() {
                        let numbered = (0..).zip(&only);
                        let own = numbered.filter(|(_, tool)| server.tool(tool).is_some());
                        w.numbers(own.map(|(number, _)| number));
                    }
                });
            }
            w.key("scopes").array(|w| {
                for server in servers() {
                    let asked = server.scope_numbers().iter();
                    w.numbers(asked.filter_map(|scope| scopes.numbers[*scope as usize]));
                }
            });
            w.key("signed")
                .array(|w| servers().for_each(|server| w.bool(server.constraint_key().signed())));
            w.key("version").strings(servers().map(ServerView::version));
        });
    });
    w.finish()
}

/// Returns the tools that requirements of categories name: sorted, without duplicates.
fn named_tools(manifest: &Manifest) -> Vec<&str> {
    let named = manifest.requirements.iter().flat_map(|it| &it.only);
    let mut named: Vec<_> = named.map(|tool| tool.value.as_str()).collect();
    sort_by(&mut named, Ord::cmp);
    named.dedup();
    named
}

/// The required scopes, including those that no server has.
struct RequiredScopes<'r> {
    /// Sorted.
    names: Vec<&'r str>,
    /// The number in `names` of each scope of the index, if it is required.
    numbers: Vec<Option<u32>>,
}

impl<'r> RequiredScopes<'r> {
    fn of(resolution: &'r Resolution) -> Self {
        let mut names: Vec<_> = resolution
            .manifest()
            .requirements
            .iter()
            .flat_map(|requirement| &requirement.permissions)
            .map(|permission| permission.value.as_str())
            .collect();
        sort_by(&mut names, Ord::cmp);
        names.dedup();
        let mut numbers = vec![None; resolution.index().scope_names().len()];
        for (place, name) in names.iter().enumerate() {
            if let Some(scope) = resolution.index().scope(name) {
                numbers[scope as usize] = Some(place as u32);
            }
        }
        Self { names, numbers }
    }
}

/// The different lists of constraints that servers fail.
struct Failures<'r> {
    constraints: &'r Constraints,
    /// The first is empty: nothing fails.
    lists: Vec<Vec<Rejection<'r>>>,
    /// The numbers of the lists that name no publisher, by the key.
    by_key: [Option<u32>; ConstraintKey::COUNT],
    /// The numbers of those that do.
    by_publisher: FxHashMap<(ConstraintKey, &'r str), u32>,
}

impl<'r> Failures<'r> {
    fn of(resolution: &'r Resolution) -> Self {
        let mut failures = Self {
            constraints: resolution.constraints(),
            lists: vec![Vec::new()],
            by_key: [None; ConstraintKey::COUNT],
            by_publisher: FxHashMap::default(),
        };
        for server in resolution.index().servers() {
            if failures.known(server).is_none() {
                failures.add(server);
            }
        }
        failures
    }

    fn add(&mut self, server: ServerView<'r>) {
        let (key, publisher) = (server.constraint_key(), server.publisher());
        let list: Vec<_> = constraint_failures(self.constraints, key, publisher).collect();
        let number = match list.is_empty() {
            true => 0,
            false => self.lists.len() as u32,
        };
        if number > 0 {
            self.lists.push(list);
        }
        if self.names_publisher(key) {
            self.by_publisher.insert((key, publisher), number);
        } else {
            self.by_key[key.number()] = Some(number);
        }
    }

    fn names_publisher(&self, key: ConstraintKey) -> bool {
        self.constraints.require_signed() && !key.signed()
    }

    fn known(&self, server: ServerView<'_>) -> Option<u32> {
        let key = server.constraint_key();
        match self.names_publisher(key) {
            true => self.by_publisher.get(&(key, server.publisher())).copied(),
            false => self.by_key[key.number()],
        }
    }

    fn number(&self, server: ServerView<'_>) -> u32 {
        self.known(server).unwrap_or(0)
    }
}
