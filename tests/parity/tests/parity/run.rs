//! Runs of plans through the component: the same actions and the same evidence, byte for byte.

use agent_host::contract::run as contract;
use agent_host::{Engine, call};
use agent_run::{
    Action, Clock, Documents, DriverKind, Failure, FailureKind, Goal, Handled, Handler,
    HandlerEvent, Mode, Options, Outcome, Response, Run, Secret, StoreMode,
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
        Outcome::Opened(opened) => contract::Outcome::Opened(contract::Opened {
            protocol: opened.protocol,
            is_unsandboxed: opened.is_unsandboxed,
            has_host_network: opened.has_host_network,
            package: opened.package,
        }),
        Outcome::Bytes(bytes) => contract::Outcome::Bytes(bytes),
    }
}

/// What a host does with an action.
enum Turn {
    Answer(Outcome),
    Cancel,
}

/// A host that behaves, whose planner gives one answer.
fn behave_with(planned: &str, action: &Action) -> Outcome {
    match action {
        Action::Store(_) => Outcome::Stored,
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

fn contracted_documents(documents: Documents) -> contract::Documents {
    contract::Documents {
        plan: documents.plan,
        request: documents.request,
        tool_pool: documents.tool_pool,
        instruction_profile: documents.profile,
        lock: documents.lock,
        index: documents.index,
        task: documents.task,
        tenant: documents.tenant,
        tenant_id: documents.tenant_id,
        policy: documents.policy,
        policy_context: documents.policy_context,
        mova: Vec::new(),
        goal: documents.goal.map(goal),
        summary: documents.summary,
    }
}

fn handler(handler: Handler) -> contract::Handler {
    contract::Handler {
        driver_kind: match handler.driver_kind {
            DriverKind::Noop => contract::DriverKind::Noop,
            DriverKind::Http => contract::DriverKind::Http,
            DriverKind::McpProxy => contract::DriverKind::McpProxy,
            DriverKind::RestrictedShell => contract::DriverKind::RestrictedShell,
        },
        digest: handler.digest,
        is_builtin: handler.is_builtin,
    }
}

fn contracted_options(options: Options) -> contract::Options {
    let secrets = options.secrets.into_iter();
    contract::Options {
        run_id: options.run_id,
        random: options.random.to_vec(),
        sandbox_tier: options.sandbox_tier,
        handlers: options.handlers.into_iter().map(handler).collect(),
        approvals: options.approvals,
        secrets: secrets
            .map(|Secret { name, value }| contract::Secret { name, value })
            .collect(),
        mode: match options.mode {
            Mode::CarryOut => contract::Mode::CarryOut,
            Mode::Decide => contract::Mode::Decide,
            Mode::Preview => contract::Mode::Preview,
            Mode::Ask => contract::Mode::Ask,
        },
        asks_for_summary: options.asks_for_summary,
    }
}

/// Runs documents on both sides at once, and returns the first turn in which they differ.
fn compare(
    engine: &Engine,
    documents: Documents,
    options: Options,
    mut host: impl FnMut(u64, &Action) -> Turn,
) -> Result<u64, String> {
    let instance = &mut engine.instantiate().expect("an instance");
    let given = contracted_documents(documents.clone());
    let chosen = contracted_options(options.clone());
    let mut native = Run::start(documents, options, clock(0)).expect("a run id");
    let started = call!(
        instance,
        run.plan_run.start(&given, &chosen, reading(clock(0)))
    );
    let component = started.expect("the engine").expect("a run id");
    for turn in 1..TURNS_MAX {
        let action = native.next_action();
        let other = call!(instance, run.plan_run.next(component)).expect("the engine");
        let (ours, theirs) = (natively(&action), by_component(other));
        if ours != theirs {
            return Err(format!("turn {turn}: {ours:?} and {theirs:?}"));
        }
        if let Action::Finished(_) = action {
            return Ok(turn);
        }
        let now = clock(turn);
        match host(turn, &action) {
            Turn::Cancel => {
                native.cancel(now);
                call!(instance, run.plan_run.cancel(component, reading(now))).expect("the engine");
            }
            Turn::Answer(outcome) => {
                let ours = native.complete(outcome.clone(), now).is_ok();
                let taken = call!(
                    instance,
                    run.plan_run
                        .complete(component, &contracted(outcome), reading(now))
                );
                let theirs = taken.expect("the engine").is_ok();
                if ours != theirs {
                    return Err(format!("turn {turn}: taken {ours} and {theirs}"));
                }
            }
        }
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
        for mode in [Mode::CarryOut, Mode::Preview] {
            let options = Options { mode, ..options() };
            let host = |_, action: &Action| Turn::Answer(behave_with("", action));
            match compare(&engine, documents.clone(), options, host) {
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
    let (ask, carry_out, decide) = (Mode::Ask, Mode::CarryOut, Mode::Decide);
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
        let documents = match mode {
            Mode::Ask => without_profile,
            _ => documents.clone(),
        };
        let options = Options { mode, ..options() };
        let host = |_, action: &Action| Turn::Answer(behave_with(&planned, action));
        turns.push(compare(&engine, documents, options, host).expect("no difference"));
    }
    assert!(turns[0] > turns[1] && turns[3] > turns[4], "{turns:?}");
}

/// Numbers that look random and are always the same.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).expect("small")
    }
}

/// An answer that may fit or not, in which a peer may quote a secret.
fn absurd(numbers: &mut Numbers, action: &Action) -> Outcome {
    let kinds = [
        FailureKind::Timeout,
        FailureKind::LimitExceeded,
        FailureKind::Unavailable,
        FailureKind::Failed,
    ];
    let quote = [
        "",
        "it says correct-horse-battery",
        "Y29ycmVjdC1ob3JzZS1iYXR0ZXJ5",
    ];
    let failure = Failure {
        kind: kinds[numbers.below(4)],
        message: quote[numbers.below(3)].to_owned(),
    };
    let bytes = [
        &b"{}"[..],
        b"null",
        b"\xff",
        b"{\"tools\":[]}",
        b"{\"content\":[]}",
    ];
    let bytes = bytes[numbers.below(5)].to_vec();
    match numbers.below(8) {
        0 => Outcome::Failed(failure),
        1 => Outcome::Stored,
        2 => Outcome::Bytes(bytes),
        3 => Outcome::Addresses(vec![
            ["10.0.0.1", "::1", "8.8.8.8", "x"][numbers.below(4)].into(),
        ]),
        4 => Outcome::Decision {
            approved: numbers.below(2) == 0,
            by: quote[numbers.below(3)].to_owned(),
        },
        5 => Outcome::Handler(Handled {
            event: match numbers.below(3) {
                0 => HandlerEvent::Returned(bytes),
                1 => HandlerEvent::Failed(failure),
                _ => HandlerEvent::Tool { arguments: bytes },
            },
            log: quote[numbers.below(3)].into(),
            log_truncated: numbers.below(2) == 0,
        }),
        _ => behave_with("prose", action),
    }
}

#[test]
fn hosts_that_misbehave_are_the_same_through_the_component() {
    let engine = Engine::embedded().expect("the engine");
    let cases = plan_cases();
    let allowed: Vec<_> = cases
        .iter()
        .filter(|case| case.name().starts_with("plan/accept/"))
        .collect();
    let numbers = &mut Numbers(0x9e37_79b9_7f4a_7c15);
    let (mut failures, mut refused) = (Failures::default(), 0);
    for round in 0..400 {
        let case = allowed[numbers.below(allowed.len())];
        let inputs = PlanInputs::of(case);
        let documents = Documents {
            plan: Some(inputs.plan),
            request: inputs.request,
            tool_pool: Some(inputs.tool_pool),
            profile: Some(inputs.profile),
            lock: inputs.lock,
            index: inputs.index,
            policy: (round % 5 == 0).then(|| b"package switchboard".to_vec()),
            ..Documents::default()
        };
        let secret = Secret {
            name: "S".to_owned(),
            value: "correct-horse-battery".to_owned(),
        };
        let options = Options {
            secrets: vec![secret],
            ..options()
        };
        let cancelled_at = numbers.below(60) as u64;
        let result = compare(&engine, documents, options, |turn, action| {
            if turn == cancelled_at {
                return Turn::Cancel;
            }
            match (action, numbers.below(6)) {
                // Evidence is stored most of the time, or the run would end at once.
                (Action::Store(_), 1..) => Turn::Answer(Outcome::Stored),
                (Action::Store(_), _) if numbers.below(20) > 0 => Turn::Answer(Outcome::Stored),
                (action, 0..3) => {
                    refused += 1;
                    Turn::Answer(absurd(numbers, action))
                }
                (action, _) => Turn::Answer(behave_with("prose", action)),
            }
        });
        if let Err(difference) = result {
            failures.add(&format!("{} in round {round}", case.name()), difference);
        }
    }
    failures.finish();
    assert!(refused > 200, "{refused} absurd answers are few");
}

#[test]
fn options_that_no_run_can_have_are_refused() {
    let mut instance = Engine::embedded()
        .expect("the engine")
        .instantiate()
        .expect("an instance");
    let documents = contracted_documents(Documents::default());
    for (run_id, random) in [("../x", 32), ("", 32), ("run", 31)] {
        let options = contract::Options {
            run_id: run_id.to_owned(),
            random: vec![0; random],
            ..contracted_options(options())
        };
        let started = call!(
            instance,
            run.plan_run.start(&documents, &options, reading(clock(0)))
        );
        assert!(started.expect("the engine").is_err(), "{run_id} {random}");
    }
}
