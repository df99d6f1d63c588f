//! Tests of verbs together: the transcript of the specification, and inputs that nobody foresaw.

use crate::document::with_document;
use crate::readiness::lowered;
use crate::{
    Content, DaemonVerb, FsApply, Language, Manifest, Policy, Present, ReportFinish, ReportPlace,
    RunStart, Running, SchemaOf, Task, TaskState, choose_task, envelope,
};
use agent_syntax::json_string;
use proptest::prelude::*;

const PLAN: &str = r#"{"files":[{"path":"app.py","content":"print('Running')\n"}],"start":"python -m pip install flask && python app.py","lang":"python"}"#;
const APPLY: &str = r#"{"writes":[{"path":"app.py","content":"x\n","mode":420}],"patches":[{"path":"b","diff":"--- a/b\n+++ b/b\n@@ -1 +1 @@\n-1\n+2\n"}]}"#;
const START: &str = r#"{"cmd":"pip install flask && python app.py","env":{"A":"b"},"ready":{"regex":"Run+ing","timeout_sec":3},"limits":{"mem_mb":64}}"#;
const CHECK: &str = r#"{"probes":[{"method":"GET","path":"/a?b=%20","expect_status":200,"expect_body":"x","headers":{"a":"b"}}],"via":{"gateway":"http://127.0.0.1:1/","task_id":"ab12cd"}}"#;
const REPORT: &str = r#"{"include":["source"],"verdict":"pass"}"#;
const CREATE: &str = r#"{"prompt":"x","constraints":{"lang_hint":["go"],"deps_allowlist":["flask"],"port_hint":8080}}"#;
const POLICY: &str = "policies:\n  deps_allowlist: { python: [flask] }\n  verbs: { deps.install: allow }\n  egress: ['a.b:1']\n  tools: { network: allow, secrets: [A] }\n";
const RUNNER: &str =
    r#"{"ok":false,"version":"v1","error":{"code":"E_BUILD","message":"x","hints":[]}}"#;
const MANIFEST: &str = r#"{"task_id":"ab12cd","entry":{"cmd":"x"},"transport":{"type":"uds","path":"/a","tcp_fallback":{"host":"127.0.0.1","port":61842}},"files":["a"],"lang":"go"}"#;

fn obeys_its_schema(verb: DaemonVerb, data: &str) {
    let response = envelope::success(data);
    let checked = with_document(SchemaOf::Output(verb), response.as_bytes(), |_| Ok(()));
    assert_eq!(checked, Ok(()), "{response}");
}

/// The state after a verb, which must be allowed.
fn step(task: &mut Task, verb: DaemonVerb, states: &[TaskState]) {
    assert_eq!(task.state.admit(verb), Ok(()));
    for next in states {
        assert!(task.state.may_follow(*next), "{task:?} {next:?}");
        task.state = *next;
    }
}

#[test]
fn the_transcript_of_the_specification() {
    use TaskState::{Applied, Installing, Planned, Ready, Starting};
    let plan = crate::file_plan(PLAN.as_bytes()).expect("a plan");
    let mut task = Task {
        id: "ab12cd".to_owned(),
        state: Planned,
    };
    obeys_its_schema(DaemonVerb::PlanCreate, &plan.data(&task.id));

    let chosen = choose_task(None, std::slice::from_ref(&task)).map(|it| it.id.clone());
    assert_eq!(chosen.as_deref(), Ok("ab12cd"));
    let writes: Vec<_> = plan
        .files
        .iter()
        .map(|it| {
            format!(
                "{{\"path\":{},\"content\":{}}}",
                json_string(&it.path),
                json_string(&it.content)
            )
        })
        .collect();
    let apply = format!("{{\"writes\":[{}]}}", writes.join(","));
    let apply = FsApply::read(apply.as_bytes()).expect("writes");
    let changes = apply.changes(&[]).expect("changes");
    obeys_its_schema(DaemonVerb::FsApply, &apply.data());
    step(&mut task, DaemonVerb::FsApply, &[Applied]);

    let policy = Policy::read(POLICY.as_bytes()).expect("a policy");
    let names: Vec<_> = plan.dependencies.iter().map(|it| it.name.clone()).collect();
    assert_eq!(policy.admit_names(Language::Python, &names, None), Ok(()));
    let files = changes.iter().map(|it| {
        let bytes = it.after.as_ref().map_or(&[][..], |it| &it.bytes);
        (&*it.path, bytes)
    });
    assert_eq!(crate::scan(files).admit(), Ok(()));
    let start = format!(
        "{{\"cmd\":{},\"ready\":{{\"regex\":\"Running\"}}}}",
        json_string(&plan.start)
    );
    let start = RunStart::read(start.as_bytes()).expect("a start");
    assert_eq!(start.steps, plan.steps);
    assert_eq!(start.ready_regex.as_deref(), Some("Running"));
    step(
        &mut task,
        DaemonVerb::RunStart,
        &[Installing, Starting, Ready],
    );
    let running = Running {
        task_id: task.id.clone(),
        socket: Some("/run/mcpd/sock/ab12cd.sock".to_owned()),
        host: "127.0.0.1".to_owned(),
        port: 61_842,
        pid: Some(1),
        unenforced: Vec::new(),
    };
    obeys_its_schema(DaemonVerb::RunStart, &running.data());

    let check = crate::HttpcheckAssert::read(CHECK.as_bytes()).expect("probes");
    step(&mut task, DaemonVerb::HttpcheckAssert, &[Ready]);
    let outcome = check.probes[0].judge(200, b"x", 1);
    obeys_its_schema(DaemonVerb::HttpcheckAssert, &check.data(&[outcome]));

    let report = ReportFinish::read(REPORT.as_bytes()).expect("a report");
    let files = report.files(&["manifest.json".to_owned(), "source/app.py".to_owned()]);
    let place = ReportPlace {
        artifact_dir: ".mcpd/ab12cd/".to_owned(),
        url: None,
        direct_url: None,
    };
    step(&mut task, DaemonVerb::ReportFinish, &[]);
    obeys_its_schema(
        DaemonVerb::ReportFinish,
        &report.data(&place, &files.expect("files")),
    );
}

/// Gives bytes to everything that reads bytes from outside.
fn read_everywhere(bytes: &[u8]) {
    let present = [Present {
        path: "b".to_owned(),
        content: Some(Content {
            bytes: bytes.to_owned(),
            mode: 0o644,
        }),
    }];
    if let Ok(plan) = crate::file_plan(bytes) {
        obeys_its_schema(DaemonVerb::PlanCreate, &plan.data("ab12cd"));
    }
    let _ = FsApply::read(bytes).and_then(|it| it.changes(&present));
    if let Ok(check) = crate::HttpcheckAssert::read(bytes) {
        obeys_its_schema(DaemonVerb::HttpcheckAssert, &check.data(&[]));
    }
    if let Ok(manifest) = Manifest::read(bytes, "ab12cd") {
        assert_eq!(
            Manifest::read(manifest.json().as_bytes(), "ab12cd"),
            Ok(manifest)
        );
    }
    let _ = crate::PlanCreate::read(bytes);
    let _ = RunStart::read(bytes);
    let _ = ReportFinish::read(bytes);
    let _ = Policy::read(bytes);
    let _ = crate::addressed_by_argument(bytes);
    let _ = crate::addressed_beside(bytes);
    let _ = crate::runner_answer(bytes, b"", 30);
    let _ = crate::scan([("a.py", bytes), ("b.js", bytes)]).admit();
    let text = String::from_utf8_lossy(bytes);
    let _ = crate::VersionedVerb::named(&text);
    let _ = lowered(&text);
    for language in Language::ALL {
        let _ = crate::Requirement::read(language, &text);
    }
}

proptest! {
    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..64), text in "\\PC{0,64}") {
        read_everywhere(&bytes);
        read_everywhere(text.as_bytes());
    }

    /// Documents with a part replaced reach further than random bytes.
    #[test]
    fn no_damaged_document_panics(
        number in 0_usize..9,
        at in any::<prop::sample::Index>(),
        len in 0_usize..12,
        part in r#"([{}\[\]":,]|\\[nu"]|[0-9]{1,20}|null|true|\.\./|[-+@ ]|\PC){0,4}"#,
    ) {
        let documents = [PLAN, APPLY, START, CHECK, REPORT, CREATE, POLICY, RUNNER, MANIFEST];
        let mut bytes = documents[number].as_bytes().to_owned();
        read_everywhere(&bytes);
        let at = at.index(bytes.len());
        let end = (at + len).min(bytes.len());
        bytes.splice(at..end, part.bytes());
        read_everywhere(&bytes);
    }
}
