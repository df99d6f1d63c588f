//! Runs of plans through the component: the same actions and the same evidence, byte for byte.

use agent_host::contract::run as contract;
use agent_host::{Engine, Instance, call};
use agent_run::{
    Action, Clock, Documents, Failure, FailureKind, HandlerEvent, Outcome, Response, Run, StoreMode,
};
use agent_tests::corpus::Failures;
use agent_tests::plan::{PlanInputs, plan_cases};
use agent_tests::run::{behave, clock, options};

/// More turns than a run of the corpus takes.
const TURNS_MAX: u64 = 1_000;

/// An action as both sides can name it. Facts of effects are compared by their evidence.
#[derive(Debug, PartialEq)]
enum Wanted {
    Store(String, Vec<u8>, bool),
    Effect(&'static str),
    Finished(String, String, String, bool),
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
            finished.evidence_complete,
        ),
        contract::Action::Approve(_) => Wanted::Effect("approve"),
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
        } => contract::Outcome::Opened(contract::Opened {
            protocol,
            is_unsandboxed,
        }),
        Outcome::Bytes(bytes) => contract::Outcome::Bytes(bytes),
    }
}

/// Runs documents on both sides at once, and returns the first turn in which they differ.
fn compare(instance: &mut Instance, documents: Documents) -> Result<u64, String> {
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
    };
    let chosen = contract::Options {
        run_id: options().run_id,
        random: options().random.to_vec(),
        sandbox_tier: options().sandbox_tier,
        handlers: Vec::new(),
        approvals: Vec::new(),
        secrets: Vec::new(),
    };
    let mut native = Run::start(documents, options(), clock(0)).expect("a run id");
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
            action => behave(action),
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
        let mut instance = engine.instantiate().expect("an instance");
        match compare(&mut instance, documents) {
            Ok(count) => turns += count,
            Err(difference) => failures.add(&case.name(), difference),
        }
    }
    failures.finish();
    assert!(turns > 5_000, "{turns} turns are few");
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
    };
    for (run_id, random) in [("../x", 32), ("", 32), ("run", 31)] {
        let options = contract::Options {
            run_id: run_id.to_owned(),
            random: vec![0; random],
            sandbox_tier: String::new(),
            handlers: Vec::new(),
            approvals: Vec::new(),
            secrets: Vec::new(),
        };
        let started = call!(
            instance,
            run.plan_run
                .call_start(&documents, &options, reading(clock(0)))
        );
        assert!(started.expect("the engine").is_err(), "{run_id} {random}");
    }
}
