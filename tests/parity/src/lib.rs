//! All answers of the component, in the form of `agent_tests::native`.

mod grounded;
mod typed;

use agent_host::contract::capability::Notation;
use agent_host::contract::diagnostic::Diagnostic;
use agent_host::contract::importer::Overlay;
use agent_host::contract::lockfile::Drift;
use agent_host::contract::plan::{CallVerdict, PlanVerdict};
use agent_host::contract::view::{ReportFormat, StyledSpan};
use agent_host::{Engine, ResourceAny};
use agent_tests::inputs::{Given, Inputs, subjects};
use agent_tests::native::Answers;
use agent_tests::plan::PlanInputs;

/// The component, ready to be instantiated.
pub struct Component {
    engine: Engine,
}

/// A running component.
pub struct Instance {
    engine: agent_host::Instance,
}

type Refused = Vec<Diagnostic>;

/// Validated inputs.
struct Read {
    manifest: Option<ResourceAny>,
    index: ResourceAny,
    evaluation_context: ResourceAny,
    warnings: Vec<Diagnostic>,
}

/// Calls a function of an interface of this instance.
macro_rules! call {
    ($self:ident, $interface:ident $(. $resource:ident)? , $function:ident($($argument:expr),*)) => {
        $self
            .engine
            .call(|engine, store| engine.$interface()$(.$resource())?.$function(store $(, $argument)*))
            .expect(stringify!($function))
    };
}
pub(crate) use call;

impl Component {
    /// Loads the component of this workspace, which the host library embeds. The library refuses one
    /// that imports anything.
    ///
    /// # Panics
    /// If wasmtime does not support this machine.
    #[must_use]
    pub fn of_this_workspace() -> Self {
        Self {
            engine: Engine::embedded().expect("the component is of the world of wit/engine"),
        }
    }

    /// Creates a fresh instance.
    ///
    /// # Panics
    /// If the system refuses its address space.
    #[must_use]
    pub fn instance(&self) -> Instance {
        Instance {
            engine: self.engine.instantiate().expect("nothing is imported"),
        }
    }
}

impl Instance {
    /// Does the same as [`agent_tests::native::resolve`].
    pub fn resolve(&mut self, manifest: &[u8], index: &[u8]) -> Answers {
        let mut answers = Answers::new();
        let manifest = self.manifest(manifest);
        let index = self.index(index);
        if let Ok((index, _)) = index {
            let parts = call!(self, agent_engine_view, call_discover(index));
            add_parts(&mut answers, "discover", &parts);
            let json = call!(self, agent_engine_view, call_discover_json(index));
            answers.insert("discover.json".to_owned(), json);
            let parts = call!(self, agent_engine_view, call_discover_tools(index));
            add_parts(&mut answers, "discover-tools", &parts);
            let json = call!(self, agent_engine_view, call_discover_tools_json(index));
            answers.insert("discover-tools.json".to_owned(), json);
        }
        match (manifest, index) {
            (Ok((manifest, mut diagnostics)), Ok((index, warnings))) => {
                diagnostics.extend(warnings);
                let resolution = call!(
                    self,
                    agent_engine_resolver.resolution,
                    call_constructor(manifest, index)
                );
                diagnostics.extend(call!(
                    self,
                    agent_engine_resolver.resolution,
                    call_diagnostics(resolution)
                ));
                self.add_reports(&mut answers, &diagnostics);
                self.add_resolution(&mut answers, resolution);
            }
            (manifest, index) => {
                let found = [found(manifest), found(index)].concat();
                self.add_reports(&mut answers, &found);
            }
        }
        answers
    }

    /// Does the same as [`agent_tests::native::under`].
    pub fn under(&mut self, inputs: &Inputs) -> Answers {
        let read = match self.read(inputs) {
            Ok(read) => read,
            Err(found) => return self.reports(&found),
        };
        let mut answers = Answers::new();
        let Read {
            manifest,
            index,
            evaluation_context,
            warnings: mut diagnostics,
        } = read;
        if let Some(manifest) = manifest {
            let resolution = call!(
                self,
                agent_engine_capability,
                call_resolve(manifest, index, evaluation_context)
            );
            let resolution = match resolution {
                Ok(resolution) => resolution,
                Err(contradictions) => return self.reports(&contradictions),
            };
            diagnostics.extend(call!(
                self,
                agent_engine_resolver.resolution,
                call_diagnostics(resolution)
            ));
            self.add_reports(&mut answers, &diagnostics);
            self.add_resolution(&mut answers, resolution);
            let matching = call!(
                self,
                agent_engine_capability.matching,
                call_of_resolution(resolution)
            );
            self.add_matching(&mut answers, matching);
        } else {
            let matching = self.decide(None, index, evaluation_context);
            let matching = matching.expect("nothing is forbidden");
            diagnostics.extend(call!(
                self,
                agent_engine_capability.matching,
                call_diagnostics(matching)
            ));
            self.add_reports(&mut answers, &diagnostics);
            self.add_matching(&mut answers, matching);
        }
        answers
    }

    fn decide(
        &mut self,
        manifest: Option<ResourceAny>,
        index: ResourceAny,
        evaluation_context: ResourceAny,
    ) -> Result<ResourceAny, Refused> {
        call!(
            self,
            agent_engine_capability.matching,
            call_decide(manifest, index, evaluation_context)
        )
    }

    fn add_matching(&mut self, answers: &mut Answers, matching: ResourceAny) {
        let text = call!(
            self,
            agent_engine_capability.matching,
            call_explanation(matching)
        );
        answers.insert("match.json".to_owned(), text.expect("small enough"));
        let parts = call!(self, agent_engine_view, call_match_summary(matching));
        add_parts(answers, "match", &parts);
    }

    /// Returns the explanation of a task or a manifest under a policy, and the policy's dead and
    /// unused rules. The inputs must be valid.
    pub fn governed(&mut self, inputs: &Inputs, policy: &[u8]) -> Answers {
        let parsed = call!(self, agent_engine_policy.policy, call_parse(policy));
        let policy = match parsed {
            Ok(policy) => policy,
            Err(found) => return self.reports(&found),
        };
        let read = self.read(inputs).expect("the inputs are valid");
        let context = inputs.context.as_ref().map(|given| {
            let (text, notation) = (&given.bytes, notation(given));
            let parsed = call!(
                self,
                agent_engine_policy.context,
                call_parse(text, notation)
            );
            parsed.expect("the context is valid")
        });
        let evaluation_context = call!(
            self,
            agent_engine_policy.policy,
            call_govern(policy, read.evaluation_context, context)
        );
        let matching = match self.decide(read.manifest, read.index, evaluation_context) {
            Ok(matching) => matching,
            Err(contradictions) => return self.reports(&contradictions),
        };
        let index = Some(read.index);
        let mut found = call!(
            self,
            agent_engine_policy.policy,
            call_dead_rules(policy, index, None)
        );
        found.extend(call!(
            self,
            agent_engine_policy.policy,
            call_unused_rules(policy, matching)
        ));
        let mut answers = Answers::new();
        self.add_reports(&mut answers, &found);
        self.add_matching(&mut answers, matching);
        answers
    }

    /// Returns one line for each test of a policy, or the problems.
    pub fn policy_tests(&mut self, policy: &[u8], tests: &[u8]) -> Answers {
        let tested = call!(
            self,
            agent_engine_policy,
            call_test_with_coverage(policy, tests)
        );
        match tested {
            Err(found) => self.reports(&found),
            Ok(tested) => {
                let alone = call!(self, agent_engine_policy, call_test(policy, tests));
                assert_eq!(alone.ok().map(|it| it.len()), Some(tested.outcomes.len()));
                let lines = tested.outcomes.iter().map(|outcome| {
                    let line = outcome.place.start.line;
                    format!("{} {line} {}\n", outcome.name, outcome.detail)
                });
                let mut answers = self.reports(&tested.unreached);
                answers.insert("tests".to_owned(), lines.collect());
                answers
            }
        }
    }

    /// Returns the exposed tools of a lock, or the problems.
    pub fn exposed(&mut self, lock: &[u8], index: &[u8]) -> Answers {
        let lock = self.lock(lock).expect("the lock is valid");
        let (index, _) = self.index(index).expect("the index is valid");
        match call!(self, agent_engine_expansion, call_expose(lock, index)) {
            Err(found) => self.reports(&found),
            Ok(exposed) => {
                let mut answers = Answers::from([("tools.json".to_owned(), exposed.tools_list)]);
                add_parts(&mut answers, "tools", &exposed.text);
                answers
            }
        }
    }

    /// Returns the answer to a one-call plan.
    pub fn called(
        &mut self,
        plan: &[u8],
        index: &[u8],
        lock: Option<&[u8]>,
        catalogue: Option<&[u8]>,
    ) -> Answers {
        let (index, _) = self.index(index).expect("the index is valid");
        let lock = lock.map(|lock| self.lock(lock).expect("the lock is valid"));
        let plan = call!(self, agent_engine_plan.call_plan, call_parse(plan));
        let catalogue =
            catalogue.map(|it| call!(self, agent_engine_plan.tools_snapshot, call_parse(it)));
        let (plan, catalogue) = match (plan, catalogue.transpose()) {
            (Ok(plan), Ok(catalogue)) => (plan, catalogue),
            (plan, catalogue) => {
                let found = [plan.err(), catalogue.err()]
                    .into_iter()
                    .flatten()
                    .flatten();
                return self.reports(&found.collect::<Vec<_>>());
            }
        };
        let answer = call!(
            self,
            agent_engine_plan,
            call_authorize_call(plan, index, lock, catalogue, None)
        );
        let mut answers = match answer.verdict {
            CallVerdict::Denied(found) => self.reports(&found),
            CallVerdict::Allowed(_) | CallVerdict::NeedsMoreInfo(_) => self.reports(&[]),
        };
        answers.insert("verdict.json".to_owned(), answer.json);
        add_parts(&mut answers, "verdict", &answer.text);
        answers
    }

    /// Returns the answer to a sequential plan.
    pub fn planned(&mut self, inputs: &PlanInputs) -> Answers {
        let index = inputs.index.as_deref();
        let index = index.map(|it| self.index(it).expect("the index is valid").0);
        let lock = inputs.lock.as_deref();
        let lock = lock.map(|it| self.lock(it).expect("the lock is valid"));
        let catalogue = inputs.catalogue.as_deref().map(|it| {
            call!(self, agent_engine_plan.tools_snapshot, call_parse(it))
                .expect("the catalogue is valid")
        });
        let (tool_pool, profile) = (&inputs.tool_pool, &inputs.profile);
        let rules = call!(
            self,
            agent_engine_plan.plan_policy,
            call_parse(tool_pool, profile, None)
        );
        let request = inputs.request.as_deref();
        let answer = call!(
            self,
            agent_engine_plan,
            call_authorize_plan(&inputs.plan, rules, request, index, lock, catalogue, None)
        );
        let mut answers = Answers::from([("report.json".to_owned(), answer.report)]);
        add_parts(&mut answers, "verdict", &answer.text);
        let found = match answer.verdict {
            PlanVerdict::Allowed(plan) => {
                let json = call!(self, agent_engine_plan.authorized_plan, call_json(plan));
                answers.insert("authorized.json".to_owned(), json);
                Vec::new()
            }
            PlanVerdict::Denied(found) => found,
        };
        answers.extend(self.reports(&found));
        answers
    }

    /// Returns an index with an imported document, or the problems.
    pub fn imported(&mut self, document: &[u8], overlay: &[u8]) -> Answers {
        let overlay = Overlay {
            text: overlay.to_vec(),
            notation: Notation::ByContent,
        };
        match call!(
            self,
            agent_engine_importer,
            call_merge(&[document.to_vec()], Some(&overlay), None)
        ) {
            Err(found) => self.reports(&found),
            Ok(imported) => {
                let mut answers = self.reports(&imported.warnings);
                answers.insert("index".to_owned(), imported.index);
                answers
            }
        }
    }

    /// Returns the grounding of a summary in a payload.
    pub fn grounded(&mut self, summary: &[u8], payload: &[u8]) -> Answers {
        let grounding = call!(self, agent_engine_grounding, call_ground(summary, payload));
        match grounding {
            Err(found) => self.reports(&found),
            Ok(grounding) => {
                let mut answers = self.reports(&grounding.diagnostics);
                answers.insert("grounding.json".to_owned(), grounding.json);
                add_parts(&mut answers, "grounding", &grounding.text);
                answers
            }
        }
    }

    /// Reads all inputs.
    fn read(&mut self, inputs: &Inputs) -> Result<Read, Refused> {
        let mut found = Vec::new();
        let mut refused = false;
        let mut checked = |read: Result<(ResourceAny, Vec<Diagnostic>), Refused>| match read {
            Ok((value, warnings)) => {
                found.extend(warnings);
                Some(value)
            }
            Err(problems) => {
                found.extend(problems);
                refused = true;
                None
            }
        };
        let manifest = inputs.manifest.as_ref().map(|bytes| self.manifest(bytes));
        let manifest = manifest.and_then(&mut checked);
        let index = checked(self.index(&inputs.index));
        let task = inputs.task.as_ref().map(|task| self.task(task));
        let task = task.and_then(&mut checked);
        let id = inputs.tenant_id.as_deref();
        let tenant = inputs.tenant.as_ref().map(|tenant| self.tenant(tenant, id));
        let tenant = tenant.and_then(&mut checked);
        let health = inputs.health.as_ref().map(|health| self.health(health));
        let health = health.and_then(&mut checked);
        let Some(index) = index.filter(|_| !refused) else {
            return Err(found);
        };
        let evaluation_context = call!(
            self,
            agent_engine_capability.evaluation_context,
            call_constructor(task, tenant, health)
        );
        Ok(Read {
            manifest,
            index,
            evaluation_context,
            warnings: found,
        })
    }

    /// Reads a task; returns it with its warnings.
    fn task(&mut self, given: &Given) -> Result<(ResourceAny, Vec<Diagnostic>), Refused> {
        let task = call!(
            self,
            agent_engine_capability.task,
            call_parse(&given.bytes, notation(given))
        )?;
        let warnings = call!(self, agent_engine_capability.task, call_warnings(task));
        Ok((task, warnings))
    }

    /// Reads a tenant; returns it with its warnings.
    fn tenant(
        &mut self,
        given: &Given,
        id: Option<&str>,
    ) -> Result<(ResourceAny, Vec<Diagnostic>), Refused> {
        let tenant = call!(
            self,
            agent_engine_capability.tenant,
            call_parse(&given.bytes, notation(given), id)
        )?;
        let warnings = call!(self, agent_engine_capability.tenant, call_warnings(tenant));
        Ok((tenant, warnings))
    }

    /// Reads a snapshot of health, which has no warnings.
    fn health(&mut self, given: &Given) -> Result<(ResourceAny, Vec<Diagnostic>), Refused> {
        let health = call!(
            self,
            agent_engine_capability.health,
            call_parse(&given.bytes, notation(given))
        )?;
        Ok((health, Vec::new()))
    }

    /// Does the same as [`agent_tests::native::validate_manifest`].
    pub fn validate_manifest(&mut self, manifest: &[u8]) -> Answers {
        let read = self.manifest(manifest);
        self.reports(&found(read))
    }

    /// Does the same as [`agent_tests::native::validate_index`].
    pub fn validate_index(&mut self, index: &[u8]) -> Answers {
        let read = self.index(index);
        self.reports(&found(read))
    }

    /// Does the same as [`agent_tests::native::validate_lock`].
    pub fn validate_lock(&mut self, lock: &[u8]) -> Answers {
        match self.lock(lock) {
            Ok(lock) => {
                // A lock has no warnings in the contract, because no host would show them.
                let text = call!(self, agent_engine_lockfile.lock, call_render(lock));
                Answers::from([("agents.lock".to_owned(), text)])
            }
            Err(diagnostics) => self.reports(&diagnostics),
        }
    }

    /// Compares two locks. Without an older one, everything is new.
    pub fn drift(&mut self, older: Option<&[u8]>, newer: &[u8]) -> Answers {
        let older = older.map(|older| self.lock(older).expect("the lock is valid"));
        let newer = self.lock(newer).expect("the lock is valid");
        let drifts = call!(self, agent_engine_lockfile, call_compare(older, newer));
        self.drifts(&drifts)
    }

    /// Does the same as [`agent_tests::native::verified`].
    pub fn verified(&mut self, lock: &[u8], index: &[u8]) -> Answers {
        let lock = self.lock(lock).expect("the lock is valid");
        let (index, _) = self.index(index).expect("the index is valid");
        let drifts = call!(
            self,
            agent_engine_lockfile.lock,
            call_verify(lock, index, None)
        );
        self.drifts(&drifts)
    }

    /// Reads a manifest; returns it with its warnings.
    fn manifest(&mut self, bytes: &[u8]) -> Result<(ResourceAny, Vec<Diagnostic>), Refused> {
        let manifest = call!(self, agent_engine_inputs.manifest, call_parse(bytes))?;
        let warnings = call!(self, agent_engine_inputs.manifest, call_warnings(manifest));
        Ok((manifest, warnings))
    }

    /// Reads an index; returns it with its warnings.
    fn index(&mut self, bytes: &[u8]) -> Result<(ResourceAny, Vec<Diagnostic>), Refused> {
        let index = call!(self, agent_engine_inputs.index, call_load(bytes))?;
        let warnings = call!(self, agent_engine_inputs.index, call_warnings(index));
        Ok((index, warnings))
    }

    fn lock(&mut self, bytes: &[u8]) -> Result<ResourceAny, Refused> {
        call!(self, agent_engine_lockfile.lock, call_parse(bytes))
    }

    fn reports(&mut self, diagnostics: &[Diagnostic]) -> Answers {
        let mut answers = Answers::new();
        self.add_reports(&mut answers, diagnostics);
        answers
    }

    fn add_reports(&mut self, answers: &mut Answers, diagnostics: &[Diagnostic]) {
        for (name, format) in [
            ("diagnostics.json", ReportFormat::Json),
            ("diagnostics.sarif", ReportFormat::Sarif),
            ("diagnostics.github", ReportFormat::Github),
        ] {
            let text = call!(
                self,
                agent_engine_view,
                call_report(format, diagnostics, &[])
            );
            answers.insert(name.to_owned(), text);
        }
    }

    fn add_resolution(&mut self, answers: &mut Answers, it: ResourceAny) {
        if let Some(lock) = call!(self, agent_engine_resolver.resolution, call_lock(it)) {
            answers.insert("agents.lock".to_owned(), lock);
        }
        let full = call!(self, agent_engine_resolver.resolution, call_explanation(it));
        answers.insert(
            "agents.resolution.json".to_owned(),
            full.expect("small enough"),
        );
        let compact = call!(self, agent_engine_explanation, call_compact(it));
        answers.insert("agents.resolution.compact.json".to_owned(), compact);
        let json = call!(self, agent_engine_view, call_summary_json(it));
        answers.insert("summary.json".to_owned(), json);
        add_parts(
            answers,
            "summary",
            &call!(self, agent_engine_view, call_summary(it)),
        );

        for subject in subjects(&answers["agents.resolution.json"]) {
            if let Some(parts) = call!(self, agent_engine_view, call_why(it, &subject, &[])) {
                add_parts(answers, &format!("why {subject}"), &parts);
            }
            match call!(self, agent_engine_view, call_why_json(it, &subject)) {
                Some(text) => answers.insert(format!("why {subject}.json"), text),
                None => {
                    let near = call!(self, agent_engine_view, call_did_you_mean(it, &subject));
                    answers.insert(format!("did you mean, {subject}"), near.join("\n"))
                }
            };
        }
    }

    fn drifts(&mut self, drifts: &[Drift]) -> Answers {
        let problems = call!(self, agent_engine_view, call_drift_diagnostics(drifts));
        let mut answers = self.reports(&problems);
        let json = call!(self, agent_engine_view, call_drifts_json(drifts));
        answers.insert("drifts.json".to_owned(), json);
        let markdown = call!(self, agent_engine_view, call_drifts_markdown(drifts));
        answers.insert("drifts.md".to_owned(), markdown);
        add_parts(
            &mut answers,
            "drifts",
            &call!(self, agent_engine_view, call_drifts(drifts)),
        );
        answers
    }
}

fn notation(given: &Given) -> Notation {
    if given.json {
        Notation::Json
    } else {
        Notation::ByContent
    }
}

fn found(read: Result<(ResourceAny, Vec<Diagnostic>), Refused>) -> Vec<Diagnostic> {
    match read {
        Ok((_, warnings)) => warnings,
        Err(diagnostics) => diagnostics,
    }
}

fn add_parts(answers: &mut Answers, name: &str, parts: &[StyledSpan]) {
    let text = parts.iter().map(|part| &*part.text).collect();
    answers.insert(format!("{name}.txt"), text);
    let styled = parts.iter().map(|part| {
        // `Style::Plain` here is `Plain` in the engine.
        let style = format!("{:?}", part.style);
        format!("{} {:?}\n", style.trim_start_matches("Style::"), part.text)
    });
    answers.insert(format!("{name}.styled"), styled.collect());
}
