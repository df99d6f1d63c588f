//! Runs of plans: the cost of a step that does nothing, of one with a request, and of one that calls a tool.

mod carried_out;
mod documents;
mod request;
mod tool;

use crate::table::Table;
use crate::timing::shortest_from;
use agent_evidence::Store;
use agent_host::contract::run as contract;
use agent_host::{Engine, call};
use agent_run::{
    Action, Clock, Documents, Handled, HandlerEvent, Options, Outcome, Run, StoreMode,
};
use documents::Texts;
use std::error::Error;
use std::time::Duration;

/// Numbers of steps: a step costs the difference between both runs, divided.
const STEPS: (usize, usize) = (1, 65);

const RUN_ID: &str = "run";

/// Measures steps of each kind, and other clients for comparison.
///
/// # Errors
///
/// When the engine, another client or the folder of the evidence can't be had.
pub(crate) fn measure() -> Result<[Table; 3], Box<dyn Error>> {
    let engine = Engine::embedded()?;
    Ok([
        noop(&engine)?,
        request::measure(&engine)?,
        tool::measure(&engine)?,
    ])
}

/// Measures a step that does nothing natively, through the component, and with its evidence on disk.
fn noop(engine: &Engine) -> Result<Table, Box<dyn Error>> {
    let native = per_step(
        STEPS,
        |steps| Texts::noop(steps).native(),
        |documents| drop(natively(documents)),
    );
    let title = "a step of a plan that does nothing, with its evidence".to_owned();
    let mut table = Table::new(title, "native: noop step", native);
    let documents = |steps| Texts::noop(steps).contract();
    let in_memory = per_step(STEPS, documents, |documents| {
        by_component(engine, &documents, |_| {});
    });
    table.add("component: noop step", in_memory);
    let folder = tempfile::tempdir()?;
    let store = Store::new(folder.path());
    let on_disk = per_step(STEPS, documents, |documents| {
        by_component(engine, &documents, |wanted| {
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

/// Returns the time of one step, from runs with few and with many. Making their inputs is not measured.
fn per_step<I>(
    (few, many): (usize, usize),
    input: impl Fn(usize) -> I,
    run: impl Fn(I),
) -> Duration {
    let times = [few, many].map(|steps| shortest_from(|| input(steps), &run));
    let steps = u32::try_from(many - few).unwrap_or(1);
    times[1].saturating_sub(times[0]) / steps
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
fn by_component(
    engine: &Engine,
    documents: &contract::Documents,
    store: impl Fn(&contract::Store),
) {
    let mut instance = engine.instantiate().expect("starts");
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
    let run = call!(instance, run.plan_run.start(documents, &options, now));
    let run = run.expect("starts").expect("a run id");
    loop {
        let action = call!(instance, run.plan_run.next(run)).expect("the engine");
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
        let taken = call!(instance, run.plan_run.complete(run, &outcome, now));
        taken.expect("the engine").expect("in turn");
    }
}
