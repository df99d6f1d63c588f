//! Calls into one instance of the engine.
//!
//! Each function here is one function of the contract, and changes nothing but the shape of errors:
//! the engine's refusals stay values, everything else is a [`Failure`].

use super::bindings::exports::agent::engine::expansion::{
    Answer as ExpansionAnswer, Exposed, Refusal,
};
use super::bindings::exports::agent::engine::explanation::Origin;
use super::bindings::exports::agent::engine::grounding::Grounding;
use super::bindings::exports::agent::engine::importer::{Imported, Overlay};
use super::bindings::exports::agent::engine::plan::{CallAnswer, PlanAnswer};
use super::bindings::exports::agent::engine::policy::TestOutcome;
use super::bindings::exports::agent::engine::schemas::{Listing, NamedText};
use super::bindings::{self, EnginePre};
use super::limits::{LimitReached, Limits};
use super::{CodeEntry, Diagnostic, Drift, File, Notation, Part, ReportFormat};
use crate::failure::Failure;
use wasmtime::component::ResourceAny;
use wasmtime::{Store, Trap};

/// A manifest without errors.
pub(crate) struct Manifest(ResourceAny);

/// An index without errors.
pub(crate) struct Index(ResourceAny);

/// The answer to every requirement of a manifest.
pub(crate) struct Resolution(ResourceAny);

/// A lock that was read.
pub(crate) struct Lock(ResourceAny);

/// A one-call plan.
pub(crate) struct CallPlan(ResourceAny);

/// The tools that servers have at the moment.
pub(crate) struct ToolCatalogue(ResourceAny);

/// What sequential plans are decided by.
pub(crate) struct PlanRules(ResourceAny);

/// MOVA's core.
pub(crate) struct Core(ResourceAny);

/// A task without errors.
pub(crate) struct Task(ResourceAny);

/// The configuration of a tenant without errors.
pub(crate) struct Tenant(ResourceAny);

/// A snapshot of health without errors.
pub(crate) struct Health(ResourceAny);

/// What requirements of capabilities are decided under.
pub(crate) struct Circumstances(ResourceAny);

/// A policy that was compiled.
pub(crate) struct Policy(ResourceAny);

/// What a policy is told.
pub(crate) struct Context(ResourceAny);

/// The answer to every requirement of a capability.
pub(crate) struct Matching(ResourceAny);

/// What the engine refuses, and why.
type Checked<T> = Result<T, Vec<Diagnostic>>;

/// A running engine. After a [`Failure`] it must not be called again.
pub(crate) struct Instance {
    store: Store<Limits>,
    engine: bindings::Engine,
}

impl Instance {
    pub(super) fn new(component: &EnginePre<Limits>, limits: Limits) -> Result<Self, Failure> {
        let mut store = Store::new(component.engine(), limits);
        store.limiter(|limits| limits);
        // What the engine answers with comes out of its memory. More than that is never copied.
        store.set_hostcall_fuel(limits.memory);
        let engine = refuel(&mut store)
            .and_then(|()| component.instantiate(&mut store))
            .map_err(|error| {
                limit_reached(&error, limits).unwrap_or_else(|| not_started(&error))
            })?;
        Ok(Self { store, engine })
    }

    fn call<T>(
        &mut self,
        function: impl FnOnce(&bindings::Engine, &mut Store<Limits>) -> wasmtime::Result<T>,
    ) -> Result<T, Failure> {
        let limits = *self.store.data();
        refuel(&mut self.store)
            .and_then(|()| function(&self.engine, &mut self.store))
            .map_err(|error| limit_reached(&error, limits).unwrap_or_else(|| stopped(&error)))
    }
}

/// Gives a call its whole budget, whatever the calls before it have left.
fn refuel(store: &mut Store<Limits>) -> wasmtime::Result<()> {
    store.set_fuel(store.data().fuel_per_call)
}

fn limit_reached(error: &wasmtime::Error, limits: Limits) -> Option<Failure> {
    let limit = match error.downcast_ref::<Trap>() {
        Some(Trap::OutOfFuel) => LimitReached::Fuel(limits.fuel_per_call),
        _ => *error.downcast_ref::<LimitReached>()?,
    };
    Some(Failure::new(limit).help("smaller inputs need less"))
}

/// The engine never stops by itself, whatever it is given.
fn stopped(error: &wasmtime::Error) -> Failure {
    Failure::internal(format_args!("the engine stopped: {error:#}"))
}

fn not_started(error: &wasmtime::Error) -> Failure {
    Failure::new(format_args!("the engine can't be started: {error:#}")).help(format_args!(
        "it sets aside {} GiB of addresses, which is not memory in use;\na limit such as that of \
         `ulimit -v` has to leave room for them",
        agent_aot::MEMORY_RESERVATION >> 30
    ))
}

/// The interface `catalogue`.
impl Instance {
    pub(crate) fn catalogue(&mut self) -> Result<Vec<CodeEntry>, Failure> {
        self.call(|engine, store| engine.agent_engine_catalogue().call_codes(store))
    }
}

/// The interface `inputs`.
impl Instance {
    pub(crate) fn parse_manifest(&mut self, text: &[u8]) -> Result<Checked<Manifest>, Failure> {
        self.call(|engine, store| {
            engine
                .agent_engine_inputs()
                .manifest()
                .call_parse(store, text)
        })
        .map(|parsed| parsed.map(Manifest))
    }

    pub(crate) fn manifest_warnings(
        &mut self,
        manifest: &Manifest,
    ) -> Result<Vec<Diagnostic>, Failure> {
        self.call(|engine, store| {
            engine
                .agent_engine_inputs()
                .manifest()
                .call_warnings(store, manifest.0)
        })
    }

    pub(crate) fn load_index(&mut self, json: &[u8]) -> Result<Checked<Index>, Failure> {
        self.call(|engine, store| engine.agent_engine_inputs().index().call_load(store, json))
            .map(|loaded| loaded.map(Index))
    }

    pub(crate) fn index_warnings(&mut self, index: &Index) -> Result<Vec<Diagnostic>, Failure> {
        self.call(|engine, store| {
            engine
                .agent_engine_inputs()
                .index()
                .call_warnings(store, index.0)
        })
    }
}

/// The interface `resolver`.
impl Instance {
    pub(crate) fn unsatisfied(
        &mut self,
        resolution: &Resolution,
    ) -> Result<Vec<Diagnostic>, Failure> {
        self.call(|engine, store| {
            engine
                .agent_engine_resolver()
                .resolution()
                .call_diagnostics(store, resolution.0)
        })
    }

    pub(crate) fn lock_text(&mut self, resolution: &Resolution) -> Result<Option<String>, Failure> {
        self.call(|engine, store| {
            engine
                .agent_engine_resolver()
                .resolution()
                .call_lock(store, resolution.0)
        })
    }

    pub(crate) fn explanation(
        &mut self,
        resolution: &Resolution,
    ) -> Result<Result<String, Diagnostic>, Failure> {
        self.call(|engine, store| {
            engine
                .agent_engine_resolver()
                .resolution()
                .call_explanation(store, resolution.0)
        })
    }

    pub(crate) fn compact(&mut self, resolution: &Resolution) -> Result<String, Failure> {
        self.call(|engine, store| {
            engine
                .agent_engine_explanation()
                .call_compact(store, resolution.0)
        })
    }
}

/// The interface `capability`.
impl Instance {
    pub(crate) fn parse_task(
        &mut self,
        text: &[u8],
        notation: Notation,
    ) -> Result<Checked<Task>, Failure> {
        self.call(|engine, store| {
            engine
                .agent_engine_capability()
                .task()
                .call_parse(store, text, notation)
        })
        .map(|parsed| parsed.map(Task))
    }

    pub(crate) fn task_warnings(&mut self, task: &Task) -> Result<Vec<Diagnostic>, Failure> {
        self.call(|engine, store| {
            engine
                .agent_engine_capability()
                .task()
                .call_warnings(store, task.0)
        })
    }

    pub(crate) fn parse_tenant(
        &mut self,
        text: &[u8],
        notation: Notation,
        id: Option<&str>,
    ) -> Result<Checked<Tenant>, Failure> {
        self.call(|engine, store| {
            engine
                .agent_engine_capability()
                .tenant()
                .call_parse(store, text, notation, id)
        })
        .map(|parsed| parsed.map(Tenant))
    }

    pub(crate) fn tenant_warnings(&mut self, tenant: &Tenant) -> Result<Vec<Diagnostic>, Failure> {
        self.call(|engine, store| {
            engine
                .agent_engine_capability()
                .tenant()
                .call_warnings(store, tenant.0)
        })
    }

    pub(crate) fn parse_health(
        &mut self,
        text: &[u8],
        notation: Notation,
    ) -> Result<Checked<Health>, Failure> {
        self.call(|engine, store| {
            engine
                .agent_engine_capability()
                .health()
                .call_parse(store, text, notation)
        })
        .map(|parsed| parsed.map(Health))
    }

    pub(crate) fn circumstances(
        &mut self,
        task: Option<&Task>,
        tenant: Option<&Tenant>,
        health: Option<&Health>,
    ) -> Result<Circumstances, Failure> {
        self.call(|engine, store| {
            engine
                .agent_engine_capability()
                .circumstances()
                .call_constructor(
                    store,
                    task.map(|it| it.0),
                    tenant.map(|it| it.0),
                    health.map(|it| it.0),
                )
        })
        .map(Circumstances)
    }

    pub(crate) fn resolve_under(
        &mut self,
        manifest: &Manifest,
        index: &Index,
        circumstances: &Circumstances,
    ) -> Result<Checked<Resolution>, Failure> {
        self.call(|engine, store| {
            engine.agent_engine_capability().call_resolve(
                store,
                manifest.0,
                index.0,
                circumstances.0,
            )
        })
        .map(|resolved| resolved.map(Resolution))
    }

    pub(crate) fn decide_matching(
        &mut self,
        manifest: Option<&Manifest>,
        index: &Index,
        circumstances: &Circumstances,
    ) -> Result<Checked<Matching>, Failure> {
        self.call(|engine, store| {
            engine.agent_engine_capability().matching().call_decide(
                store,
                manifest.map(|it| it.0),
                index.0,
                circumstances.0,
            )
        })
        .map(|decided| decided.map(Matching))
    }

    pub(crate) fn tenant_policy(&mut self, tenant: &Tenant) -> Result<Option<String>, Failure> {
        self.call(|engine, store| {
            engine
                .agent_engine_capability()
                .tenant()
                .call_policy(store, tenant.0)
        })
    }

    pub(crate) fn matching_of(&mut self, resolution: &Resolution) -> Result<Matching, Failure> {
        self.call(|engine, store| {
            engine
                .agent_engine_capability()
                .matching()
                .call_of_resolution(store, resolution.0)
        })
        .map(Matching)
    }

    pub(crate) fn matching_satisfied(&mut self, matching: &Matching) -> Result<bool, Failure> {
        self.call(|engine, store| {
            engine
                .agent_engine_capability()
                .matching()
                .call_satisfied(store, matching.0)
        })
    }

    pub(crate) fn unmatched(&mut self, matching: &Matching) -> Result<Vec<Diagnostic>, Failure> {
        self.call(|engine, store| {
            engine
                .agent_engine_capability()
                .matching()
                .call_diagnostics(store, matching.0)
        })
    }

    pub(crate) fn matching_explanation(
        &mut self,
        matching: &Matching,
    ) -> Result<Result<String, Diagnostic>, Failure> {
        self.call(|engine, store| {
            engine
                .agent_engine_capability()
                .matching()
                .call_explanation(store, matching.0)
        })
    }
}

/// The interface `policy`.
impl Instance {
    pub(crate) fn parse_policy(&mut self, text: &[u8]) -> Result<Checked<Policy>, Failure> {
        self.call(|engine, store| {
            engine
                .agent_engine_policy()
                .policy()
                .call_parse(store, text)
        })
        .map(|parsed| parsed.map(Policy))
    }

    pub(crate) fn parse_context(
        &mut self,
        text: &[u8],
        notation: Notation,
    ) -> Result<Checked<Context>, Failure> {
        self.call(|engine, store| {
            engine
                .agent_engine_policy()
                .context()
                .call_parse(store, text, notation)
        })
        .map(|parsed| parsed.map(Context))
    }

    pub(crate) fn govern(
        &mut self,
        policy: &Policy,
        circumstances: &Circumstances,
        context: Option<&Context>,
    ) -> Result<Circumstances, Failure> {
        self.call(|engine, store| {
            engine.agent_engine_policy().policy().call_govern(
                store,
                policy.0,
                circumstances.0,
                context.map(|it| it.0),
            )
        })
        .map(Circumstances)
    }

    pub(crate) fn dead_rules(
        &mut self,
        policy: &Policy,
        index: Option<&Index>,
        tenant: Option<&Tenant>,
    ) -> Result<Vec<Diagnostic>, Failure> {
        self.call(|engine, store| {
            engine.agent_engine_policy().policy().call_dead_rules(
                store,
                policy.0,
                index.map(|it| it.0),
                tenant.map(|it| it.0),
            )
        })
    }

    pub(crate) fn unused_rules(
        &mut self,
        policy: &Policy,
        matching: &Matching,
    ) -> Result<Vec<Diagnostic>, Failure> {
        self.call(|engine, store| {
            engine
                .agent_engine_policy()
                .policy()
                .call_unused_rules(store, policy.0, matching.0)
        })
    }

    pub(crate) fn policy_tests(
        &mut self,
        policy: &[u8],
        tests: &[u8],
    ) -> Result<Checked<Vec<TestOutcome>>, Failure> {
        self.call(|engine, store| engine.agent_engine_policy().call_test(store, policy, tests))
    }
}

/// The interface `expansion`.
impl Instance {
    pub(crate) fn expose(
        &mut self,
        lock: &Lock,
        index: &Index,
    ) -> Result<Checked<Exposed>, Failure> {
        self.call(|engine, store| {
            engine
                .agent_engine_expansion()
                .call_expose(store, lock.0, index.0)
        })
    }

    pub(crate) fn services(
        &mut self,
        lock: &Lock,
        index: &Index,
        server: &str,
    ) -> Result<Result<ExpansionAnswer, Refusal>, Failure> {
        self.call(|engine, store| {
            engine
                .agent_engine_expansion()
                .call_services(store, lock.0, index.0, server)
        })
    }

    pub(crate) fn expand(
        &mut self,
        lock: &Lock,
        index: &Index,
        circumstances: &Circumstances,
        (server, tools): (&str, &[String]),
        used: u64,
        budget: Option<u64>,
    ) -> Result<Result<ExpansionAnswer, Refusal>, Failure> {
        self.call(|engine, store| {
            engine.agent_engine_expansion().call_expand(
                store,
                lock.0,
                index.0,
                circumstances.0,
                server,
                tools,
                used,
                budget,
            )
        })
    }
}

/// The interface `plan`.
impl Instance {
    pub(crate) fn parse_call_plan(&mut self, text: &[u8]) -> Result<Checked<CallPlan>, Failure> {
        let parsed = self.call(|engine, store| {
            engine
                .agent_engine_plan()
                .call_plan()
                .call_parse(store, text)
        })?;
        Ok(parsed.map(CallPlan))
    }

    pub(crate) fn parse_tool_catalogue(
        &mut self,
        text: &[u8],
    ) -> Result<Checked<ToolCatalogue>, Failure> {
        let parsed = self.call(|engine, store| {
            engine
                .agent_engine_plan()
                .tool_catalogue()
                .call_parse(store, text)
        })?;
        Ok(parsed.map(ToolCatalogue))
    }

    pub(crate) fn authorize_call(
        &mut self,
        plan: &CallPlan,
        index: &Index,
        lock: Option<&Lock>,
        catalogue: Option<&ToolCatalogue>,
    ) -> Result<CallAnswer, Failure> {
        self.call(|engine, store| {
            engine.agent_engine_plan().call_authorize_call(
                store,
                plan.0,
                index.0,
                lock.map(|lock| lock.0),
                catalogue.map(|catalogue| catalogue.0),
            )
        })
    }
}

/// Sequential plans in the interface `plan`.
impl Instance {
    pub(crate) fn parse_plan_rules(
        &mut self,
        tool_pool: &[u8],
        profile: &[u8],
        core: Option<&Core>,
    ) -> Result<PlanRules, Failure> {
        let rules = self.call(|engine, store| {
            engine.agent_engine_plan().plan_rules().call_parse(
                store,
                tool_pool,
                profile,
                core.map(|core| core.0),
            )
        })?;
        Ok(PlanRules(rules))
    }

    pub(crate) fn authorize_plan(
        &mut self,
        plan: &[u8],
        rules: &PlanRules,
        request: Option<&[u8]>,
        index: Option<&Index>,
        lock: Option<&Lock>,
        catalogue: Option<&ToolCatalogue>,
    ) -> Result<PlanAnswer, Failure> {
        self.call(|engine, store| {
            engine.agent_engine_plan().call_authorize_plan(
                store,
                plan,
                rules.0,
                request,
                index.map(|index| index.0),
                lock.map(|lock| lock.0),
                catalogue.map(|catalogue| catalogue.0),
            )
        })
    }
}

/// The interface `schemas`.
impl Instance {
    pub(crate) fn parse_core(
        &mut self,
        schemas: &[NamedText],
    ) -> Result<Result<Core, Vec<String>>, Failure> {
        let parsed = self.call(|engine, store| {
            engine
                .agent_engine_schemas()
                .core()
                .call_parse(store, schemas)
        })?;
        Ok(parsed.map(Core))
    }

    pub(crate) fn schemas(&mut self) -> Result<Listing, Failure> {
        self.call(|engine, store| engine.agent_engine_schemas().call_list_all(store))
    }

    pub(crate) fn schema(&mut self, name: &str) -> Result<Option<String>, Failure> {
        self.call(|engine, store| engine.agent_engine_schemas().call_show(store, name))
    }

    pub(crate) fn nearest_schemas(&mut self, name: &str) -> Result<Vec<String>, Failure> {
        self.call(|engine, store| engine.agent_engine_schemas().call_nearest(store, name))
    }

    pub(crate) fn check_document(
        &mut self,
        schema: &str,
        document: &[u8],
        core: Option<&Core>,
    ) -> Result<Option<Vec<Diagnostic>>, Failure> {
        self.call(|engine, store| {
            engine.agent_engine_schemas().call_check(
                store,
                schema,
                document,
                core.map(|core| core.0),
            )
        })
    }
}

/// The interface `grounding`.
impl Instance {
    pub(crate) fn ground(
        &mut self,
        summary: &[u8],
        payload: &[u8],
    ) -> Result<Checked<Grounding>, Failure> {
        self.call(|engine, store| {
            engine
                .agent_engine_grounding()
                .call_ground(store, summary, payload)
        })
    }
}

/// The interface `importer`.
impl Instance {
    pub(crate) fn import(
        &mut self,
        document: &[u8],
        overlay: Option<&Overlay>,
        existing: Option<&[u8]>,
    ) -> Result<Checked<Imported>, Failure> {
        self.call(|engine, store| {
            engine
                .agent_engine_importer()
                .call_merge(store, document, overlay, existing)
        })
    }
}

/// The interface `lockfile`.
impl Instance {
    pub(crate) fn parse_lock(&mut self, text: &[u8]) -> Result<Checked<Lock>, Failure> {
        self.call(|engine, store| {
            engine
                .agent_engine_lockfile()
                .lock()
                .call_parse(store, text)
        })
        .map(|parsed| parsed.map(Lock))
    }

    pub(crate) fn verify(&mut self, lock: &Lock, index: &Index) -> Result<Vec<Drift>, Failure> {
        self.call(|engine, store| {
            engine
                .agent_engine_lockfile()
                .lock()
                .call_verify(store, lock.0, index.0)
        })
    }

    pub(crate) fn detailed(
        &mut self,
        drifts: &[Drift],
        older: (&Lock, &Index),
        newer: (&Lock, &Index),
    ) -> Result<Vec<Drift>, Failure> {
        let origin = |(lock, index): (&Lock, &Index)| Origin {
            lock: lock.0,
            index: index.0,
        };
        self.call(|engine, store| {
            engine.agent_engine_explanation().call_detailed(
                store,
                drifts,
                origin(older),
                origin(newer),
            )
        })
    }

    pub(crate) fn compare(
        &mut self,
        older: Option<&Lock>,
        newer: &Lock,
    ) -> Result<Vec<Drift>, Failure> {
        self.call(|engine, store| {
            engine
                .agent_engine_lockfile()
                .call_compare(store, older.map(|lock| lock.0), newer.0)
        })
    }
}

/// The interface `view`.
impl Instance {
    pub(crate) fn report(
        &mut self,
        format: ReportFormat,
        diagnostics: &[Diagnostic],
        files: &[File],
    ) -> Result<String, Failure> {
        self.call(|engine, store| {
            engine
                .agent_engine_view()
                .call_report(store, format, diagnostics, files)
        })
    }

    pub(crate) fn discover(&mut self, index: &Index) -> Result<Vec<Part>, Failure> {
        self.call(|engine, store| engine.agent_engine_view().call_discover(store, index.0))
    }

    pub(crate) fn discover_json(&mut self, index: &Index) -> Result<String, Failure> {
        self.call(|engine, store| {
            engine
                .agent_engine_view()
                .call_discover_json(store, index.0)
        })
    }

    pub(crate) fn summary(&mut self, resolution: &Resolution) -> Result<Vec<Part>, Failure> {
        self.call(|engine, store| engine.agent_engine_view().call_summary(store, resolution.0))
    }

    pub(crate) fn summary_json(&mut self, resolution: &Resolution) -> Result<String, Failure> {
        self.call(|engine, store| {
            engine
                .agent_engine_view()
                .call_summary_json(store, resolution.0)
        })
    }

    pub(crate) fn match_summary(&mut self, matching: &Matching) -> Result<Vec<Part>, Failure> {
        self.call(|engine, store| {
            engine
                .agent_engine_view()
                .call_match_summary(store, matching.0)
        })
    }

    pub(crate) fn why(
        &mut self,
        resolution: &Resolution,
        subject: &str,
        files: &[File],
    ) -> Result<Option<Vec<Part>>, Failure> {
        self.call(|engine, store| {
            engine
                .agent_engine_view()
                .call_why(store, resolution.0, subject, files)
        })
    }

    pub(crate) fn why_json(
        &mut self,
        resolution: &Resolution,
        subject: &str,
    ) -> Result<Option<String>, Failure> {
        self.call(|engine, store| {
            engine
                .agent_engine_view()
                .call_why_json(store, resolution.0, subject)
        })
    }

    pub(crate) fn did_you_mean(
        &mut self,
        resolution: &Resolution,
        subject: &str,
    ) -> Result<Vec<String>, Failure> {
        self.call(|engine, store| {
            engine
                .agent_engine_view()
                .call_did_you_mean(store, resolution.0, subject)
        })
    }

    pub(crate) fn drifts(&mut self, drifts: &[Drift]) -> Result<Vec<Part>, Failure> {
        self.call(|engine, store| engine.agent_engine_view().call_drifts(store, drifts))
    }

    pub(crate) fn drift_diagnostics(
        &mut self,
        drifts: &[Drift],
    ) -> Result<Vec<Diagnostic>, Failure> {
        self.call(|engine, store| {
            engine
                .agent_engine_view()
                .call_drift_diagnostics(store, drifts)
        })
    }

    pub(crate) fn drifts_json(&mut self, drifts: &[Drift]) -> Result<String, Failure> {
        self.call(|engine, store| engine.agent_engine_view().call_drifts_json(store, drifts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trap_is_a_defect_to_be_reported() {
        let Failure { message, help } = stopped(&Trap::UnreachableCodeReached.into());
        assert!(
            message.starts_with("internal error: the engine stopped: wasm trap"),
            "{message}"
        );
        assert!(help.is_some_and(|help| help.contains("please report it")));
    }
}
