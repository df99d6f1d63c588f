//! The AuthZEN Authorization API 1.0: its rules, and the cases of its certification that are about one decision or several
//! (openid/authzen, `certification/authorization-api-1_0-scenario.md`). An action of the fixture is a tool here, and a
//! resource its arguments.

use super::support::{Reply, Running, running};
use agent_syntax::members::{items, member, string};

const EVALUATION: &str = "/access/v1/evaluation";

const EVALUATIONS: &str = "/access/v1/evaluations";

fn subject(id: &str, properties: &str) -> String {
    match properties {
        "" => format!(r#""subject":{{"type":"user","id":"{id}"}}"#),
        properties => {
            format!(r#""subject":{{"type":"user","id":"{id}","properties":{properties}}}"#)
        }
    }
}

fn action(arguments: &str) -> String {
    match arguments {
        "" => r#""action":{"name":"tools/call"}"#.to_owned(),
        arguments => {
            format!(r#""action":{{"name":"tools/call","properties":{{"arguments":{arguments}}}}}"#)
        }
    }
}

fn resource(tool: &str) -> String {
    format!(r#""resource":{{"type":"tool","id":"{tool}"}}"#)
}

fn request(members: &[&str]) -> String {
    format!("{{{}}}", members.join(","))
}

fn evaluate(running: &Running, members: &[&str]) -> Reply {
    running.post(EVALUATION, &request(members))
}

const ACTIVE: &str = r#"{"record":"1","status":"active"}"#;

const ARCHIVED: &str = r#"{"record":"2","status":"archived"}"#;

#[test]
fn the_eight_decisions_of_the_fixture() {
    let running = running();
    let admin = r#"{"role":"admin"}"#;
    let record = r#"{"record":"1"}"#;
    for (id, properties, tool, arguments, expected) in [
        ("alice", "", "read", record, true),
        ("alice", "", "write", record, true),
        ("bob", "", "read", record, true),
        ("bob", "", "write", record, false),
        ("alice", "", "write", ARCHIVED, false),
        ("bob", admin, "write", ARCHIVED, true),
        ("alice", "", "delete", r#"{"soft":true}"#, true),
        ("alice", "", "delete", r#"{"soft":false}"#, false),
    ] {
        let (who, how) = (subject(id, properties), action(arguments));
        for tool in [tool.to_owned(), format!("records/{tool}")] {
            // The same request has the same answer, and a context decides nothing.
            let members = [&*who, &how, &resource(&tool)];
            let context =
                r#""context":{"time":"2025-06-27T18:03-07:00","agent":"https://agent.example/"}"#;
            for members in [&members[..], &[&members[..], &[context]].concat(), &members] {
                let reply = evaluate(&running, members);
                assert_eq!(reply.decision(), expected, "{}", reply.body);
            }
        }
    }
}

#[test]
fn an_answer_says_why_in_its_context() {
    let running = running();
    let denied = evaluate(
        &running,
        &[&subject("bob", ""), &action("{}"), &resource("write")],
    );
    assert!(!denied.decision() && denied.has("content-type: application/json"));
    let json = denied.json();
    let context = member(&json, "context").unwrap();
    let reasons = member(context, "reasons").and_then(items).unwrap();
    assert_eq!(
        member(&reasons[0], "code").and_then(string),
        Some("POLICY_DENIED")
    );
    let lock = member(member(context, "documents").unwrap(), "lock");
    assert!(lock.and_then(string).unwrap().starts_with("sha256-"));
    let counted = evaluate(
        &running,
        &[&subject("bob", ""), &action(""), &resource("count")],
    );
    assert!(!counted.decision() && counted.body.contains("STATE_REQUIRED"));
}

#[test]
fn unknown_members_have_no_effect() {
    let running = running();
    let body = r#"{"subject":{"type":"user","id":"alice","properties":{"department":"Sales"},"x":1},
        "action":{"name":"tools/call","properties":{"method":"GET","arguments":{}}},
        "resource":{"type":"tool","id":"read","properties":{"owner":"bob"}},
        "foo":"bar","futureField":{"nested":true}}"#;
    assert!(running.post(EVALUATION, body).decision());
}

#[test]
fn a_request_without_a_required_member_is_a_bad_request() {
    let running = running();
    let (who, how, what) = (subject("alice", ""), action(""), resource("read"));
    for (members, text) in [
        (
            [&*how, &*what, r#""x":1"#],
            "MISSING_FIELD: `subject` is missing\n",
        ),
        (
            [&who, &what, r#""x":1"#],
            "MISSING_FIELD: `action` is missing\n",
        ),
        (
            [&who, &how, r#""x":1"#],
            "MISSING_FIELD: `resource` is missing\n",
        ),
        (
            [r#""subject":{"id":"alice"}"#, &how, &what],
            "MISSING_FIELD: `subject.type` is missing\n",
        ),
        (
            [r#""subject":{"type":"user"}"#, &how, &what],
            "MISSING_FIELD: `subject.id` is missing\n",
        ),
        (
            [&who, r#""action":{}"#, &what],
            "MISSING_FIELD: `action.name` is missing\n",
        ),
        (
            [&who, &how, r#""resource":{"id":"read"}"#],
            "MISSING_FIELD: `resource.type` is missing\n",
        ),
        (
            [&who, &how, r#""resource":{"type":"tool"}"#],
            "MISSING_FIELD: `resource.id` is missing\n",
        ),
        (
            [r#""subject":"alice""#, &how, &what],
            "WRONG_TYPE: `subject` is not an object\n",
        ),
        (
            [&who, r#""action":{"name":123}"#, &what],
            "WRONG_TYPE: `action.name` is not a string\n",
        ),
    ] {
        for path in [EVALUATION, EVALUATIONS] {
            let reply = running.post(path, &request(&members));
            assert_eq!((reply.status, &*reply.body), (400, text));
        }
    }
    for (headers, body) in [
        ("content-type: application/json\r\n", ""),
        ("content-type: application/json\r\n", "{\"subject\":"),
        (
            "content-type: text/plain\r\n",
            &*request(&[&who, &how, &what]),
        ),
        ("", &request(&[&who, &how, &what])),
    ] {
        assert_eq!(running.post_with(EVALUATION, headers, body).status, 400);
    }
}

#[test]
fn what_is_no_call_of_a_tool_is_denied() {
    let running = running();
    let who = subject("alice", "");
    for (how, what, text) in [
        (
            r#""action":{"name":"read"}"#,
            resource("read"),
            "the action is `read`, and only `tools/call` is decided here",
        ),
        (
            &*action(""),
            r#""resource":{"type":"record","id":"record-1"}"#.to_owned(),
            "the resource type is `record`, and only `tool` is decided here",
        ),
    ] {
        let reply = evaluate(&running, &[&who, how, &what]);
        assert!(!reply.decision());
        assert!(
            reply.body.contains("UNKNOWN_VALUE") && reply.body.contains(text),
            "{}",
            reply.body
        );
    }
}

#[test]
fn the_id_of_a_request_is_repeated() {
    let running = running();
    let body = request(&[&subject("alice", ""), &action(""), &resource("read")]);
    let headers = "content-type: application/json\r\nx-request-id: bfe9eb29-ab87\r\n";
    for body in [&*body, "{}"] {
        let reply = running.post_with(EVALUATION, headers, body);
        assert!(reply.has("x-request-id: bfe9eb29-ab87"), "{}", reply.head);
    }
    assert!(
        !running
            .post(EVALUATION, &body)
            .head
            .contains("x-request-id")
    );
}

#[test]
fn evaluations_take_what_they_lack_from_the_request() {
    let running = running();
    let several = |members: &[&str], evaluations: &[&str]| {
        let evaluations = format!(r#""evaluations":[{}]"#, evaluations.join(","));
        let members = [members, &[&*evaluations]].concat();
        running.post(EVALUATIONS, &request(&members)).decisions()
    };
    let (alice, bob) = (subject("alice", ""), subject("bob", ""));
    let admin = subject("bob", r#"{"role":"admin"}"#);
    let (active, archived) = (action(ACTIVE), action(ARCHIVED));
    let (read, write) = (resource("read"), resource("write"));
    // Whole members are replaced, and nothing is merged.
    for (members, evaluations, expected) in [
        (
            &[&*bob, &active][..],
            &[&*request(&[&read]), &request(&[&write])][..],
            [true, false],
        ),
        (
            &[&*alice, &write],
            &[&request(&[&active]), &request(&[&archived])],
            [true, false],
        ),
        (
            &[&*archived, &write],
            &[&request(&[&alice]), &request(&[&admin])],
            [false, true],
        ),
        (
            &[&*alice, &active, &write],
            &["{}", &request(&[&archived])],
            [true, false],
        ),
        (
            &[],
            &[
                &request(&[&alice, &active, &read]),
                &request(&[&bob, &active, &write]),
            ],
            [true, false],
        ),
    ] {
        assert_eq!(several(members, evaluations), expected);
    }
    // One that is incomplete is denied, and the others are not.
    let incomplete = [
        &*alice,
        &active,
        r#""options":{"evaluations_semantic":"execute_all"}"#,
    ];
    let body = request(
        &[
            &incomplete[..],
            &[&format!(r#""evaluations":[{},{{}},7]"#, request(&[&read]))],
        ]
        .concat(),
    );
    let reply = running.post(EVALUATIONS, &body);
    assert_eq!(reply.decisions(), [true, false, false]);
    assert!(reply.body.contains(
        r#"{"code":"MISSING_FIELD","status":400,"text":"`evaluations[1].resource` is missing"}"#
    ));
    assert!(reply.body.contains("`evaluations[2]` is not an object"));
}

#[test]
fn without_evaluations_there_is_one_decision() {
    let running = running();
    let members = [subject("alice", ""), action(""), resource("read")];
    let members: Vec<_> = members.iter().map(|it| &**it).collect();
    for more in [&[][..], &[r#""evaluations":[]"#]] {
        let body = request(&[&members[..], more].concat());
        assert!(running.post(EVALUATIONS, &body).decision());
    }
    let wrong = request(&[&members[..], &[r#""evaluations":{}"#]].concat());
    assert_eq!(running.post(EVALUATIONS, &wrong).status, 400);
}

#[test]
fn a_semantic_ends_the_evaluations() {
    let running = running();
    let decisions = |semantic: &str, tools: &[&str]| {
        let options = format!(r#""options":{{"evaluations_semantic":"{semantic}"}}"#);
        let evaluations: Vec<_> = tools.iter().map(|it| request(&[&resource(it)])).collect();
        let evaluations = format!(r#""evaluations":[{}]"#, evaluations.join(","));
        running.post(
            EVALUATIONS,
            &request(&[&subject("bob", ""), &action(""), &options, &evaluations]),
        )
    };
    // The example of the specification: the second of three is denied.
    let three = ["read", "write", "read"];
    assert_eq!(
        decisions("execute_all", &three).decisions(),
        [true, false, true]
    );
    assert_eq!(
        decisions("deny_on_first_deny", &three).decisions(),
        [true, false]
    );
    assert_eq!(
        decisions("permit_on_first_permit", &three).decisions(),
        [true]
    );
    let denied_first = ["write", "delete", "read", "read"];
    assert_eq!(
        decisions("permit_on_first_permit", &denied_first).decisions(),
        [false, false, true]
    );
    assert_eq!(
        decisions("deny_on_first_deny", &denied_first).decisions(),
        [false]
    );
    let other = decisions("deny_first", &three);
    assert_eq!(
        (other.status, &*other.body),
        (
            400,
            "UNKNOWN_VALUE: `deny_first` is not a semantic of evaluations\n"
        )
    );
    assert_eq!(
        decisions("execute_all", &["read"; 256]).decisions(),
        [true; 256]
    );
    let many = decisions("execute_all", &["read"; 257]);
    assert_eq!(
        (
            many.status,
            many.body.contains("has 257 evaluations; the limit is 256")
        ),
        (400, true)
    );
}

#[test]
fn metadata_names_what_is_there() {
    let running = running();
    let reply = running.get("/.well-known/authzen-configuration");
    assert_eq!(reply.status, 200);
    assert!(reply.has("content-type: application/json"));
    assert_eq!(
        reply.body,
        "{\"access_evaluation_endpoint\":\"https://pdp.example/access/v1/evaluation\",\
         \"access_evaluations_endpoint\":\"https://pdp.example/access/v1/evaluations\",\
         \"policy_decision_point\":\"https://pdp.example\",\
         \"search_action_endpoint\":\"https://pdp.example/access/v1/search/action\",\
         \"search_resource_endpoint\":\"https://pdp.example/access/v1/search/resource\"}\n"
    );
    let odd = b"GET /.well-known/authzen-configuration HTTP/1.1\r\nhost: a/b\"\r\nconnection: close\r\n\r\n";
    assert_eq!(running.send(odd).status, 400);
    assert_eq!(running.get("/access/v1/search/subject").status, 404);
}

/// Returns the members of the results of a search.
fn results(reply: &Reply, name: &str) -> Vec<String> {
    assert_eq!(reply.status, 200, "{}", reply.body);
    let json = reply.json();
    let results = member(&json, "results").and_then(items).unwrap();
    let results = results.iter().map(|it| member(it, name).and_then(string));
    results.map(|it| it.unwrap().to_owned()).collect()
}

#[test]
fn a_search_finds_the_tools_that_a_subject_may_call() {
    let running = running();
    let search = |members: &[&str]| {
        let reply = running.post("/access/v1/search/resource", &request(members));
        results(&reply, "id")
    };
    let (alice, bob) = (subject("alice", ""), subject("bob", ""));
    let any = r#""resource":{"type":"tool"}"#;
    let (soft, none) = (action(r#"{"soft":true}"#), action(""));
    assert_eq!(
        search(&[&alice, &soft, any]),
        ["records/delete", "records/read", "records/write"]
    );
    assert_eq!(
        search(&[&alice, &none, any]),
        ["records/read", "records/write"]
    );
    assert_eq!(search(&[&bob, &soft, any]), ["records/read"]);
    let admin = subject("bob", r#"{"role":"admin"}"#);
    assert_eq!(
        search(&[&admin, &action(ARCHIVED), any]),
        ["records/read", "records/write"]
    );
    // An id is ignored, and a context decides nothing.
    let context = r#""context":{"time":"2024-10-26T01:22-07:00"}"#;
    assert_eq!(
        search(&[&bob, &soft, &resource("records/write"), context]),
        ["records/read"]
    );
    // Nothing is found of another kind.
    let record = r#""resource":{"type":"record"}"#;
    assert_eq!(search(&[&alice, &soft, record]), [""; 0]);
    let can_read = r#""action":{"name":"can_read"}"#;
    assert_eq!(search(&[&alice, can_read, any]), [""; 0]);
    // What is found is allowed when it is asked about, and what is not found is not.
    for tool in ["read", "write", "delete", "count"] {
        let decided = evaluate(&running, &[&alice, &soft, &resource(tool)]).decision();
        let found = search(&[&alice, &soft, any]);
        assert_eq!(
            found.contains(&format!("records/{tool}")),
            decided,
            "{tool}"
        );
    }
    for (members, missing) in [
        (vec![&*soft, any], "`subject` is missing"),
        (vec![&*alice, any], "`action` is missing"),
        (vec![&*alice, &soft], "`resource` is missing"),
        (
            vec![&*alice, &soft, r#""resource":{}"#],
            "`resource.type` is missing",
        ),
        (
            vec![r#""subject":{"type":"user"}"#, &soft, any],
            "`subject.id` is missing",
        ),
    ] {
        let reply = running.post("/access/v1/search/resource", &request(&members));
        assert_eq!(reply.status, 400, "{}", reply.body);
        assert!(reply.body.contains(missing), "{}", reply.body);
    }
}

#[test]
fn a_search_finds_the_actions_on_a_tool() {
    let running = running();
    let search = |members: &[&str]| {
        let reply = running.post("/access/v1/search/action", &request(members));
        results(&reply, "name")
    };
    let (alice, bob) = (subject("alice", ""), subject("bob", ""));
    let context = r#""context":{"time":"2024-10-26T01:22-07:00"}"#;
    assert_eq!(search(&[&alice, &resource("write")]), ["tools/call"]);
    assert_eq!(
        search(&[&alice, &resource("write"), context]),
        ["tools/call"]
    );
    assert_eq!(search(&[&bob, &resource("write")]), [""; 0]);
    assert_eq!(search(&[&alice, &resource("other")]), [""; 0]);
    assert_eq!(
        search(&[&alice, r#""resource":{"type":"record","id":"write"}"#]),
        [""; 0]
    );
    let reply = running.post("/access/v1/search/action", &request(&[&alice]));
    assert_eq!(reply.status, 400, "{}", reply.body);
    // Nobody can list every subject.
    assert_eq!(running.post("/access/v1/search/subject", "{}").status, 404);
}
