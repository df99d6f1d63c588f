//! Reading the inputs of a command.

use super::Session;
use crate::args::{self, TaskOption};
use crate::diagnostics::Document;
use crate::engine::{
    CallPlan, Circumstances, Context, Core, Diagnostic, Drift, Grounding, Health, Imported, Index,
    Lock, Manifest, Matching, Notation, Overlay, PlanAnswer, PlanRules, Policy, Resolution, Source,
    Task, Tenant, TestOutcome, ToolCatalogue,
};
use crate::failure::Failure;
use crate::input::{INDEX_MAX, Input, TEXT_MAX, read_schemas};
use crate::output::{self, Progress};
use std::path::{Path, PathBuf};

/// The manifest, where none is named. The first of them that is there.
const MANIFESTS: [&str; 2] = ["agents.md", "AGENTS.md"];

/// Where a copy of MOVA is looked for.
const MOVA: &str = "vendor/MOVA";

/// What was found where a lock is to be.
pub(crate) struct Existing {
    pub(crate) text: Vec<u8>,
    pub(crate) lock: Result<Lock, Vec<Diagnostic>>,
}

/// The lock that a resolution gives.
pub(crate) struct NewLock {
    pub(crate) lock: Lock,
    pub(crate) text: String,
}

/// Reading inputs. None stands for an input that the engine refuses; the findings say why.
impl Session {
    pub(crate) fn manifest(&mut self, input: Option<&Input>) -> Result<Option<Manifest>, Failure> {
        let input = match input {
            Some(input) => input.clone(),
            None => usual_manifest()?,
        };
        let text = self.read(&input, TEXT_MAX)?;
        let parsed = self.engine.parse_manifest(&text)?;
        self.remember(Source::Manifest, &input, text);
        let Some(manifest) = self.accept(parsed) else {
            return Ok(None);
        };
        let warnings = self.engine.manifest_warnings(&manifest)?;
        self.findings.add(warnings);
        Ok(Some(manifest))
    }

    pub(crate) fn index(&mut self, input: &Input) -> Result<Option<Index>, Failure> {
        let _progress = Progress::of(format!("loading {input}"));
        let text = self.read(input, INDEX_MAX)?;
        let loaded = self.engine.load_index(&text)?;
        self.remember(Source::Index, input, text);
        let Some(index) = self.accept(loaded) else {
            return Ok(None);
        };
        let warnings = self.engine.index_warnings(&index)?;
        self.findings.add(warnings);
        Ok(Some(index))
    }

    /// The manifest resolved against the index, under the circumstances.
    pub(crate) fn resolution(
        &mut self,
        manifest: Option<&Input>,
        index: &Input,
        task: &TaskOption,
        circumstances: &args::Circumstances,
    ) -> Result<Option<(Resolution, Index)>, Failure> {
        let manifest = self.manifest(manifest)?;
        let index = self.index(index)?;
        let circumstances = self.circumstances(task.task.as_ref(), circumstances)?;
        let (Some(manifest), Some(index), Some(circumstances)) = (manifest, index, circumstances)
        else {
            return Ok(None);
        };
        let _progress = Progress::of("resolving".to_owned());
        let resolved = self
            .engine
            .resolve_under(&manifest, &index, &circumstances)?;
        let Some(resolution) = self.accept(resolved) else {
            return Ok(None);
        };
        let matching = self.engine.matching_of(&resolution)?;
        self.look_at_policy(&index, &matching)?;
        Ok(Some((resolution, index)))
    }

    /// The drifts, with what changed in definitions, where the older index is at hand.
    pub(crate) fn detailed(
        &mut self,
        drifts: Vec<Drift>,
        old_index: Option<&Input>,
        older: &Lock,
        newer: (&Lock, &Index),
    ) -> Result<Option<Vec<Drift>>, Failure> {
        let Some(input) = old_index else {
            return Ok(Some(drifts));
        };
        let text = self.read(input, INDEX_MAX)?;
        match self.engine.load_index(&text)? {
            Ok(before) => self
                .engine
                .detailed(&drifts, (older, &before), newer)
                .map(Some),
            Err(problems) => {
                // They are about this file, and not the one that was named by `--index`.
                self.remember(Source::Index, input, text);
                self.add(problems);
                Ok(None)
            }
        }
    }

    /// A task matched against the index.
    pub(crate) fn matching(
        &mut self,
        manifest: Option<&Manifest>,
        index: &Index,
        circumstances: &Circumstances,
    ) -> Result<Option<Matching>, Failure> {
        let _progress = Progress::of("matching".to_owned());
        let decided = self
            .engine
            .decide_matching(manifest, index, circumstances)?;
        let Some(matching) = self.accept(decided) else {
            return Ok(None);
        };
        self.look_at_policy(index, &matching)?;
        Ok(Some(matching))
    }

    /// The task and all else that is named.
    pub(crate) fn circumstances(
        &mut self,
        task: Option<&Input>,
        args: &args::Circumstances,
    ) -> Result<Option<Circumstances>, Failure> {
        let task = self.named(task, Self::task)?;
        let tenant = self.named(args.tenant.as_ref(), |session, input| {
            session.tenant(input, args.tenant_id.as_deref())
        })?;
        let health = self.named(args.health.as_ref(), Self::health)?;
        let named = match (&args.policy, &args.tenant, &tenant) {
            (Some(policy), ..) => Some(policy.clone()),
            (None, Some(Input::File(path)), Some(Some(tenant))) => {
                let policy = self.engine.tenant_policy(tenant)?;
                policy.map(|policy| Input::File(path.with_file_name(policy)))
            }
            _ => None,
        };
        let policy = self.named(named.as_ref(), Self::policy)?;
        let context = self.named(args.policy_context.as_ref(), Self::context)?;
        let (Some(task), Some(tenant), Some(health), Some(policy), Some(context)) =
            (task, tenant, health, policy, context)
        else {
            return Ok(None);
        };
        let ungoverned =
            self.engine
                .circumstances(task.as_ref(), tenant.as_ref(), health.as_ref())?;
        let Some((policy, _)) = policy else {
            return Ok(Some(ungoverned));
        };
        let governed = self.engine.govern(&policy, &ungoverned, context.as_ref())?;
        self.policy = Some((policy, tenant));
        Ok(Some(governed))
    }

    /// What the policy says in vain, in general and in a decision.
    fn look_at_policy(&mut self, index: &Index, matching: &Matching) -> Result<(), Failure> {
        if let Some((policy, tenant)) = self.policy.take() {
            let dead = self
                .engine
                .dead_rules(&policy, Some(index), tenant.as_ref())?;
            let unused = self.engine.unused_rules(&policy, matching)?;
            self.findings.add(dead.into_iter().chain(unused));
        }
        Ok(())
    }

    /// A policy, and its text.
    pub(crate) fn policy(&mut self, input: &Input) -> Result<Option<(Policy, Vec<u8>)>, Failure> {
        let text = self.read(input, TEXT_MAX)?;
        let parsed = self.engine.parse_policy(&text)?;
        self.remember(Source::Policy, input, text.clone());
        Ok(self.accept(parsed).map(|policy| (policy, text)))
    }

    fn context(&mut self, input: &Input) -> Result<Option<Context>, Failure> {
        let text = self.read(input, TEXT_MAX)?;
        let parsed = self.engine.parse_context(&text, notation(input))?;
        self.remember(Source::Context, input, text);
        Ok(self.accept(parsed))
    }

    /// The tests of a policy, and what became of each.
    pub(crate) fn policy_tests(
        &mut self,
        policy: &[u8],
        input: &Input,
    ) -> Result<Option<Vec<TestOutcome>>, Failure> {
        let text = self.read(input, TEXT_MAX)?;
        let outcomes = self.engine.policy_tests(policy, &text)?;
        self.remember(Source::PolicyTest, input, text);
        Ok(self.accept(outcomes))
    }

    /// An index that is to be merged with.
    pub(crate) fn index_text(&mut self, input: &Input) -> Result<Vec<u8>, Failure> {
        let text = self.read(input, INDEX_MAX)?;
        self.remember(Source::Index, input, text.clone());
        Ok(text)
    }

    pub(crate) fn overlay(&mut self, input: &Input) -> Result<Overlay, Failure> {
        let text = self.read(input, TEXT_MAX)?;
        self.remember(Source::Overlay, input, text.clone());
        Ok(Overlay {
            text,
            notation: notation(input),
        })
    }

    /// An index with a document in it.
    pub(crate) fn import(
        &mut self,
        document: &Input,
        overlay: Option<&Overlay>,
        index: Option<&[u8]>,
    ) -> Result<Option<Imported>, Failure> {
        let text = self.read(document, TEXT_MAX)?;
        let merged = self.engine.import(&text, overlay, index)?;
        self.remember(Source::Import, document, text);
        Ok(self.accept(merged))
    }

    /// Whether a summary says what a payload says.
    pub(crate) fn ground(
        &mut self,
        summary: &Input,
        payload: &Input,
    ) -> Result<Option<Grounding>, Failure> {
        let texts = [self.read(summary, TEXT_MAX)?, self.read(payload, TEXT_MAX)?];
        let grounded = self.engine.ground(&texts[0], &texts[1])?;
        let [summary_text, payload_text] = texts;
        self.remember(Source::Summary, summary, summary_text);
        self.remember(Source::Payload, payload, payload_text);
        Ok(self.accept(grounded))
    }

    /// An input that may not be named. The outer none stands for one that is refused.
    fn named<T>(
        &mut self,
        input: Option<&Input>,
        read: impl FnOnce(&mut Self, &Input) -> Result<Option<T>, Failure>,
    ) -> Result<Option<Option<T>>, Failure> {
        match input {
            None => Ok(Some(None)),
            Some(input) => Ok(read(self, input)?.map(Some)),
        }
    }

    fn task(&mut self, input: &Input) -> Result<Option<Task>, Failure> {
        let text = self.read(input, TEXT_MAX)?;
        let parsed = self.engine.parse_task(&text, notation(input))?;
        self.remember(Source::Task, input, text);
        let Some(task) = self.accept(parsed) else {
            return Ok(None);
        };
        let warnings = self.engine.task_warnings(&task)?;
        self.findings.add(warnings);
        Ok(Some(task))
    }

    pub(crate) fn tenant(
        &mut self,
        input: &Input,
        id: Option<&str>,
    ) -> Result<Option<Tenant>, Failure> {
        let text = self.read(input, TEXT_MAX)?;
        let parsed = self.engine.parse_tenant(&text, notation(input), id)?;
        self.remember(Source::Tenant, input, text);
        let Some(tenant) = self.accept(parsed) else {
            return Ok(None);
        };
        let warnings = self.engine.tenant_warnings(&tenant)?;
        self.findings.add(warnings);
        Ok(Some(tenant))
    }

    fn health(&mut self, input: &Input) -> Result<Option<Health>, Failure> {
        let text = self.read(input, TEXT_MAX)?;
        let parsed = self.engine.parse_health(&text, notation(input))?;
        self.remember(Source::Health, input, text);
        Ok(self.accept(parsed))
    }

    pub(crate) fn lock(&mut self, input: &Input) -> Result<Option<Lock>, Failure> {
        let text = self.read(input, TEXT_MAX)?;
        let parsed = self.engine.parse_lock(&text)?;
        self.remember(Source::Lock, input, text);
        Ok(self.accept(parsed))
    }

    pub(crate) fn call_plan(&mut self, input: &Input) -> Result<Option<CallPlan>, Failure> {
        let text = self.read(input, TEXT_MAX)?;
        let parsed = self.engine.parse_call_plan(&text)?;
        self.remember(Source::Plan, input, text);
        Ok(self.accept(parsed))
    }

    /// MOVA's core, if there is a copy that is to take the place of the project's own equivalents.
    pub(crate) fn core(&mut self, option: &args::MovaOption) -> Result<Option<Core>, Failure> {
        let folder = match &option.folder {
            Some(folder) => folder.clone(),
            None if Path::new(MOVA).is_dir() => PathBuf::from(MOVA),
            None => return Ok(None),
        };
        let schemas = read_schemas(&folder)?;
        let core = self.engine.parse_core(&schemas)?;
        core.map(Some).map_err(|errors| {
            Failure::new(format_args!(
                "`{}` has not the core of MOVA: {}",
                folder.display(),
                errors.join("; ")
            ))
            .help("give the folder of a copy of MOVA 4.1.1, which has them in `schemas`")
        })
    }

    /// What plans are decided by. What is wrong with it is told with the plan.
    pub(crate) fn plan_rules(
        &mut self,
        tool_pool: &Input,
        profile: &Input,
        core: Option<&Core>,
    ) -> Result<PlanRules, Failure> {
        let texts = [
            self.read(tool_pool, TEXT_MAX)?,
            self.read(profile, TEXT_MAX)?,
        ];
        let rules = self.engine.parse_plan_rules(&texts[0], &texts[1], core)?;
        let [pool_text, profile_text] = texts;
        self.remember(Source::ToolPool, tool_pool, pool_text);
        self.remember(Source::Profile, profile, profile_text);
        Ok(rules)
    }

    /// Whether a sequential plan may run, which answers a request that may be there.
    pub(crate) fn authorize_plan(
        &mut self,
        (plan, request): (&Input, Option<&Input>),
        rules: &PlanRules,
        index: Option<&Index>,
        lock: Option<&Lock>,
        catalogue: Option<&ToolCatalogue>,
    ) -> Result<PlanAnswer, Failure> {
        let text = self.read(plan, TEXT_MAX)?;
        let asked = match request {
            None => None,
            Some(input) => Some((input, self.read(input, TEXT_MAX)?)),
        };
        let request = asked.as_ref().map(|(_, text)| &**text);
        let answer = self
            .engine
            .authorize_plan(&text, rules, request, index, lock, catalogue)?;
        self.remember(Source::Plan, plan, text);
        if let Some((input, text)) = asked {
            self.remember(Source::Request, input, text);
        }
        Ok(answer)
    }

    /// All in which a document is not as a schema asks. None: there is no such schema.
    pub(crate) fn schema_problems(
        &mut self,
        schema: &str,
        document: &Input,
        core: Option<&Core>,
    ) -> Result<Option<Vec<Diagnostic>>, Failure> {
        let text = self.read(document, TEXT_MAX)?;
        let problems = self.engine.check_document(schema, &text, core)?;
        self.remember(Source::Document, document, text);
        Ok(problems)
    }

    pub(crate) fn tool_catalogue(
        &mut self,
        input: &Input,
    ) -> Result<Option<ToolCatalogue>, Failure> {
        let text = self.read(input, INDEX_MAX)?;
        let parsed = self.engine.parse_tool_catalogue(&text)?;
        self.remember(Source::Catalogue, input, text);
        Ok(self.accept(parsed))
    }

    /// The lock that may or may not be there. Its problems are not among the findings yet.
    pub(crate) fn existing_lock(&mut self, input: &Input) -> Result<Option<Existing>, Failure> {
        if input.is_missing() {
            return Ok(None);
        }
        let text = self.read(input, TEXT_MAX)?;
        let lock = self.engine.parse_lock(&text)?;
        self.remember(Source::Lock, input, text.clone());
        Ok(Some(Existing { text, lock }))
    }

    /// The lock that is to be. None if a requirement has no server; the findings say which.
    pub(crate) fn new_lock(&mut self, resolution: &Resolution) -> Result<Option<NewLock>, Failure> {
        let unsatisfied = self.engine.unsatisfied(resolution)?;
        self.findings.add(unsatisfied);
        let Some(text) = self.engine.lock_text(resolution)? else {
            return Ok(None);
        };
        match self.engine.parse_lock(text.as_bytes())? {
            Ok(lock) => Ok(Some(NewLock { lock, text })),
            Err(_) => Err(Failure::internal(
                "the engine refuses a lock that it has written",
            )),
        }
    }

    fn read(&mut self, input: &Input, limit: u64) -> Result<Vec<u8>, Failure> {
        if *input == Input::Stdin && std::mem::replace(&mut self.stdin_is_read, true) {
            return Err(Failure::new("standard input can be read only once")
                .help("give `-` for one input, and the path of a file for every other"));
        }
        let text = input.read(limit)?;
        if self.verbose {
            output::note(format_args!("read {} bytes of {input}", text.len()));
        }
        Ok(text)
    }

    fn remember(&mut self, source: Source, input: &Input, text: Vec<u8>) {
        self.findings.add_document(Document {
            source,
            name: input.to_string(),
            text,
        });
    }

    fn accept<T>(&mut self, checked: Result<T, Vec<Diagnostic>>) -> Option<T> {
        checked.map_err(|problems| self.findings.add(problems)).ok()
    }
}

/// In which notation a file of this name is read.
fn notation(input: &Input) -> Notation {
    let is_json = match input {
        Input::File(path) => path.as_os_str().as_encoded_bytes().ends_with(b".json"),
        Input::Stdin => false,
    };
    if is_json {
        Notation::Json
    } else {
        Notation::ByContent
    }
}

/// The manifest in the working folder.
fn usual_manifest() -> Result<Input, Failure> {
    MANIFESTS
        .iter()
        .map(|&name| Input::from(name))
        .find(|input| !input.is_missing())
        .ok_or_else(|| {
            Failure::new("there is no `agents.md` in this folder")
                .help("name the manifest: `agent validate path/to/agents.md`")
        })
}
