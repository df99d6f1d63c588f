//! Runs of plans: the cost of a step that does nothing, with its evidence.

use crate::table::Table;
use crate::timing::shortest;
use agent_evidence::Store;
use agent_host::contract::run as contract;
use agent_host::{Engine, call};
use agent_run::{
    Action, Clock, Documents, Handled, HandlerEvent, Options, Outcome, Run, StoreMode,
};
use std::error::Error;
use std::fmt::Write as _;
use std::time::Duration;

/// Numbers of steps: a step costs the difference between both runs, divided.
const STEPS: (usize, usize) = (1, 65);

const RUN_ID: &str = "run";

/// Measures a step natively, through the component, and with its evidence on disk.
///
/// # Errors
///
/// When the engine or the folder of the evidence can't be had.
pub(crate) fn measure() -> Result<Table, Box<dyn Error>> {
    let native = per_step(|steps| drop(natively(documents(steps))));
    let title = "a step of a plan that does nothing, with its evidence".to_owned();
    let mut table = Table::new(title, "native: noop step", native);
    let engine = Engine::embedded()?;
    let in_memory = per_step(|steps| {
        by_component(&engine, steps, |_| {});
    });
    table.add("component: noop step", in_memory);
    let folder = tempfile::tempdir()?;
    let store = Store::new(folder.path());
    let on_disk = per_step(|steps| {
        by_component(&engine, steps, |wanted| {
            let stored = match wanted.mode {
                contract::StoreMode::Replace => store.replace(&wanted.path, &wanted.content),
                contract::StoreMode::Append => store.append(&wanted.path, &wanted.content),
            };
            stored.expect("evidence is stored");
        });
    });
    table.add("component: noop step, evidence synced to disk", on_disk);
    table
        .note("The target of the second row is 100 µs. A step stores 8 files or lines.".to_owned());
    Ok(table)
}

/// Returns the time of one step.
fn per_step(run: impl Fn(usize)) -> Duration {
    let (few, many) = STEPS;
    let times = [few, many].map(|steps| shortest(|| run(steps)));
    let steps = u32::try_from(many - few).unwrap_or(1);
    times[1].saturating_sub(times[0]) / steps
}

fn documents(steps: usize) -> Documents {
    let mut list = String::new();
    for step in 0..steps {
        let comma = if step == 0 { "" } else { "," };
        // Writing to a string can't fail.
        let _ = write!(
            list,
            r#"{comma}{{"step_id":"s{step}","connector_id":"core:noop","tool_id":"keep","input":{{"note":"hello"}}}}"#
        );
    }
    let plan = format!(
        r#"{{"envelope_id":"env.mova_agent_plan_v1","verb":"create","roles":{{"planner":"p","executor":"e"}},"plan":{{
        "plan_id":"p","request_id":"r","tool_pool_ref":{{"pool_id":"pool","pool_version":"1"}},
        "instruction_profile_ref":{{"profile_id":"profile"}},"steps":[{list}]}}}}"#
    );
    let pool = r#"{"schema_id":"ds.mova_agent_tool_pool_v1","pool_id":"pool","pool_version":"1","connectors":[
        {"connector_id":"core:noop","provider":"internal","resource":"nothing","protocol":"none"}],"bindings":[
        {"connector_id":"core:noop","tool_id":"keep","driver_kind":"noop","destinations":[],"limits":
        {"timeout_ms":1000,"max_input_bytes":1000,"max_output_bytes":1000,"max_log_bytes":0}}]}"#;
    let profile = r#"{"profile_id":"profile","security_model_version":"1.0.0","status":"active","caps":
        {"max_steps":100,"max_timeout_ms":1000,"max_input_bytes":1000,"max_output_bytes":1000,"max_log_bytes":0},
        "rules":[{"rule_id":"all","effect":"allow","target":{"kind":"tool","selector":"*"}}]}"#;
    Documents {
        plan: Some(plan.into_bytes()),
        tool_pool: Some(pool.into()),
        profile: Some(profile.into()),
        ..Documents::default()
    }
}

/// Carries out a plan natively. Returns the evidence that it stored last.
fn natively(documents: Documents) -> Vec<u8> {
    let options = Options {
        run_id: RUN_ID.to_owned(),
        ..Options::default()
    };
    let mut run = Run::start(documents, options, Clock::default()).expect("a run id");
    let mut stored = Vec::new();
    loop {
        let outcome = match run.next_action() {
            Action::Store(store) => {
                if store.mode == StoreMode::Replace {
                    stored = store.content;
                }
                Outcome::Stored
            }
            Action::CallHandler(call) => Outcome::Handler(Handled {
                event: HandlerEvent::Returned(call.input.into_bytes()),
                log: Vec::new(),
                log_truncated: false,
            }),
            Action::Finished(finished) => {
                assert_eq!(finished.code, None, "the plan runs");
                return stored;
            }
            action => panic!("{action:?} is none of a noop step"),
        };
        run.complete(outcome, Clock::default()).expect("in turn");
    }
}

/// Carries out a plan in an instance of the component.
fn by_component(engine: &Engine, steps: usize, store: impl Fn(&contract::Store)) {
    let mut instance = engine.instantiate().expect("starts");
    let documents = documents(steps);
    let documents = contract::Documents {
        plan: documents.plan,
        request: None,
        tool_pool: documents.tool_pool,
        instruction_profile: documents.profile,
        lock: None,
        index: None,
        task: None,
        tenant: None,
        tenant_id: None,
        policy: None,
        policy_context: None,
        mova: Vec::new(),
        goal: None,
        summary: None,
    };
    let options = contract::Options {
        run_id: RUN_ID.to_owned(),
        random: vec![0; 32],
        sandbox_tier: String::new(),
        handlers: Vec::new(),
        approvals: Vec::new(),
        secrets: Vec::new(),
        mode: contract::Mode::CarryOut,
        asks_for_summary: false,
    };
    let now = contract::Clock {
        unix_ms: 0,
        monotonic_ms: 0,
        utc_offset_minutes: 0,
    };
    let run = call!(instance, run.plan_run.call_start(&documents, &options, now));
    let run = run.expect("starts").expect("a run id");
    loop {
        let action = call!(instance, run.plan_run.call_next(run)).expect("the engine");
        let outcome = match action {
            contract::Action::Store(wanted) => {
                store(&wanted);
                contract::Outcome::Stored
            }
            contract::Action::CallHandler(call) => contract::Outcome::Handler(contract::Handled {
                event: contract::HandlerEvent::Returned(call.input.into_bytes()),
                log: Vec::new(),
                log_truncated: false,
            }),
            contract::Action::Finished(finished) => {
                assert!(finished.code.is_none(), "the plan runs");
                return;
            }
            action => panic!("{action:?} is none of a noop step"),
        };
        let taken = call!(instance, run.plan_run.call_complete(run, &outcome, now));
        taken.expect("the engine").expect("in turn");
    }
}
