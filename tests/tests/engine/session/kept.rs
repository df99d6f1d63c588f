//! Decisions after what a store keeps of a client.

use super::decision_point::{asked, point};
use super::{World, at, call_at, capability, is_passed_on, new_client, server};
use agent_model::Load;
use agent_session::limits::{KEPT_APPROVALS_MAX, KEPT_MAX_BYTES};
use agent_session::{
    AskedCall, AskedRequest, CallAction, Client, Code, DecisionPoint, Enforced, Generation,
    KeptDecision, Options, REFUSAL_KEY,
};
use proptest::prelude::*;
use serde_json::{Value, json};

/// A store of one client, with the decision points that use it.
struct Store<'p> {
    point: &'p DecisionPoint,
    kept: Option<Vec<u8>>,
}

impl<'p> Store<'p> {
    fn new(point: &'p DecisionPoint) -> Self {
        Self { point, kept: None }
    }

    /// Decides on a call, and writes what is kept next.
    fn decide(&mut self, call: &AskedCall, ms: u64) -> KeptDecision {
        let kept = self.kept.as_deref();
        let decided = self
            .point
            .decide_after(call, kept, at(ms))
            .expect("a decision");
        if let Some(kept) = &decided.kept {
            assert!(kept.len() <= KEPT_MAX_BYTES);
            self.kept = Some(kept.clone());
        }
        decided
    }

    /// Returns the codes against a call.
    fn codes(&mut self, call: &AskedCall, ms: u64) -> Vec<Code> {
        let decided = self.decide(call, ms);
        decided.decision.reasons.iter().map(|it| it.code).collect()
    }
}

fn tagged(tags: &[&str]) -> Value {
    json!({ "x-summit-capabilities": capability(tags) })
}

/// A server that takes three calls within a minute of its tool `counted`.
fn world() -> World {
    let tools = json!({
        "free": {}, "counted": tagged(&["rate_limited"]), "asked": tagged(&["human_in_the_loop"]),
        "both": tagged(&["human_in_the_loop", "rate_limited"]),
    });
    let mut web = server("web", tools);
    web["policy"] = json!({ "rateLimitPerMin": 3 });
    let locked = ["free", "counted", "asked", "both"].map(|it| ("web", it, Load::Essential));
    World::new(vec![web], &locked)
}

fn with_tenant(history: &str) -> World {
    let mut world = world();
    let tenant = format!("tenants:\n  - id: t\n    history:\n      {history}\n");
    world.documents.tenant = Some(tenant.into_bytes());
    world
}

fn plain(tool: &str) -> AskedCall {
    asked(tool, &json!({}))
}

#[test]
fn a_quota_holds_over_all_decision_points() {
    let (one, other) = (point(&world()), point(&world()));
    let mut store = Store::new(&one);
    let call = plain("counted");
    for (point, ms, allowed) in [
        (&one, 0, true),
        (&other, 1, true),
        (&one, 2, true),
        (&other, 3, false),
        (&one, 59_999, false),
        (&one, 60_000, true),
    ] {
        store.point = point;
        let found = store.codes(&call, ms);
        let expected = if allowed {
            vec![]
        } else {
            vec![Code::QuotaExceeded]
        };
        assert_eq!(found, expected, "{ms}");
    }
}

#[test]
fn a_clock_that_is_behind_opens_no_window() {
    let point = point(&world());
    let mut store = Store::new(&point);
    let call = plain("counted");
    assert_eq!(store.codes(&call, 100_000), []);
    assert_eq!(store.codes(&call, 0), []);
    assert_eq!(store.codes(&call, 100_000), []);
    assert_eq!(store.codes(&call, 0), [Code::QuotaExceeded]);
    assert_eq!(store.codes(&call, 159_999), [Code::QuotaExceeded]);
    assert_eq!(store.codes(&call, 160_000), []);
}

#[test]
fn a_refused_call_changes_nothing() {
    let point = point(&world());
    let invalid = asked("counted", &json!({ "x": 1 }));
    let decided = point
        .decide_after(&invalid, None, at(0))
        .expect("a decision");
    assert_eq!((decided.decision.reasons.len(), decided.kept), (1, None));
    let mut other = plain("counted");
    other.agent = Some("b".to_owned());
    let decided = point.decide_after(&other, None, at(0)).expect("a decision");
    assert_eq!(decided.decision.reasons[0].code, Code::AgentChanged);
    assert_eq!(decided.kept, None);
    let mut asks = plain("asked");
    asks.agent = Some("b".to_owned());
    let decided = point.decide_after(&asks, None, at(0)).expect("a decision");
    assert_eq!((decided.approval, decided.kept), (None, None));
}

#[test]
fn the_place_names_the_tenant_the_agent_and_the_client() {
    let usual = world();
    let place = |point: &DecisionPoint, call: &AskedCall| {
        let kept = point.kept_at(call).expect("a subject");
        kept.map(|it| it.key)
    };
    let usual = point(&usual);
    let own = place(&usual, &plain("counted")).expect("a place");
    assert!(own.len() == 32 && own.bytes().all(|it| it.is_ascii_hexdigit()));
    assert_eq!(place(&usual, &plain("web/counted")), Some(own.clone()));
    assert_eq!(place(&usual, &plain("asked")), Some(own.clone()));
    // Nothing else decides on these.
    assert_eq!(place(&usual, &plain("free")), None);
    assert_eq!(place(&usual, &plain("other")), None);
    let mut other = plain("counted");
    other.subject.id = "d".to_owned();
    assert_ne!(place(&usual, &other), Some(own.clone()));
    let mut world = world();
    world.documents.tenant = Some(b"tenants:\n  - id: t\n".to_vec());
    assert_ne!(place(&point(&world), &plain("counted")), Some(own));
    let kept = point(&with_tenant("window: 2h")).kept_at(&plain("free"));
    assert_eq!(
        kept.expect("a subject").expect("a place").lifetime_ms,
        7_200_000
    );
}

#[test]
fn a_human_approves_a_call_at_any_decision_point() {
    let (one, other) = (point(&world()), point(&world()));
    let mut store = Store::new(&one);
    let call = asked("asked", &json!({}));
    let key = one.kept_at(&call).expect("a subject").expect("a place").key;
    let decided = store.decide(&call, 0);
    assert_eq!(decided.decision.reasons[0].code, Code::ApprovalRequired);
    let asked_first = decided.approval.expect("an approval");
    assert!(asked_first.id.starts_with(&format!("{key}-")));
    assert_eq!(
        asked_first.text,
        "The client `c` (local) calls `asked` of `web` with {}"
    );
    // Asked again, it is the same one, and nothing is written.
    store.point = &other;
    let again = store.decide(&call, 1);
    assert_eq!(
        (again.approval, again.kept),
        (Some(asked_first.clone()), None)
    );
    let kept = store.kept.clone().expect("it is kept");
    let answer = |kept: &[u8], id: &str, answer: Option<bool>, ms: u64| {
        let found = other.approval((kept, &key), id, answer, at(ms));
        found.expect("it is readable")
    };
    let shown = answer(&kept, &asked_first.id, None, 2);
    assert_eq!(
        (shown.approval, shown.kept),
        (Some(asked_first.clone()), None)
    );
    for (id, ms) in [("", 2), (&*key, 2), ("x", 2), (&*asked_first.id, 600_000)] {
        let found = answer(&kept, id, Some(true), ms);
        assert_eq!((found.approval, found.kept), (None, None), "{id} {ms}");
    }
    let given = answer(&kept, &asked_first.id, Some(true), 3);
    assert_eq!(given.approval.expect("it is known").answer, Some(true));
    store.kept = given.kept;
    let twice = answer(
        &store.kept.clone().expect("kept"),
        &asked_first.id,
        Some(false),
        4,
    );
    assert_eq!((twice.approval, twice.kept), (None, None));
    // It is for this client, this tool and these arguments, and for one call.
    let mut another = call.clone();
    another.tool = "both".to_owned();
    assert_eq!(store.codes(&another, 5), [Code::ApprovalRequired]);
    store.point = &one;
    assert_eq!(store.codes(&call, 6), []);
    assert_eq!(store.codes(&call, 7), [Code::ApprovalRequired]);
}

#[test]
fn a_denied_call_is_asked_for_again_only_later() {
    let point = point(&world());
    let mut store = Store::new(&point);
    let call = plain("asked");
    let key = point
        .kept_at(&call)
        .expect("a subject")
        .expect("a place")
        .key;
    let id = store.decide(&call, 0).approval.expect("an approval").id;
    let kept = store.kept.clone().expect("kept");
    let denied = point.approval((&kept, &key), &id, Some(false), at(1));
    store.kept = denied.expect("it is readable").kept;
    assert_eq!(store.codes(&call, 2), [Code::ApprovalDenied]);
    assert_eq!(store.codes(&call, 3), [Code::ApprovalRequired]);
}

#[test]
fn an_approval_is_of_one_definition() {
    let before = point(&world());
    let mut store = Store::new(&before);
    let call = plain("asked");
    let key = before
        .kept_at(&call)
        .expect("a subject")
        .expect("a place")
        .key;
    let id = store.decide(&call, 0).approval.expect("an approval").id;
    let kept = store.kept.clone().expect("kept");
    let given = before.approval((&kept, &key), &id, Some(true), at(1));
    store.kept = given.expect("it is readable").kept;
    let mut world = world();
    world.servers[0]["capabilities"]["tools"]["asked"]["description"] = json!("another");
    let after = point(&world);
    store.point = &after;
    assert_eq!(store.codes(&call, 2), [Code::ApprovalRequired]);
    // That of the first definition is kept beside it.
    store.point = &before;
    assert_eq!(store.codes(&call, 3), []);
}

#[test]
fn too_many_approvals_are_not_asked_for() {
    let mut world = world();
    world.servers[0]["capabilities"]["tools"]["asked"]["inputSchema"] =
        json!({ "properties": { "n": {} } });
    let point = point(&world);
    let mut store = Store::new(&point);
    for number in 0..KEPT_APPROVALS_MAX {
        let call = asked("asked", &json!({ "n": number }));
        assert_eq!(store.codes(&call, 0), [Code::ApprovalRequired]);
    }
    let more = asked("asked", &json!({ "n": "more" }));
    assert_eq!(store.codes(&more, 0), [Code::SessionLimit]);
    assert_eq!(store.codes(&more, 600_000), [Code::ApprovalRequired]);
}

#[test]
fn a_history_is_kept_and_decides() {
    let world = with_tenant("rules: [{ rule: at-most, tools: [web/free], calls: 2, within: 1h }]");
    let point = point(&world);
    let mut store = Store::new(&point);
    let call = plain("free");
    assert_eq!(store.codes(&call, 0), []);
    assert_eq!(store.codes(&call, 1), []);
    assert_eq!(store.codes(&call, 2), [Code::PolicyDenied]);
    assert_eq!(store.codes(&call, 3_600_000), []);
}

#[test]
fn a_history_that_does_not_reach_back_decides_nothing() {
    let rule = "rules: [{ rule: at-most, tools: [web/free], calls: 2 }]";
    let short = point(&with_tenant(&format!("window: 1h\n      {rule}")));
    let long = point(&with_tenant(&format!("window: 2h\n      {rule}")));
    let without = point(&world());
    let hour = 3_600_000;
    let mut store = Store::new(&short);
    assert_eq!(store.codes(&plain("free"), 0), []);
    // What was before the shorter window is forgotten.
    store.point = &long;
    assert_eq!(store.codes(&plain("free"), 1), [Code::HistoryUnavailable]);
    assert_eq!(store.codes(&plain("free"), hour), []);
    // A call that no history has makes it unknown for its window.
    store.point = &without;
    assert_eq!(store.codes(&plain("counted"), hour + 1), []);
    store.point = &short;
    assert_eq!(
        store.codes(&plain("free"), hour + 2),
        [Code::HistoryUnavailable]
    );
    assert_eq!(store.codes(&plain("free"), 2 * hour + 1), []);
    // So does one that was kept before anybody asked for a history.
    let mut store = Store::new(&without);
    assert_eq!(store.codes(&plain("counted"), 0), []);
    store.point = &short;
    assert_eq!(store.codes(&plain("free"), 1), [Code::HistoryUnavailable]);
    assert_eq!(store.codes(&plain("free"), hour), []);
}

#[test]
fn arguments_that_were_not_kept_decide_nothing() {
    let with_tenant = |history: &str| {
        let mut world = with_tenant(history);
        let tools = &mut world.servers[0]["capabilities"]["tools"];
        tools["free"]["inputSchema"] = json!({ "properties": { "n": {} } });
        world
    };
    let most = point(&with_tenant(
        "window: 1h\n      rules: [{ rule: at-most, calls: 9 }]",
    ));
    let sum = "rules: [{ rule: sum-at-most, tools: [web/free], argument: /n, limit: 9 }]";
    let sums = point(&with_tenant(&format!("window: 1h\n      {sum}")));
    let mut store = Store::new(&most);
    let call = asked("free", &json!({ "n": 4 }));
    assert_eq!(store.codes(&call, 0), []);
    store.point = &sums;
    assert_eq!(store.codes(&call, 1), [Code::HistoryUnavailable]);
    // Those calls are over.
    assert_eq!(store.codes(&call, 3_600_000), []);
    assert_eq!(store.codes(&call, 3_600_001), []);
    assert_eq!(store.codes(&call, 3_600_002), [Code::PolicyDenied]);
}

#[test]
fn what_a_gateway_alone_knows_still_needs_state() {
    let mut of_results = world();
    of_results.policy = Some(
        "package switchboard\nallowed_tools contains tool.id if some tool in input.candidate_tools\n\
         results := {\"action\": \"allow\"}\n"
            .to_owned(),
    );
    let of_answers =
        with_tenant("rules: [{ rule: before, tools: [web/counted], needs: [web/free] }]");
    for world in [of_results, of_answers] {
        let point = point(&world);
        let decided = point.decide_after(&plain("counted"), None, at(0));
        let decided = decided.expect("a decision");
        let codes = decided.decision.reasons.iter().map(|it| it.code);
        assert!(codes.into_iter().any(|it| it == Code::StateRequired));
        assert_eq!(decided.kept, None);
    }
}

#[test]
fn what_no_decision_point_wrote_decides_nothing() {
    let point = point(&world());
    for kept in [&b""[..], b"{}", b"[]", b"\xff", b"{\"version\":1}"] {
        let refused = point.decide_after(&plain("counted"), Some(kept), at(0));
        assert_eq!(refused.expect_err("it is refused").0, Code::WrongDocument);
    }
    let mut store = Store::new(&point);
    assert_eq!(store.codes(&plain("counted"), 0), []);
    let kept = String::from_utf8(store.kept.expect("kept")).expect("text");
    let newer = kept.replace("\"version\":1", "\"version\":2");
    let refused = point.decide_after(&plain("counted"), Some(newer.as_bytes()), at(0));
    assert_eq!(refused.expect_err("it is refused").0, Code::WrongDocument);
}

#[test]
fn a_damaged_value_decides_nothing_or_is_one() {
    let world = with_tenant("rules: [{ rule: at-most, tools: [web/free], calls: 2 }]");
    let point = point(&world);
    let mut store = Store::new(&point);
    for tool in ["free", "counted", "asked"] {
        store.decide(&plain(tool), 0);
    }
    let kept = store.kept.expect("it is kept");
    let mut refused = 0;
    for place in 0..kept.len() {
        for byte in [b'"', b'0', b'}', 0xff] {
            let mut damaged = kept.clone();
            damaged[place] = byte;
            let decided = point.decide_after(&plain("free"), Some(&damaged), at(1));
            refused += usize::from(decided.is_err());
        }
        // Without the end of its line it is whole.
        let cut = point.decide_after(&plain("free"), Some(&kept[..place]), at(1));
        assert!(cut.is_err() || place + 1 == kept.len(), "{place}");
    }
    assert!(refused > kept.len());
}

fn request(method: &str, params: &Value) -> AskedRequest {
    AskedRequest {
        server: "web".to_owned(),
        method: method.to_owned(),
        params: Some(params.to_string().into_bytes()),
        subject: plain("").subject,
        agent: None,
        generation: Generation::Stateless,
    }
}

#[test]
fn a_request_is_decided_after_what_is_kept() {
    let point = point(&world());
    let mut kept: Option<Vec<u8>> = None;
    let counted = request("tools/call", &json!({ "name": "counted" }));
    let same = point.kept_at(&plain("counted")).expect("a subject");
    assert_eq!(point.request_kept_at(&counted).expect("a server"), same);
    for allowed in [true, true, true, false] {
        let enforced = point.request_after(&counted, kept.as_deref(), at(0));
        let enforced = enforced.expect("a decision");
        assert_eq!(enforced.enforced == Enforced::Passed, allowed);
        assert_eq!(enforced.kept.is_some(), allowed);
        kept = enforced.kept.or(kept);
    }
    let asks = request("tools/call", &json!({ "name": "asked" }));
    let enforced = point.request_after(&asks, kept.as_deref(), at(0));
    let enforced = enforced.expect("a decision");
    assert!(enforced.kept.is_some());
    let Enforced::Answered(result) = enforced.enforced else {
        panic!("it is answered");
    };
    let result: Value = serde_json::from_slice(&result).expect("JSON");
    let key = same.expect("a place").key;
    let id = result["_meta"][REFUSAL_KEY]["approval"].as_str();
    assert!(id.expect("an approval").starts_with(&format!("{key}-")));
}

#[test]
fn a_resource_is_read_only_where_no_history_is_kept() {
    let asked = request("resources/read", &json!({ "uri": "a:b" }));
    let without = point(&world());
    assert_eq!(without.request_kept_at(&asked).expect("a server"), None);
    let with = point(&with_tenant("window: 1h"));
    assert!(with.request_kept_at(&asked).expect("a server").is_some());
    let enforced = with.request_after(&asked, None, at(0)).expect("a decision");
    let Enforced::Failed { message, .. } = enforced.enforced else {
        panic!("it fails");
    };
    assert!(
        message.contains("no store keeps `resources/read`"),
        "{message}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig {
        // Each case is a whole session.
        cases: ProptestConfig::default().cases.div_ceil(4),
        ..ProptestConfig::default()
    })]

    /// Calls of one client, and the moments between them.
    #[test]
    fn decisions_after_what_is_kept_are_those_of_a_session(
        calls in prop::collection::vec((0_usize..4, 0_u64..40_000), 1..24),
        has_history in any::<bool>(),
    ) {
        let history = "rules: [{ rule: at-most, tools: [web/free], calls: 3, within: 1m }, \
                       { rule: no-send-after, label: untrusted, tools: [web/both], within: 1m }]";
        let world = if has_history { with_tenant(history) } else { world() };
        let point = point(&world);
        let mut store = Store::new(&point);
        let mut session = world.session(Options::default());
        let client = Client { session: None, ..new_client() };
        let mut now = 0;
        for (tool, pause) in calls {
            now += pause;
            let name = ["free", "counted", "asked", "both"][tool];
            let called = call_at(&mut session, &client, name, json!({}), now);
            let decided = store.decide(&plain(name), now);
            prop_assert_eq!(decided.decision.reasons.is_empty(), is_passed_on(&called));
            let by_session = match &called.action {
                CallAction::AskApproval { approval, .. } => Some(approval),
                _ => None,
            };
            prop_assert_eq!(decided.approval.is_some(), by_session.is_some());
            if let (Some(approval), Some(by_session)) = (&decided.approval, by_session) {
                // Every second call is approved by both.
                if pause % 2 == 0 {
                    let key = point.kept_at(&plain(name)).expect("a subject").expect("a place").key;
                    let kept = store.kept.clone().expect("kept");
                    let given = point.approval((&kept, &key), &approval.id, Some(true), at(now));
                    store.kept = given.expect("it is readable").kept;
                    session.approve(by_session, true, "h", at(now));
                }
            }
        }
    }
}
