//! Runs of plans through the component: the same actions and the same evidence, byte for byte.

use agent_host::contract::run as contract;
use agent_host::{Engine, call};
use agent_run::{
    Action, Clock, Documents, Failure, FailureKind, Goal, HandlerEvent, Mode, Options, Outcome,
    Response, Run, StoreMode,
};
use agent_tests::corpus::{Failures, corpus};
use agent_tests::plan::{PlanInputs, plan_cases};
use agent_tests::run::{behave, clock, options};
use std::fs;

/// More turns than a run of the corpus takes.
const TURNS_MAX: u64 = 1_000;

/// An action as both sides can name it. Facts of effects are compared by their evidence.
#[derive(Debug, PartialEq)]
enum Wanted {
    Store(String, Vec<u8>, bool),
    Effect(&'static str),
    Finished(String, String, String, String, bool),
}

fn natively(action: &Action) -> Wanted {
    match action {
        Action::Store(store) => Wanted::Store(
            store.path.clone(),
            store.content.clone(),
            store.mode == StoreMode::Append,
        ),
        Action::Finished(finished) => Wanted::Finished(
            finished.message.clone(),
            finished.directory.clone(),
            finished.summary.clone(),
            finished.answer.clone(),
            finished.evidence_complete,
        ),
        action => Wanted::Effect(action.name()),
    }
}

fn by_component(action: contract::Action) -> Wanted {
    match action {
        contract::Action::Store(store) => {
            let appends = matches!(store.mode, contract::StoreMode::Append);
            Wanted::Store(store.path, store.content, appends)
        }
        contract::Action::Finished(finished) => Wanted::Finished(
            finished.message,
            finished.directory,
            finished.summary,
            finished.answer,
            finished.evidence_complete,
        ),
        contract::Action::Approve(_) => Wanted::Effect("approve"),
        contract::Action::Plan(_) => Wanted::Effect("plan"),
        contract::Action::Resolve(_) => Wanted::Effect("resolve"),
        contract::Action::Request(_) => Wanted::Effect("request"),
        contract::Action::CallHandler(_) => Wanted::Effect("call_handler"),
        contract::Action::ResumeHandler(_) => Wanted::Effect("resume_handler"),
        contract::Action::RunProgram(_) => Wanted::Effect("run_program"),
        contract::Action::OpenServer(_) => Wanted::Effect("open_server"),
        contract::Action::ListTools(_) => Wanted::Effect("list_tools"),
        contract::Action::CallTool(_) => Wanted::Effect("call_tool"),
    }
}

fn reading(clock: Clock) -> contract::Clock {
    contract::Clock {
        unix_ms: clock.unix_ms,
        monotonic_ms: clock.monotonic_ms,
        utc_offset_minutes: clock.utc_offset_minutes,
    }
}

fn failure(failure: Failure) -> contract::Failure {
    contract::Failure {
        kind: match failure.kind {
            FailureKind::Timeout => contract::FailureKind::Timeout,
            FailureKind::LimitExceeded => contract::FailureKind::LimitExceeded,
            FailureKind::Unavailable => contract::FailureKind::Unavailable,
            FailureKind::Failed => contract::FailureKind::Failed,
        },
        message: failure.message,
    }
}

fn event(event: HandlerEvent) -> contract::HandlerEvent {
    match event {
        HandlerEvent::Returned(output) => contract::HandlerEvent::Returned(output),
        HandlerEvent::Failed(it) => contract::HandlerEvent::Failed(failure(it)),
        HandlerEvent::Request(request) => {
            contract::HandlerEvent::Request(contract::HandlerRequest {
                method: request.method,
                url: request.url,
                headers: request.headers,
                body: request.body,
            })
        }
        HandlerEvent::Program {
            path,
            arguments,
            stdin,
        } => contract::HandlerEvent::Program(contract::HandlerProgram {
            path,
            arguments,
            stdin,
        }),
        HandlerEvent::Tool { arguments } => contract::HandlerEvent::Tool(arguments),
    }
}

fn contracted(outcome: Outcome) -> contract::Outcome {
    match outcome {
        Outcome::Stored => contract::Outcome::Stored,
        Outcome::Failed(it) => contract::Outcome::Failed(failure(it)),
        Outcome::Aborted(aborted) => contract::Outcome::Aborted(contract::Aborted {
            failure: failure(aborted.failure),
            stderr: aborted.stderr,
            stderr_truncated: aborted.stderr_truncated,
        }),
        Outcome::Decision { approved, by } => {
            contract::Outcome::Decision(contract::Decision { approved, by })
        }
        Outcome::Addresses(addresses) => contract::Outcome::Addresses(addresses),
        Outcome::Handler(handled) => contract::Outcome::Handler(contract::Handled {
            event: event(handled.event),
            log: handled.log,
            log_truncated: handled.log_truncated,
        }),
        Outcome::Response(Response {
            status,
            content_type,
            body,
        }) => contract::Outcome::Response(contract::HttpResponse {
            status,
            content_type,
            body,
        }),
        Outcome::Exited(exited) => contract::Outcome::Exited(contract::Exited {
            code: exited.code,
            stdout: exited.stdout,
            stderr: exited.stderr,
            stderr_truncated: exited.stderr_truncated,
        }),
        Outcome::Opened {
            protocol,
            is_unsandboxed,
            package,
        } => contract::Outcome::Opened(contract::Opened {
            protocol,
            is_unsandboxed,
            package,
        }),
        Outcome::Bytes(bytes) => contract::Outcome::Bytes(bytes),
    }
}

/// A host that behaves, whose planner gives one answer.
fn behave_with(planned: &str, action: &Action) -> Outcome {
    match action {
        Action::Plan(_) => Outcome::Bytes(planned.as_bytes().to_vec()),
        action => behave(action),
    }
}

fn goal(goal: Goal) -> contract::Goal {
    contract::Goal {
        text: goal.text,
        context: goal.context,
        planner: goal.planner,
    }
}

/// Runs documents on both sides at once, and returns the first turn in which they differ.
fn compare(
    engine: &Engine,
    documents: Documents,
    (mode, other): (Mode, contract::Mode),
    planned: &str,
) -> Result<u64, String> {
    let instance = &mut engine.instantiate().expect("an instance");
    let given = contract::Documents {
        plan: documents.plan.clone(),
        request: documents.request.clone(),
        tool_pool: documents.tool_pool.clone(),
        instruction_profile: documents.profile.clone(),
        lock: documents.lock.clone(),
        index: documents.index.clone(),
        task: None,
        tenant: None,
        tenant_id: None,
        policy: None,
        policy_context: None,
        mova: Vec::new(),
        goal: documents.goal.clone().map(goal),
        summary: None,
    };
    let chosen = contract::Options {
        run_id: options().run_id,
        random: options().random.to_vec(),
        sandbox_tier: options().sandbox_tier,
        handlers: Vec::new(),
        approvals: Vec::new(),
        secrets: Vec::new(),
        mode: other,
        asks_for_summary: false,
    };
    let options = Options { mode, ..options() };
    let mut native = Run::start(documents, options, clock(0)).expect("a run id");
    let started = call!(
        instance,
        run.plan_run.call_start(&given, &chosen, reading(clock(0)))
    );
    let component = started.expect("the engine").expect("a run id");
    for turn in 1..TURNS_MAX {
        let action = native.next_action();
        let other = call!(instance, run.plan_run.call_next(component)).expect("the engine");
        let (ours, theirs) = (natively(&action), by_component(other));
        if ours != theirs {
            return Err(format!("turn {turn}: {ours:?} and {theirs:?}"));
        }
        let outcome = match &action {
            Action::Finished(_) => return Ok(turn),
            Action::Store(_) => Outcome::Stored,
            action => behave_with(planned, action),
        };
        native
            .complete(outcome.clone(), clock(turn))
            .expect("in turn");
        let taken = call!(
            instance,
            run.plan_run
                .call_complete(component, &contracted(outcome), reading(clock(turn)))
        );
        taken.expect("the engine").expect("in turn");
    }
    Err("the run does not end".to_owned())
}

#[test]
fn runs_of_the_corpus_are_the_same_through_the_component() {
    let engine = Engine::embedded().expect("the engine");
    let mut failures = Failures::default();
    let mut turns = 0;
    for case in plan_cases() {
        let inputs = PlanInputs::of(&case);
        let documents = Documents {
            plan: Some(inputs.plan),
            request: inputs.request,
            tool_pool: Some(inputs.tool_pool),
            profile: Some(inputs.profile),
            lock: inputs.lock,
            index: inputs.index,
            ..Documents::default()
        };
        for mode in [
            (Mode::CarryOut, contract::Mode::CarryOut),
            (Mode::Preview, contract::Mode::Preview),
        ] {
            match compare(&engine, documents.clone(), mode, "") {
                Ok(count) => turns += count,
                Err(difference) => failures.add(&case.name(), difference),
            }
        }
    }
    failures.finish();
    assert!(turns > 5_000, "{turns} turns are few");
}

#[test]
fn goals_and_queries_are_the_same_through_the_component() {
    let engine = Engine::embedded().expect("the engine");
    let base = |name: &str| fs::read(corpus().join("plan/base").join(name)).ok();
    let documents = Documents {
        tool_pool: base("tool-pool.json"),
        profile: base("profile.json"),
        lock: base("agents.lock"),
        index: base("mcp.index.json"),
        goal: Some(Goal {
            text: "list audiences".to_owned(),
            context: Some(b"{\"at_most\": 2}".to_vec()),
            planner: "a-model".to_owned(),
        }),
        ..Documents::default()
    };
    let call = |tool: &str, args: &str| {
        format!(r#"{{"type":"call_tool","server":"acme-audiences","tool":"{tool}","args":{args}}}"#)
    };
    let step = r#"{"envelope_id":"env.mova_agent_plan_v1","verb":"create","roles":{"planner":"p","executor":"e"},
        "plan":{"plan_id":"p","request_id":"run-1","tool_pool_ref":{"pool_id":"pool","pool_version":"1.0.0"},
        "instruction_profile_ref":{"profile_id":"profile"},"steps":[{"step_id":"keep",
        "connector_id":"connector_core:noop","tool_id":"keep","input":{"a":1}}]}}"#;
    let ask = (Mode::Ask, contract::Mode::Ask);
    let carry_out = (Mode::CarryOut, contract::Mode::CarryOut);
    let decide = (Mode::Decide, contract::Mode::Decide);
    let mut turns = Vec::new();
    for (mode, planned) in [
        (ask, call("list_audiences", r#"{"limit":2}"#)),
        (ask, call("rename_audience", "{}")),
        (ask, "prose".to_owned()),
        (carry_out, step.to_owned()),
        (decide, step.to_owned()),
        (decide, "prose".to_owned()),
    ] {
        let without_profile = Documents {
            profile: None,
            ..documents.clone()
        };
        let documents = match mode.0 {
            Mode::Ask => without_profile,
            _ => documents.clone(),
        };
        turns.push(compare(&engine, documents, mode, &planned).expect("no difference"));
    }
    assert!(turns[0] > turns[1] && turns[3] > turns[4], "{turns:?}");
}

#[test]
fn options_that_no_run_can_have_are_refused() {
    let mut instance = Engine::embedded()
        .expect("the engine")
        .instantiate()
        .expect("an instance");
    let documents = contract::Documents {
        plan: None,
        request: None,
        tool_pool: None,
        instruction_profile: None,
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
    for (run_id, random) in [("../x", 32), ("", 32), ("run", 31)] {
        let options = contract::Options {
            run_id: run_id.to_owned(),
            random: vec![0; random],
            sandbox_tier: String::new(),
            handlers: Vec::new(),
            approvals: Vec::new(),
            secrets: Vec::new(),
            mode: contract::Mode::CarryOut,
            asks_for_summary: false,
        };
        let started = call!(
            instance,
            run.plan_run
                .call_start(&documents, &options, reading(clock(0)))
        );
        assert!(started.expect("the engine").is_err(), "{run_id} {random}");
    }
}
