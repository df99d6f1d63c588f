//! Reading the inputs of a command.

use super::CommandSession;
use crate::args::{self, CLIENT, INDEX, LOCK, PolicyOptions, TaskContext};
use agent_host::contract::capability::{EvaluationContext, Health, Matching, Task, Tenant};
use agent_host::contract::diagnostic::{Diagnostic, DocumentKind};
use agent_host::contract::explanation::{Former, Origin, Stored};
use agent_host::contract::grounding::Grounding;
use agent_host::contract::importer::{Imported, Overlay};
use agent_host::contract::inputs::{Index, Manifest};
use agent_host::contract::lockfile::{Drift, Lock};
use agent_host::contract::plan::{CallPlan, ToolsSnapshot};
use agent_host::contract::policy::{Context, Policy, Tested};
use agent_host::contract::resolver::Resolution;
use agent_host::contract::schemas::Core;
use agent_host::diagnostics::Document;
use agent_host::input::{INDEX_MAX, Input, TEXT_MAX, read_mova};
use agent_host::output::{self, Progress};
use agent_host::session_files::{DEFINITIONS, beside, notation};
use agent_host::system::{Files as _, System};
use agent_host::{Failure, Instance, call};
use std::path::PathBuf;

/// The default names of the manifest. The first that exists is read.
pub(crate) const MANIFESTS: [&str; 2] = ["agents.md", "AGENTS.md"];

/// How to begin in a folder without any document.
const GOVERN: &str = "`agent adopt` writes one for the servers of your MCP clients, `agent init` makes one from an index";

/// The default folder of a copy of MOVA.
const MOVA: &str = "vendor/MOVA";

/// The result of a check: a value, or the problems for which the engine refuses it.
type Checked<T> = Result<T, Vec<Diagnostic>>;

/// The file at the path of the lock.
pub(crate) struct Existing {
    pub(crate) text: Vec<u8>,
    pub(crate) lock: Checked<Lock>,
}

/// The lock of a resolution.
pub(crate) struct NewLock {
    pub(crate) lock: Lock,
    pub(crate) text: String,
}

/// Reading inputs. `None` means that the engine refuses an input; the findings contain the reasons.
impl CommandSession {
    pub(crate) fn manifest(&mut self, input: Option<&Input>) -> Result<Option<Manifest>, Failure> {
        let input = match input {
            Some(input) => input.clone(),
            None => usual_manifest()?,
        };
        let manifest = self.checked(DocumentKind::Manifest, &input, TEXT_MAX, |engine, text| {
            call!(engine, inputs.manifest.parse(text))
        })?;
        if let Some(it) = manifest {
            let warnings = call!(self.engine, inputs.manifest.warnings(it))?;
            self.add(warnings);
        }
        Ok(manifest)
    }

    pub(crate) fn index(&mut self, input: &Input) -> Result<Option<Index>, Failure> {
        let _progress = Progress::of(format!("loading {input}"));
        let index = self.checked(DocumentKind::Index, input, INDEX_MAX, |engine, text| {
            call!(engine, inputs.index.load(text))
        })?;
        if let Some(it) = index {
            let warnings = call!(self.engine, inputs.index.warnings(it))?;
            self.add(warnings);
        }
        Ok(index)
    }

    /// Loads the index, and checks its tools: no resolution warns of them.
    pub(crate) fn checked_index(&mut self, input: &Input) -> Result<(), Failure> {
        if let Some(index) = self.index(input)? {
            let warnings = call!(self.engine, inputs.index.unusable(index))?;
            self.add(warnings);
        }
        Ok(())
    }

    /// Resolves the manifest against the index, in an evaluation context.
    pub(crate) fn resolution(
        &mut self,
        manifest: Option<&Input>,
        index: &Input,
        context: &TaskContext,
    ) -> Result<Option<(Resolution, Index)>, Failure> {
        let manifest = self.manifest(manifest)?;
        let index = self.index(index)?;
        let context = self.evaluation_context(context.task.as_ref(), &context.others)?;
        let (Some(manifest), Some(index), Some(context)) = (manifest, index, context) else {
            return Ok(None);
        };
        let _progress = Progress::of("resolving".to_owned());
        let resolved = call!(self.engine, capability.resolve(manifest, index, context))?;
        let Some(resolution) = self.accept(resolved) else {
            return Ok(None);
        };
        let matching = call!(self.engine, capability.matching.of_resolution(resolution))?;
        self.look_at_policy(index, matching)?;
        Ok(Some((resolution, index)))
    }

    /// Reads the definitions beside a lock, if the lock is a file and they exist.
    pub(crate) fn definitions(&mut self, lock: &Input) -> Result<Option<Vec<u8>>, Failure> {
        let definitions = beside(lock, DEFINITIONS).filter(|it| !it.is_missing());
        let text = definitions.map(|it| self.read(&it, INDEX_MAX));
        text.transpose()
    }

    /// Adds the changes in definitions to the drifts, if the older index is given or the older
    /// definitions are known.
    pub(crate) fn detailed(
        &mut self,
        drifts: Vec<Drift>,
        old_index: Option<&Input>,
        (older, definitions): (Lock, Option<Vec<u8>>),
        newer: Origin,
    ) -> Result<Option<Vec<Drift>>, Failure> {
        let Some(input) = old_index else {
            let Some(definitions) = definitions else {
                return Ok(Some(drifts));
            };
            let older = Former::Definitions(Stored {
                lock: older,
                definitions,
            });
            let detailed = call!(self.engine, explanation.detailed(&drifts, &older, newer))?;
            return Ok(Some(detailed));
        };
        let text = self.read(input, INDEX_MAX)?;
        match call!(self.engine, inputs.index.load(&text))? {
            Ok(index) => {
                let older = Former::Index(Origin { lock: older, index });
                let detailed = call!(self.engine, explanation.detailed(&drifts, &older, newer))?;
                Ok(Some(detailed))
            }
            Err(problems) => {
                // The diagnostics are about this file, not about that of `--index`.
                self.remember(DocumentKind::Index, input, text);
                self.add(problems);
                Ok(None)
            }
        }
    }

    /// Matches a task against the index.
    pub(crate) fn matching(
        &mut self,
        manifest: Option<Manifest>,
        index: Index,
        evaluation_context: EvaluationContext,
    ) -> Result<Option<Matching>, Failure> {
        let _progress = Progress::of("matching".to_owned());
        let decided = call!(
            self.engine,
            capability
                .matching
                .decide(manifest, index, evaluation_context)
        )?;
        let Some(matching) = self.accept(decided) else {
            return Ok(None);
        };
        self.look_at_policy(index, matching)?;
        Ok(Some(matching))
    }

    /// Reads the task and the other inputs of the evaluation context.
    pub(crate) fn evaluation_context(
        &mut self,
        task: Option<&Input>,
        args: &args::EvaluationContext,
    ) -> Result<Option<EvaluationContext>, Failure> {
        self.governed(task, &args.policy, args.health.as_ref())
    }

    /// Reads the policy with its tenant, its context, and the other inputs of an evaluation context.
    pub(crate) fn governed(
        &mut self,
        task: Option<&Input>,
        args: &PolicyOptions,
        health: Option<&Input>,
    ) -> Result<Option<EvaluationContext>, Failure> {
        let task = self.optional(task, Self::task)?;
        let tenant = self.optional(args.tenant.as_ref(), |session, input| {
            session.tenant(input, args.tenant_id.as_deref())
        })?;
        let health = self.optional(health, Self::health)?;
        let named = match (&args.policy, &args.tenant, tenant) {
            (Some(policy), ..) => Some(policy.clone()),
            (None, Some(Input::File(path)), Some(Some(it))) => {
                let policy = call!(self.engine, capability.tenant.policy(it))?;
                policy.map(|policy| Input::File(path.with_file_name(policy)))
            }
            _ => None,
        };
        let policy = self.optional(named.as_ref(), Self::policy)?;
        let context = self.optional(args.policy_context.as_ref(), Self::context)?;
        let (Some(task), Some(tenant), Some(health), Some(policy), Some(context)) =
            (task, tenant, health, policy, context)
        else {
            return Ok(None);
        };
        let ungoverned = call!(
            self.engine,
            capability
                .evaluation_context
                .constructor(task, tenant, health)
        )?;
        let Some((policy, _)) = policy else {
            return Ok(Some(ungoverned));
        };
        let governed = call!(
            self.engine,
            policy.policy.govern(policy, ungoverned, context)
        )?;
        self.policy = Some((policy, tenant));
        Ok(Some(governed))
    }

    /// Adds the rules of the policy that have no effect, in general and in a decision.
    fn look_at_policy(&mut self, index: Index, matching: Matching) -> Result<(), Failure> {
        if let Some((policy, tenant)) = self.policy.take() {
            let dead = self.dead_rules(policy, Some(index), tenant)?;
            let unused = call!(self.engine, policy.policy.unused_rules(policy, matching))?;
            self.add(dead.into_iter().chain(unused));
        }
        Ok(())
    }

    pub(crate) fn never_allows(&mut self, policy: Policy) -> Result<Vec<Diagnostic>, Failure> {
        call!(self.engine, policy.policy.never_allows(policy))
    }

    pub(crate) fn dead_rules(
        &mut self,
        policy: Policy,
        index: Option<Index>,
        tenant: Option<Tenant>,
    ) -> Result<Vec<Diagnostic>, Failure> {
        call!(self.engine, policy.policy.dead_rules(policy, index, tenant))
    }

    /// Reads a policy, and returns its text too.
    pub(crate) fn policy(&mut self, input: &Input) -> Result<Option<(Policy, Vec<u8>)>, Failure> {
        let text = self.text(DocumentKind::Policy, input, TEXT_MAX)?;
        let parsed = call!(self.engine, policy.policy.parse(&text))?;
        Ok(self.accept(parsed).map(|policy| (policy, text)))
    }

    pub(crate) fn context(&mut self, input: &Input) -> Result<Option<Context>, Failure> {
        let notation = notation(input);
        self.checked(DocumentKind::Context, input, TEXT_MAX, |engine, text| {
            call!(engine, policy.context.parse(text, notation))
        })
    }

    /// Runs the tests of a policy. The notes of rules that they do not reach are with their outcomes.
    pub(crate) fn policy_tests(
        &mut self,
        policy: &[u8],
        input: &Input,
    ) -> Result<Option<Tested>, Failure> {
        self.checked(DocumentKind::PolicyTest, input, TEXT_MAX, |engine, text| {
            call!(engine, policy.test_with_coverage(policy, text))
        })
    }

    pub(crate) fn overlay(&mut self, input: &Input) -> Result<Overlay, Failure> {
        Ok(Overlay {
            text: self.text(DocumentKind::Overlay, input, TEXT_MAX)?,
            notation: notation(input),
        })
    }

    /// Merges documents into an index.
    pub(crate) fn import(
        &mut self,
        documents: &[Input],
        overlay: Option<&Overlay>,
        index: Option<&[u8]>,
    ) -> Result<Option<Imported>, Failure> {
        let mut texts = Vec::new();
        for (input, number) in documents.iter().zip(0..) {
            let text = self.read(input, TEXT_MAX)?;
            self.remember_one_of(DocumentKind::Import, number, input, text.clone());
            texts.push(text);
        }
        let merged = call!(self.engine, importer.merge(&texts, overlay, index))?;
        Ok(self.accept(merged))
    }

    /// Compares a summary with its payload.
    pub(crate) fn ground(
        &mut self,
        summary: &Input,
        payload: &Input,
    ) -> Result<Option<Grounding>, Failure> {
        let summary = self.text(DocumentKind::Summary, summary, TEXT_MAX)?;
        self.checked(
            DocumentKind::Payload,
            payload,
            TEXT_MAX,
            |engine, payload| call!(engine, grounding.ground(&summary, payload)),
        )
    }

    /// Reads an optional input. The outer `None` means that the engine refuses it.
    pub(crate) fn optional<T>(
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
        let notation = notation(input);
        let task = self.checked(DocumentKind::Task, input, TEXT_MAX, |engine, text| {
            call!(engine, capability.task.parse(text, notation))
        })?;
        if let Some(it) = task {
            let warnings = call!(self.engine, capability.task.warnings(it))?;
            self.add(warnings);
        }
        Ok(task)
    }

    pub(crate) fn tenant(
        &mut self,
        input: &Input,
        id: Option<&str>,
    ) -> Result<Option<Tenant>, Failure> {
        let notation = notation(input);
        let tenant = self.checked(DocumentKind::Tenant, input, TEXT_MAX, |engine, text| {
            call!(engine, capability.tenant.parse(text, notation, id))
        })?;
        if let Some(it) = tenant {
            let warnings = call!(self.engine, capability.tenant.warnings(it))?;
            self.add(warnings);
        }
        Ok(tenant)
    }

    fn health(&mut self, input: &Input) -> Result<Option<Health>, Failure> {
        let notation = notation(input);
        self.checked(DocumentKind::Health, input, TEXT_MAX, |engine, text| {
            call!(engine, capability.health.parse(text, notation))
        })
    }

    pub(crate) fn lock(&mut self, input: &Input) -> Result<Option<Lock>, Failure> {
        if *input == Input::from(LOCK) && input.is_missing() {
            let missing = Failure::new(format_args!("there is no `{LOCK}` in this folder"));
            return Err(missing.help(how_to_lock()));
        }
        self.checked(DocumentKind::Lock, input, TEXT_MAX, |engine, text| {
            call!(engine, lockfile.lock.parse(text))
        })
    }

    pub(crate) fn call_plan(&mut self, input: &Input) -> Result<Option<CallPlan>, Failure> {
        self.checked(DocumentKind::Call, input, TEXT_MAX, |engine, text| {
            call!(engine, plan.call_plan.parse(text))
        })
    }

    pub(crate) fn tools_snapshot(
        &mut self,
        input: &Input,
    ) -> Result<Option<ToolsSnapshot>, Failure> {
        self.checked(DocumentKind::Catalogue, input, INDEX_MAX, |engine, text| {
            call!(engine, plan.tools_snapshot.parse(text))
        })
    }

    /// Reads MOVA's core, if a copy replaces the project's equivalents.
    pub(crate) fn core(&mut self, option: &args::MovaOption) -> Result<Option<Core>, Failure> {
        let Some(folder) = mova_folder(option) else {
            return Ok(None);
        };
        let texts = read_mova(&folder)?;
        let core = call!(self.engine, schemas.core.parse(&texts))?;
        core.map(Some).map_err(|errors| {
            Failure::new(format_args!(
                "`{}` does not contain the core of MOVA: {}",
                folder.display(),
                errors.join("; ")
            ))
            .help("name the folder of a copy of MOVA 4.1.1: its schemas are in `schemas`, its catalogues beside that folder")
        })
    }

    /// Returns the policy that the options name, or else the tenant's own, in the folder of the
    /// configuration.
    pub(crate) fn policy_input(&mut self, args: &PolicyOptions) -> Result<Option<Input>, Failure> {
        let (None, Some(tenant)) = (&args.policy, &args.tenant) else {
            return Ok(args.policy.clone());
        };
        let text = self.read(tenant, TEXT_MAX)?;
        let (id, notation) = (args.tenant_id.as_deref(), notation(tenant));
        let parsed = call!(self.engine, capability.tenant.parse(&text, notation, id))?;
        // The problems of a configuration that can't be read are reported with the decision.
        let Ok(parsed) = parsed else {
            return Ok(None);
        };
        let policy = call!(self.engine, capability.tenant.policy(parsed))?;
        Ok(policy.and_then(|policy| beside(tenant, &policy)))
    }

    /// Names a file of an audit log, so that diagnostics can point into it.
    pub(crate) fn name_log(&mut self, input: &Input, number: u32) -> Result<(), Failure> {
        if *input == Input::Stdin {
            self.take_stdin()?;
        }
        self.findings.add_document(Document {
            source: DocumentKind::Evidence,
            number,
            name: input.to_string(),
            // It is not kept, and its lines are not shown.
            text: Vec::new(),
        });
        Ok(())
    }

    /// Reads the lock if it exists. Its problems are not among the findings yet.
    pub(crate) fn existing_lock(&mut self, input: &Input) -> Result<Option<Existing>, Failure> {
        if input.is_missing() {
            return Ok(None);
        }
        let text = self.text(DocumentKind::Lock, input, TEXT_MAX)?;
        let lock = call!(self.engine, lockfile.lock.parse(&text))?;
        Ok(Some(Existing { text, lock }))
    }

    /// Returns the lock of a resolution, or `None` if a requirement has no server. The findings say
    /// which.
    pub(crate) fn new_lock(&mut self, it: Resolution) -> Result<Option<NewLock>, Failure> {
        let unsatisfied = call!(self.engine, resolver.resolution.diagnostics(it))?;
        self.add(unsatisfied);
        let Some(lock) = call!(self.engine, lockfile.lock.of_resolution(it))? else {
            return Ok(None);
        };
        let text = call!(self.engine, lockfile.lock.render(lock))?;
        Ok(Some(NewLock { lock, text }))
    }

    /// Reads an input and validates it with the engine.
    fn checked<T>(
        &mut self,
        source: DocumentKind,
        input: &Input,
        limit: u64,
        check: impl FnOnce(&mut Instance, &[u8]) -> Result<Checked<T>, Failure>,
    ) -> Result<Option<T>, Failure> {
        let text = self.read(input, limit)?;
        let checked = check(&mut self.engine, &text)?;
        self.remember(source, input, text);
        Ok(self.accept(checked))
    }

    /// Reads an input that diagnostics may point into, and returns its text.
    pub(crate) fn text(
        &mut self,
        source: DocumentKind,
        input: &Input,
        limit: u64,
    ) -> Result<Vec<u8>, Failure> {
        let text = self.read(input, limit)?;
        self.remember(source, input, text.clone());
        Ok(text)
    }

    /// Notes that standard input is read.
    pub(super) fn take_stdin(&mut self) -> Result<(), Failure> {
        match std::mem::replace(&mut self.stdin_is_read, true) {
            true => Err(Failure::new("standard input can be read only once")
                .help("pass `-` for one input, and the path of a file for every other")),
            false => Ok(()),
        }
    }

    pub(crate) fn read(&mut self, input: &Input, limit: u64) -> Result<Vec<u8>, Failure> {
        if let Some(mending) = &self.mending
            && let Some(mended) = mending.text(input)?
        {
            return Ok(mended);
        }
        if *input == Input::Stdin {
            self.take_stdin()?;
        }
        let text = input.read(limit)?;
        if self.verbose && !self.is_silent() {
            output::note(format_args!("read {} bytes of {input}", text.len()));
        }
        Ok(text)
    }

    fn remember(&mut self, source: DocumentKind, input: &Input, text: Vec<u8>) {
        self.remember_one_of(source, 0, input, text);
    }

    /// Keeps an input of which there are several of one kind.
    pub(super) fn remember_one_of(
        &mut self,
        source: DocumentKind,
        number: u32,
        input: &Input,
        text: Vec<u8>,
    ) {
        self.sources.push((source, input.clone()));
        self.findings.add_document(Document {
            source,
            number,
            name: input.to_string(),
            text,
        });
    }

    fn accept<T>(&mut self, checked: Checked<T>) -> Option<T> {
        checked.map_err(|problems| self.add(problems)).ok()
    }
}

/// Returns the manifest in the working folder.
pub(crate) fn usual_manifest() -> Result<Input, Failure> {
    MANIFESTS
        .iter()
        .map(|&name| Input::from(name))
        .find(|input| !input.is_missing())
        .ok_or_else(|| {
            let help = match Input::from(INDEX).is_missing() && Input::from(CLIENT).is_missing() {
                true => GOVERN,
                false => "write a first one with `agent init`, or name yours, as in `agent validate path/to/agents.md`",
            };
            Failure::new("there is no `agents.md` in this folder").help(help)
        })
}

/// Returns how to get the lock that a command needs.
pub(crate) fn how_to_lock() -> &'static str {
    let usual = MANIFESTS.map(Input::from);
    match usual.iter().all(Input::is_missing) {
        true => GOVERN,
        false => "write it with `agent resolve`, or name another with `--lock`",
    }
}

/// Returns the folder of MOVA's core, if there is one.
pub(super) fn mova_folder(option: &args::MovaOption) -> Option<PathBuf> {
    let usual = || Some(PathBuf::from(MOVA)).filter(|usual| System::is_folder(usual));
    option.folder.clone().or_else(usual)
}
