//! Tests of the order of verbs: what a host is asked for, and what a host that breaks its turns can do.

use crate::{
    Access, Action, App, Call, Content, DaemonVerb, Ending, ErrorCode, Failure, Found,
    GatewayAddress, Language, ListedTask, OpenedTask, Order, Outcome, Plans, PolicyFile, Present,
    ProbeResponse, Replied, ResolvedPackage, RunnerReply, Secret, SourceFile, StagedFile,
    TaskState, VerbRun,
};

const ID: &str = "ab12cd";
const POLICY: &str = "policies:\n  deps_allowlist: { python: [flask] }\n  verbs: { deps.install: allow }\n  tools: { secrets: [KEY] }\n";
const PLAN: &str = r#"{"files":[{"path":"app.py","content":"x\n"}],"start":"pip install flask && python app.py","lang":"python"}"#;
const START: &str = r#"{"cmd":"pip install flask && python app.py"}"#;
const APPLY: &str = r#"{"writes":[{"path":"app.py","content":"x\n"}]}"#;
const CRATE: &str = "[package]\nname = \"a\"\nversion = \"0.1.0\"\n";
const CHECK: &str = r#"{"probes":[{"method":"GET","path":"/","expect_status":200}]}"#;

/// A host that does what is wanted, and notes it.
struct StandIn {
    state: TaskState,
    language: Language,
    is_foreign: bool,
    policy: &'static str,
    source: &'static str,
    staged: Option<&'static [u8]>,
    reply: Option<&'static str>,
    /// The action that fails, by its name.
    fails: &'static str,
    /// The names of the actions, with the states that were taken.
    log: Vec<String>,
}

impl StandIn {
    fn of(state: TaskState) -> Self {
        Self {
            state,
            language: Language::Python,
            is_foreign: false,
            policy: POLICY,
            source: "print('x')\n",
            staged: None,
            reply: None,
            fails: "",
            log: Vec::new(),
        }
    }

    fn call(&self, order: Order) -> Call {
        Call {
            order,
            client: "a".to_owned(),
            is_user: false,
            tasks: vec![ListedTask {
                id: ID.to_owned(),
                client: "a".to_owned(),
                state: self.state,
            }],
            unenforceable: Vec::new(),
        }
    }

    fn reply(&self) -> Option<RunnerReply> {
        self.reply.map(|stdout| RunnerReply {
            stdout: stdout.as_bytes().to_owned(),
            stderr: Vec::new(),
            exit_code: 40,
        })
    }

    fn performed(&mut self, action: &Action) -> Outcome {
        let name = name(action);
        self.log.push(match action {
            Action::Remember(change) => match &change.transition {
                Some(it) => format!("Remember {}", it.to.name()),
                None => name.clone(),
            },
            Action::OpenTask(_, access) => format!("OpenTask {access:?}"),
            Action::Write(file, _) => format!("Write {file:?}"),
            _ => name.clone(),
        });
        if name == self.fails {
            return Outcome::Failed(Failure::new(ErrorCode::Build, "it failed"));
        }
        match action {
            Action::ReadPolicy => Outcome::Policy(PolicyFile {
                path: "mcp.policy.yaml".to_owned(),
                text: Some(self.policy.as_bytes().to_owned()),
                may_be_copied: false,
            }),
            Action::OpenTask(id, _) => Outcome::Opened(Box::new(OpenedTask {
                id: id.clone(),
                state: self.state,
                prompt: "an app".to_owned(),
                language: self.language,
                is_foreign: self.is_foreign,
                deps_allowlist: None,
                start: Some("python app.py".to_owned()),
                plans: Plans::default(),
                locked: Vec::new(),
                port: Some(61_000),
                artifact_dir: format!("/tasks/{ID}/"),
                url: None,
            })),
            Action::CreateTask(_) => Outcome::Created(ID.to_owned()),
            Action::Remember(change) => match &change.transition {
                Some(it) if it.from != self.state => Outcome::Superseded(self.state),
                Some(it) => {
                    self.state = it.to;
                    Outcome::Done
                }
                None => Outcome::Done,
            },
            Action::ReadFiles(reads) => {
                let files = reads.iter().filter(|it| *it != "Cargo.lock");
                let files = files.map(|path| Present {
                    path: path.clone(),
                    content: Some(Content {
                        bytes: CRATE.into(),
                        mode: 0o644,
                    }),
                });
                Outcome::Files(files.collect())
            }
            Action::ReadSources => Outcome::Sources(vec![SourceFile {
                path: "app.py".to_owned(),
                content: self.source.as_bytes().to_owned(),
            }]),
            Action::ListFiles { .. } => Outcome::Paths(vec!["source/app.py".to_owned()]),
            Action::Stage(files) => Outcome::Staged(Replied {
                result: Ok(match self.staged {
                    None => files.clone(),
                    Some(bytes) => vec![StagedFile {
                        path: "app.py".to_owned(),
                        content: Content {
                            bytes: bytes.to_owned(),
                            mode: 0o644,
                        },
                    }],
                }),
                reply: self.reply(),
            }),
            Action::Revert => Outcome::Reverted(None),
            Action::Plan(_) => Outcome::Bytes(PLAN.into()),
            Action::Reveal(names) => {
                let secrets = names.iter().map(|name| Secret {
                    name: name.clone(),
                    value: "a-secret-value".to_owned(),
                });
                Outcome::Secrets(secrets.collect())
            }
            Action::Resolve(_) => Outcome::Closure(vec![ResolvedPackage {
                name: "flask".to_owned(),
                version: "3.1.0".to_owned(),
                required_by: Vec::new(),
            }]),
            Action::Start(_) => Outcome::Started(Replied {
                result: Ok(app()),
                reply: self.reply(),
            }),
            Action::Lease => Outcome::Leased(GatewayAddress::loopback(61_000)),
            Action::Probe(probing) => {
                let response = ProbeResponse {
                    status: 200,
                    body: Vec::new(),
                    latency_ms: 1,
                };
                Outcome::Probed(vec![Ok(response); probing.probes.len()])
            }
            Action::Commit(_)
            | Action::Write(..)
            | Action::Install
            | Action::Build(..)
            | Action::Stop
            | Action::Finished(_) => Outcome::Done,
        }
    }

    /// Performs a verb to its end.
    fn run(&mut self, order: Order) -> Result<String, Failure> {
        let mut run = VerbRun::start(self.call(order));
        self.finish(&mut run)
    }

    fn finish(&mut self, run: &mut VerbRun) -> Result<String, Failure> {
        loop {
            match run.next_action() {
                Action::Finished(finished) => return finished,
                action => {
                    let outcome = self.performed(&action);
                    assert_eq!(run.complete(outcome), Ok(()), "{action:?}");
                }
            }
        }
    }

    /// Returns the log, and empties it.
    fn log(&mut self) -> String {
        std::mem::take(&mut self.log).join(", ")
    }
}

fn app() -> App {
    App {
        socket: Some("/run/a.sock".to_owned()),
        pid: Some(7),
        unenforced: Vec::new(),
    }
}

fn name(action: &Action) -> String {
    let text = format!("{action:?}");
    let end = text.find(|c: char| !c.is_ascii_alphanumeric());
    text[..end.unwrap_or(text.len())].to_owned()
}

fn verb(verb: DaemonVerb, input: &str) -> Order {
    Order::Verb(verb.name().to_owned(), input.into(), None)
}

/// Every order with the state in which it is allowed.
fn orders() -> Vec<(Order, TaskState)> {
    let change = br#"{"prompt":"a change"}"#.to_vec();
    let found = |found| Order::Note(ID.to_owned(), found);
    let over = Ending {
        reason: "the app exited with code 1".to_owned(),
        is_failure: true,
    };
    vec![
        (
            verb(DaemonVerb::PlanCreate, r#"{"prompt":"an app"}"#),
            TaskState::Ready,
        ),
        (verb(DaemonVerb::FsApply, APPLY), TaskState::Planned),
        (verb(DaemonVerb::RunStart, START), TaskState::Ready),
        (verb(DaemonVerb::HttpcheckAssert, CHECK), TaskState::Ready),
        (verb(DaemonVerb::ReportFinish, "{}"), TaskState::Ready),
        (Order::PlanChange(ID.to_owned(), change), TaskState::Applied),
        (Order::Revert(ID.to_owned()), TaskState::Applied),
        (Order::End(ID.to_owned()), TaskState::Ready),
        (found(Found::Ready(app())), TaskState::Starting),
        (found(Found::Late), TaskState::Starting),
        (found(Found::Over(over)), TaskState::Ready),
    ]
}

#[test]
fn each_verb_has_its_order() {
    let expected = [
        "ReadPolicy, Plan, CreateTask, Write Plan",
        "ReadPolicy, OpenTask Write, ReadFiles, Stage, Commit, OpenTask Read, Remember applied",
        "ReadPolicy, OpenTask Write, Reveal, ReadSources, Stop, Remember installing, Resolve, Install, \
         Remember starting, Start, Lease, ListFiles, Write Manifest, Remember ready",
        "ReadPolicy, OpenTask Read, Probe, Write ProbesLog, Remember",
        "ReadPolicy, OpenTask Read, ListFiles",
        "ReadPolicy, OpenTask Read, ReadSources, Reveal, Plan, OpenTask Read, Remember",
        "ReadPolicy, OpenTask Write, Revert, OpenTask Read",
        "OpenTask End, Stop, Remember ended",
        "OpenTask Read, Lease, ListFiles, Write Manifest, Remember ready",
        "OpenTask Read, Stop, Remember failed",
        "OpenTask Read, Stop, Remember failed",
    ];
    for ((order, state), expected) in orders().into_iter().zip(expected) {
        let mut host = StandIn::of(state);
        let finished = host.run(order.clone());
        assert!(finished.is_ok(), "{order:?}: {finished:?}");
        assert_eq!(host.log(), expected, "{order:?}");
    }
}

#[test]
fn a_foreign_runner_gets_a_manifest_and_is_judged() {
    let start = || verb(DaemonVerb::RunStart, r#"{"cmd":"python app.py"}"#);
    let mut host = StandIn {
        is_foreign: true,
        reply: Some(r#"{"ok":true,"version":"v1","data":{}}"#),
        ..StandIn::of(TaskState::Applied)
    };
    // Its answer says that all is well, and its exit code does not.
    assert!(host.run(start()).is_err());
    let log = host.log();
    assert!(
        log.contains("Lease, ListFiles, Start, Stop, Remember failed"),
        "{log}"
    );
    host.reply = None;
    host.state = TaskState::Applied;
    assert!(host.run(start()).is_ok());
}

#[test]
fn a_component_is_built_and_not_resolved() {
    let mut host = StandIn {
        language: Language::Rust,
        ..StandIn::of(TaskState::Applied)
    };
    let order = verb(DaemonVerb::RunStart, r#"{"cmd":"cargo run"}"#);
    assert_eq!(host.run(order).err(), None);
    let log = host.log();
    assert!(
        log.contains("Remember installing, ReadFiles, Build, Remember starting, Start"),
        "{log}"
    );
    host.state = TaskState::Applied;
    let order = verb(
        DaemonVerb::RunStart,
        r#"{"cmd":"cargo run","ready":{"regex":"x"}}"#,
    );
    assert_eq!(host.run(order).unwrap_err().code, ErrorCode::Plan);
    assert!(host.log().ends_with("ReadSources, Stop, Remember failed"));
}

#[test]
fn nothing_starts_without_a_yes() {
    let secret = "key = 'ghp_0123456789abcdefghijABCDEFGHIJ012345'\n";
    for (host, input) in [
        (
            StandIn {
                source: secret,
                ..StandIn::of(TaskState::Ready)
            },
            START,
        ),
        (
            StandIn {
                source: "key = 'a-secret-value'\n",
                ..StandIn::of(TaskState::Ready)
            },
            START,
        ),
        (
            StandIn {
                policy: "policies: {}\n",
                ..StandIn::of(TaskState::Applied)
            },
            START,
        ),
        (
            StandIn {
                policy: "policies:\n  verbs: { run.start: deny }\n",
                ..StandIn::of(TaskState::Applied)
            },
            START,
        ),
        (
            StandIn {
                fails: "Reveal",
                ..StandIn::of(TaskState::Applied)
            },
            START,
        ),
        (
            StandIn::of(TaskState::Applied),
            r#"{"cmd":"pip install jinja2 && python app.py"}"#,
        ),
        (StandIn::of(TaskState::Planned), START),
        (StandIn::of(TaskState::Ended), START),
    ] {
        let mut host = host;
        let was = host.state;
        let refusal = host.run(verb(DaemonVerb::RunStart, input)).unwrap_err();
        let log = host.log();
        assert!(!log.contains("Start"), "{log}: {refusal:?}");
        // An app that is ready is stopped after the scan.
        assert_eq!(
            log.contains("Stop"),
            log.contains("Resolve") || host.state != was,
            "{log}"
        );
    }
}

#[test]
fn files_of_a_runner_are_decided_on_like_those_of_a_client() {
    let order = || verb(DaemonVerb::FsApply, APPLY);
    let mut host = StandIn {
        staged: Some(b"formatted\n"),
        ..StandIn::of(TaskState::Planned)
    };
    assert!(host.run(order()).is_ok());
    assert!(host.log().contains("ReadFiles, Stage, ReadFiles, Commit"));
    for (staged, reply) in [
        (Some(&b"\xff"[..]), None),
        (
            None,
            Some(r#"{"ok":false,"version":"v1","error":{"code":"E_FS","message":"x","hints":[]}}"#),
        ),
    ] {
        let mut host = StandIn {
            staged,
            reply,
            ..StandIn::of(TaskState::Planned)
        };
        assert!(host.run(order()).is_err());
        let log = host.log();
        assert!(
            !log.contains("Commit") && !log.contains("Remember"),
            "{log}"
        );
    }
}

#[test]
fn a_failure_at_any_turn_ends_what_was_started() {
    for (order, state) in orders() {
        let mut whole = StandIn::of(state);
        whole.run(order.clone()).unwrap();
        for fails in whole.log.iter().filter_map(|it| it.split(' ').next()) {
            let fails: &'static str = fails.to_owned().leak();
            let mut host = StandIn {
                fails,
                ..StandIn::of(state)
            };
            let finished = host.run(order.clone());
            let log = host.log();
            let is_undone = log.contains("Start,") && fails != "Start" && finished.is_err();
            assert!(
                !is_undone || log.contains("Stop, Remember"),
                "{fails}: {log}"
            );
            if let Err(failure) = finished {
                assert_eq!(failure.message, "it failed", "{fails}: {log}");
            }
        }
    }
}

/// Everything that a host may answer.
fn outcomes() -> Vec<Outcome> {
    let mut host = StandIn::of(TaskState::Ready);
    let mut outcomes = vec![Outcome::Done, Outcome::Superseded(TaskState::Ended)];
    for (order, state) in orders() {
        host.state = state;
        let mut run = VerbRun::start(host.call(order));
        loop {
            let action = run.next_action();
            if matches!(action, Action::Finished(_)) {
                break;
            }
            let outcome = host.performed(&action);
            if outcomes
                .iter()
                .all(|it| std::mem::discriminant(it) != std::mem::discriminant(&outcome))
            {
                outcomes.push(outcome.clone());
            }
            run.complete(outcome).unwrap();
        }
    }
    outcomes
}

/// Goes through a verb to a turn. Returns the wanted action; `None` if the verb has fewer turns.
fn at_turn(host: &mut StandIn, run: &mut VerbRun, turn: usize) -> Option<Action> {
    for _ in 0..turn {
        match run.next_action() {
            Action::Finished(_) => return None,
            action => {
                let outcome = host.performed(&action);
                run.complete(outcome).unwrap();
            }
        }
    }
    match run.next_action() {
        Action::Finished(_) => None,
        action => Some(action),
    }
}

/// Asserts that nothing but the end of what was started follows.
fn only_ends(host: &mut StandIn, run: &mut VerbRun) -> Failure {
    let before = host.log.len();
    let refusal = host.finish(run).expect_err("a failure");
    for name in &host.log[before..] {
        let ends = ["Stop", "Remember failed", "Remember ended"].contains(&name.as_str());
        assert!(ends, "{name} after {:?}", &host.log[..before]);
    }
    let is_started = host.log.iter().any(|it| it == "Start");
    assert!(
        !is_started || host.log.iter().any(|it| it == "Stop"),
        "{:?}",
        host.log
    );
    refusal
}

#[test]
fn a_host_that_breaks_its_turns_starts_nothing() {
    use agent_turns::Effect as _;
    let outcomes = outcomes();
    assert!(outcomes.len() > 14, "{outcomes:?}");
    let mut confused = 0;
    for (order, state) in orders() {
        for turn in 0.. {
            let mut host = StandIn::of(state);
            let mut run = VerbRun::start(host.call(order.clone()));
            let Some(action) = at_turn(&mut host, &mut run, turn) else {
                break;
            };
            // Effects that outlast an interruption end what was started: what else fails is not known.
            let is_last = action.outlasts();
            for outcome in outcomes.iter().filter(|it| !action.accepts(it)) {
                let mut host = StandIn::of(state);
                let mut run = VerbRun::start(host.call(order.clone()));
                at_turn(&mut host, &mut run, turn);
                assert!(
                    run.complete(outcome.clone()).is_err(),
                    "{action:?} {outcome:?}"
                );
                confused += 1;
                if !is_last {
                    let refusal = only_ends(&mut host, &mut run);
                    assert_eq!(refusal.code, ErrorCode::Runtime);
                    assert!(refusal.message.contains("out of turn"), "{refusal:?}");
                }
            }
            // An unexpected outcome: before `next`, and twice.
            for twice in [false, true] {
                let mut host = StandIn::of(state);
                let mut run = VerbRun::start(host.call(order.clone()));
                if twice {
                    at_turn(&mut host, &mut run, turn);
                    let outcome = host.performed(&action);
                    run.complete(outcome.clone()).unwrap();
                    assert!(run.complete(outcome).is_err());
                } else {
                    assert!(run.complete(Outcome::Done).is_err());
                }
                if !twice {
                    only_ends(&mut host, &mut run);
                }
            }
        }
    }
    assert!(confused > 500, "{confused}");
}

#[test]
fn a_cancelled_verb_ends_what_it_started() {
    for (order, state) in orders() {
        for turn in 0.. {
            let mut host = StandIn::of(state);
            let mut run = VerbRun::start(host.call(order.clone()));
            let Some(action) = at_turn(&mut host, &mut run, turn) else {
                break;
            };
            run.cancel();
            if !agent_turns::Effect::outlasts(&action) {
                let refusal = only_ends(&mut host, &mut run);
                assert_eq!(refusal.message, "the task was ended", "{action:?}");
            }
        }
    }
}

#[test]
fn a_task_that_was_ended_meanwhile_stays_ended() {
    let order = verb(DaemonVerb::RunStart, START);
    let mut host = StandIn::of(TaskState::Applied);
    let mut run = VerbRun::start(host.call(order));
    while !matches!(run.next_action(), Action::Start(_)) {
        let outcome = host.performed(&run.next_action());
        run.complete(outcome).unwrap();
    }
    host.state = TaskState::Ended;
    let refusal = host.finish(&mut run).unwrap_err();
    assert_eq!(refusal.message, "the task was ended");
    assert!(host.log().ends_with("Remember ready, Stop"));
    assert_eq!(host.state, TaskState::Ended);
    // An order to end it wins over a start that fails meanwhile.
    let mut host = StandIn::of(TaskState::Installing);
    let mut run = VerbRun::start(host.call(Order::End(ID.to_owned())));
    assert!(matches!(
        run.next_action(),
        Action::OpenTask(_, Access::End)
    ));
    let outcome = host.performed(&run.next_action());
    run.complete(outcome).unwrap();
    host.state = TaskState::Failed;
    assert!(host.finish(&mut run).is_ok());
    assert_eq!(host.state, TaskState::Ended);
}

#[test]
fn a_client_names_its_own_tasks_alone() {
    let mut host = StandIn::of(TaskState::Ready);
    let order = Order::Verb(
        "report.finish@v1".to_owned(),
        b"{}".to_vec(),
        Some(ID.to_owned()),
    );
    for (client, is_user, is_allowed) in
        [("a", false, true), ("b", false, false), ("b", true, true)]
    {
        let call = Call {
            client: client.to_owned(),
            is_user,
            ..host.call(order.clone())
        };
        let finished = host.finish(&mut VerbRun::start(call));
        assert_eq!(
            finished.is_ok(),
            is_allowed,
            "{client} {is_user}: {finished:?}"
        );
    }
}
