//! The member `capabilities` of a compact explanation.

use crate::json::{ObjectMembers, write_capability, write_reason};
use crate::requirement::{write_chosen, write_fallback};
use agent_decide::{Matching, hash};
use agent_diagnostic::Code;
use agent_explain::Decision;
use agent_lower::definition_digest;
use agent_model::{Index, Rank, ToolNumber, ToolView};
use agent_syntax::json::Writer;
use rustc_hash::FxHashMap;

/// The codes of the reasons that are written for each tool: they follow from its definition, from a policy
/// and from the health of servers. All others follow from the other members.
const DENIALS: [Code; 4] = [
    Code::InvisibleCharacter,
    Code::PolicyDenied,
    Code::PolicyError,
    Code::HealthVeto,
];

/// Writes the members of `capabilities`. `places` has the column of each server by rank.
pub(super) fn write(w: &mut Writer, matching: &Matching, places: &[u32]) {
    let index = matching.index();
    let advertised = AdvertisedLists::of(index);
    let denials = Denials::of(matching);
    w.key("advertised").array(|w| {
        for tool in &advertised.first {
            w.array(|w| {
                for block in index.tool(*tool).advertised() {
                    w.array(|w| {
                        w.number(block.pair_number());
                        w.numbers(block.tag_numbers().iter().copied());
                    });
                }
            });
        }
    });
    w.key("denials")
        .array(|w| denials.reasons.iter().for_each(|reason| w.json(reason)));
    w.key("pairs").strings(index.pair_names());
    w.key("priorities").array(|w| {
        for rank in index.by_name() {
            let priority = matching.priority(index.server(*rank));
            w.json(&priority.to_string());
        }
    });
    let requirements = matching.requirements().enumerate();
    w.objects("requirements", requirements, |w, (number, requirement)| {
        w.key("capability")
            .object(|w| write_capability(w, &requirement.capability));
        w.key("denied").array(|w| {
            for (tool, denial) in &denials.by_requirement[number] {
                w.numbers([*tool, *denial]);
            }
        });
        write_fallback(w, Decision::Capability(matching, number));
        w.key("load").string(requirement.load.as_str());
        write_chosen(w, Decision::Capability(matching, number), |w, chosen| {
            if let Some(tool) = chosen.tool() {
                w.key("definition").string(&definition_digest(tool));
                w.key("hash").string(&hash(tool));
                w.key("tool").number(tool.number());
            }
        });
    });
    w.key("tags").strings(index.tag_names());
    // The numbers of tools are their places in these columns.
    w.key("tools").object(|w| {
        w.key("advertised").numbers(advertised.numbers);
        w.key("name").strings(index.tools().map(ToolView::name));
        w.key("server").numbers(index.tools().map(|tool| {
            let rank: Rank = tool.server().rank();
            places[rank as usize]
        }));
    });
}

/// The lists of blocks that tools advertise, each different one once.
struct AdvertisedLists {
    /// The first tool with each list.
    first: Vec<ToolNumber>,
    /// The number of each tool's list.
    numbers: Vec<u32>,
}

impl AdvertisedLists {
    fn of(index: &Index) -> Self {
        let mut first = Vec::new();
        let mut known: FxHashMap<Vec<(u32, &[u32])>, u32> = FxHashMap::default();
        let numbers = index
            .tools()
            .map(|tool| {
                let blocks = tool
                    .advertised()
                    .map(|block| (block.pair_number(), block.tag_numbers()));
                *known.entry(blocks.collect()).or_insert_with(|| {
                    first.push(tool.number());
                    first.len() as u32 - 1
                })
            })
            .collect();
        Self { first, numbers }
    }
}

/// The denials by hidden text, policy and health of tools that pass all other checks.
struct Denials {
    /// As JSON, each once.
    reasons: Vec<String>,
    /// The tools for each requirement, in order, and the number of the reason.
    by_requirement: Vec<Vec<(ToolNumber, u32)>>,
}

impl Denials {
    fn of(matching: &Matching) -> Self {
        let index = matching.index();
        let mut reasons = Vec::new();
        let mut known: FxHashMap<String, u32> = FxHashMap::default();
        let by_requirement = matching
            .requirements()
            .enumerate()
            .map(|(number, requirement)| {
                let pair = index.pair(&requirement.capability.pair());
                let tools = pair.map_or(&[][..], |pair| index.with_pair(pair).ranks);
                let mut denied = Vec::new();
                for tool in tools {
                    let failures = matching.failures(number, index.tool(*tool));
                    if !DENIALS.iter().any(|code| failures.contains(*code)) {
                        continue;
                    }
                    for reason in matching.reasons(number, index.tool(*tool)) {
                        let mut w = Writer::dense();
                        w.object(|w| write_reason(w, &reason));
                        let text = w.finish();
                        let denial = *known.entry(text).or_insert_with_key(|text| {
                            reasons.push(text.trim_end().to_owned());
                            reasons.len() as u32 - 1
                        });
                        denied.push((*tool, denial));
                    }
                }
                denied
            })
            .collect();
        Self {
            reasons,
            by_requirement,
        }
    }
}
