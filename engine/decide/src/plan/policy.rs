//! The tool pool and the instruction profile that plans are decided by.

use agent_json_schema::{JsonText, Library};
use agent_lower::{self, Validated, digest};
use agent_model::{Effect, Profile, Rule, Selector, ToolPool};
use agent_text::sort::sort_by;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

/// The schema of requests.
const REQUEST_SCHEMA: &str = "env.mova_agent_request_v1";

/// The schemas that decide plans, sorted.
const SCHEMAS: [&str; 8] = [
    "ds.connector_core_v1",
    "ds.instruction_profile_core_v1",
    "ds.mova_agent_run_summary_v1",
    "ds.mova_agent_step_v1",
    "ds.mova_agent_tool_pool_v1",
    "ds.mova_schema_core_v1",
    "env.mova_agent_plan_v1",
    REQUEST_SCHEMA,
];

/// A tool pool and an instruction profile, which decide on plans.
#[derive(Debug)]
pub struct PlanPolicy {
    /// The tool pool.
    pub pool: Arc<Validated<ToolPool>>,
    /// The instruction profile.
    pub profile: Arc<Validated<Profile>>,
    pub(super) by_tool: Arc<RulesByTool>,
    library: Option<Arc<Library>>,
    digests: OnceLock<Vec<(&'static str, String)>>,
}

impl PlanPolicy {
    /// Validates both, with the project's own equivalents of MOVA's core or with another core.
    pub fn new(tool_pool: Vec<u8>, profile: Vec<u8>, library: Option<Arc<Library>>) -> Self {
        let known = library.as_deref().unwrap_or(Library::own());
        let (profile, by_tool) = read_profile(profile, known);
        Self {
            pool: Arc::new(agent_lower::tool_pool(tool_pool, known)),
            profile,
            by_tool,
            library,
            digests: OnceLock::new(),
        }
    }

    /// Replaces documents with the same core. A document that stays is shared, so it is read once.
    pub fn with(&self, tool_pool: Option<Vec<u8>>, profile: Option<Vec<u8>>) -> Self {
        let known = self.library();
        let kept = || (Arc::clone(&self.profile), Arc::clone(&self.by_tool));
        let (profile, by_tool) = profile.map_or_else(kept, |it| read_profile(it, known));
        let pool = tool_pool.map(|it| Arc::new(agent_lower::tool_pool(it, known)));
        Self {
            pool: pool.unwrap_or_else(|| Arc::clone(&self.pool)),
            profile,
            by_tool,
            library: self.library.clone(),
            digests: OnceLock::new(),
        }
    }

    /// Returns the schemas that decide a plan, without or with a request, and their digests.
    pub fn schema_digests(
        &self,
        with_request: bool,
    ) -> impl Iterator<Item = &(&'static str, String)> {
        let all = self.digests.get_or_init(|| {
            let digest_of = |name: &&'static str| {
                let text = JsonText::read(self.library().text(name)?)?;
                Some((*name, digest(&text.root().canonical())))
            };
            SCHEMAS.iter().filter_map(digest_of).collect()
        });
        all.iter()
            .filter(move |(name, _)| with_request || *name != REQUEST_SCHEMA)
    }

    /// Returns the first rules of the profile that allow a tool, at most `most`.
    pub fn allowing(&self, connector: &str, tool: &str, most: usize) -> Vec<&Rule> {
        let places = self.by_tool.allowing.first(connector, tool, most);
        let rules = self.profile.value.as_ref().map(|it| &*it.rules);
        let rules = places.into_iter().filter_map(|place| rules?.get(place));
        rules.collect()
    }

    /// Returns whether the rules of the profile allow a tool.
    pub fn allows(&self, connector: &str, tool: &str) -> bool {
        let rules = &self.by_tool;
        rules.denying.first(connector, tool, 1).is_empty()
            && !rules.allowing.first(connector, tool, 1).is_empty()
    }

    /// Returns the project's schemas.
    pub(crate) fn library(&self) -> &Library {
        self.library.as_deref().unwrap_or(Library::own())
    }
}

fn read_profile(
    profile: Vec<u8>,
    library: &Library,
) -> (Arc<Validated<Profile>>, Arc<RulesByTool>) {
    let profile = agent_lower::profile(profile, library);
    let by_tool = profile.value.as_ref().map(RulesByTool::of);
    (Arc::new(profile), Arc::new(by_tool.unwrap_or_default()))
}

/// The rules of a profile by their tools: a plan of many steps must not search many rules at each.
#[derive(Debug, Default)]
pub(super) struct RulesByTool {
    pub(super) allowing: BySelector,
    pub(super) denying: BySelector,
}

/// The places of the rules with one effect, in order.
#[derive(Debug, Default)]
pub(super) struct BySelector {
    every: Vec<usize>,
    one: BTreeMap<String, Vec<usize>>,
}

impl RulesByTool {
    fn of(profile: &Profile) -> Self {
        let mut rules = Self::default();
        for (place, rule) in profile.rules.iter().enumerate() {
            let of_effect = match rule.effect {
                Effect::Allow => &mut rules.allowing,
                Effect::Deny => &mut rules.denying,
                Effect::Other => continue,
            };
            match &rule.selector {
                Selector::Every => of_effect.every.push(place),
                Selector::One(tool) => of_effect.one.entry(tool.clone()).or_default().push(place),
                Selector::None => {}
            }
        }
        rules
    }
}

impl BySelector {
    /// Returns the places of the first rules about a tool, at most `most`.
    pub(super) fn first(&self, connector: &str, tool: &str, most: usize) -> Vec<usize> {
        // Neither name contains a slash.
        let one = self.one.get(&format!("{connector}/{tool}"));
        let lists = [Some(&self.every), one].into_iter().flatten();
        let mut places: Vec<_> = lists.flat_map(|it| it.iter().take(most)).copied().collect();
        sort_by(&mut places, Ord::cmp);
        places.truncate(most);
        places
    }
}
