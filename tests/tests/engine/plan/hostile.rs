//! Documents that mean harm: each is decided, soon, and in few words.

use super::corpus::{Case, base, sound};
use agent_decide::{
    AuthorizedPlan, PlanPolicy, PlanReason, QueryDenial, authorize_plan, decide_query,
};
use agent_explain::{PlanDocuments, plan_findings, plan_fixes};
use agent_json_schema::{Library, OverBudget};
use agent_lower as lower;
use agent_lower::PLAN_LIMIT;
use agent_render::{PlanReport, validation_report};
use agent_tests::processor_time::ProcessorTime;
use serde_json::{Value, json};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

/// Far more than it takes to read 16 MiB of anything, even where nothing is optimised.
const READ_SOON: Duration = Duration::from_secs(10);

/// Far more than deciding or telling takes, even where nothing is optimised.
const SOON: Duration = Duration::from_secs(3);

/// The same of looking for fixes, for which documents are read and decided again and again.
const FIXES_SOON: Duration = Duration::from_secs(20);

/// More bytes than a readable report has.
const REPORT: usize = 16 << 20;

fn plan(steps: Vec<Value>) -> Value {
    json!({
        "envelope_id": "env.mova_agent_plan_v1",
        "verb": "create",
        "roles": {"planner": "a-model", "executor": "agent"},
        "plan": {
            "plan_id": "p",
            "request_id": "r",
            "tool_pool_ref": {"pool_id": "pool", "pool_version": "1.0.0"},
            "instruction_profile_ref": {"profile_id": "profile"},
            "steps": steps,
        },
    })
}

fn step(number: usize) -> Value {
    let id = format!("s{number}");
    json!({"step_id": id, "connector_id": "connector_core:noop", "tool_id": "keep"})
}

fn with(mut value: Value, member: &str, of_it: Value) -> Value {
    value[member] = of_it;
    value
}

/// A binding of a tool that does nothing.
fn binding(tool: &str) -> Value {
    json!({
        "connector_id": "connector_core:noop",
        "tool_id": tool,
        "driver_kind": "noop",
        "destinations": [],
        "limits": {"timeout_ms": 1, "max_input_bytes": 100_000_000, "max_output_bytes": 1, "max_log_bytes": 1},
    })
}

fn connector(id: &str) -> Value {
    json!({"connector_id": id, "provider": "p", "resource": "r", "protocol": "none"})
}

fn pool(bindings: Vec<Value>) -> Value {
    json!({
        "schema_id": "ds.mova_agent_tool_pool_v1",
        "pool_id": "pool",
        "pool_version": "1.0.0",
        "connectors": [connector("connector_core:noop")],
        "bindings": bindings,
    })
}

fn allow(selector: &str) -> Value {
    json!({"rule_id": "allow", "effect": "allow", "target": {"kind": "tool", "selector": selector}})
}

fn profile(rules: Vec<Value>) -> Value {
    json!({
        "schema_id": "ds.instruction_profile_core_v1",
        "profile_id": "profile",
        "security_model_version": "1.0.0",
        "status": "active",
        "caps": {
            "max_steps": 100_000,
            "max_timeout_ms": 1_000,
            "max_input_bytes": 100_000_000,
            "max_output_bytes": 1_000,
            "max_log_bytes": 1_000,
        },
        "rules": rules,
    })
}

/// A step that is given a number.
fn one(number: usize) -> Value {
    with(step(number), "input", json!(number))
}

/// A step that takes its input from another.
fn from(number: usize, other: &str, pointer: &str) -> Value {
    let from = json!({"step": other, "pointer": pointer});
    with(step(number), "input_from", from)
}

fn keep() -> Value {
    pool(vec![binding("keep")])
}

fn allow_all() -> Value {
    profile(vec![allow("*")])
}

/// The number of problems of each code, in order of appearance.
type Codes = Vec<(String, usize)>;

fn names(codes: &Codes) -> Vec<&str> {
    codes.iter().map(|(code, _)| &**code).collect()
}

fn codes(codes: &[(&str, usize)]) -> Codes {
    let codes = codes.iter();
    codes
        .map(|(code, count)| ((*code).to_owned(), *count))
        .collect()
}

/// Returns the report of a plan, within a time limit for each part.
fn run(name: &str, plan: &Value, pool: &Value, profile: &Value) -> Codes {
    let texts = [plan, pool, profile].map(|it| it.to_string().into_bytes());
    run_case(name, case(texts))
}

fn case([plan, pool, profile]: [Vec<u8>; 3]) -> Case {
    let started = ProcessorTime::now();
    let case = Case {
        plan: Arc::new(lower::plan(plan)),
        rules: Arc::new(PlanPolicy::new(pool, profile, None)),
        request: None,
        index: None,
        lock: None,
        catalogue: None,
    };
    let taken = started.elapsed();
    assert!(taken < READ_SOON, "reading takes {taken:?}");
    case
}

fn run_case(name: &str, case: Case) -> Codes {
    let decided = ProcessorTime::now();
    let answer = authorize_plan(&case.plan, &case.rules, case.context());
    let told = ProcessorTime::now();
    let findings = plan_findings(&case.plan, &case.rules, case.context(), &answer);
    let fixed = ProcessorTime::now();
    let fixes = plan_fixes(
        &PlanDocuments::new(&case.plan, &case.rules),
        case.context(),
        &answer,
        &findings,
    );
    let reported = ProcessorTime::now();
    let report = validation_report(&PlanReport {
        plan: &case.plan,
        rules: &case.rules,
        context: case.context(),
        answer: &answer,
        findings: &findings,
        fixes: &fixes,
    });
    let taken = [
        ("deciding", told - decided, SOON),
        ("telling", fixed - told, SOON),
        ("looking for fixes", reported - fixed, FIXES_SOON),
        ("reporting", reported.elapsed(), SOON),
    ];
    for (what, taken, most) in taken {
        assert!(taken < most, "{name}: {what} takes {taken:?}");
    }
    assert!(report.len() < REPORT, "{name}: {} bytes", report.len());
    assert_eq!(answer.authorized.is_some(), findings.is_empty());
    let mut codes = Codes::new();
    for finding in &findings {
        let code = finding
            .diagnostic
            .reason
            .unwrap_or(finding.diagnostic.code)
            .name();
        match codes.iter_mut().find(|(known, _)| known == code) {
            Some((_, count)) => *count += 1,
            None => codes.push((code.to_owned(), 1)),
        }
    }
    codes
}

/// What a document that can't be checked within its budget comes to.
fn over_budget() -> Codes {
    codes(&[("SCHEMA_BUDGET", 1)])
}

/// A plan whose steps all have another name.
fn misspelt(member: &str, name: &str) -> Value {
    plan(
        (0..2_500)
            .map(|it| with(one(it), member, json!(name)))
            .collect(),
    )
}

#[test]
fn names_of_tools_that_are_nearly_right() {
    let tools = pool(
        (0..1_000)
            .map(|it| binding(&format!("keep-{it}")))
            .collect(),
    );
    let found = run(
        "tools",
        &misspelt("tool_id", "kepe-1"),
        &tools,
        &allow_all(),
    );
    assert_eq!(found, codes(&[("TOOL_UNKNOWN", 1_000)]));
}

mod at_length {
    #[test]
    fn other_names_that_are_nearly_right() {
        super::other_names_that_are_nearly_right();
    }
}

fn other_names_that_are_nearly_right() {
    let mut connectors = keep();
    let known = connectors["connectors"].as_array_mut().expect("a list");
    known.extend((0..2_000).map(|it| connector(&format!("connector_core:noop{it}"))));
    let plan_of = misspelt("connector_id", "connector_core:npoo");
    let found = run("connectors", &plan_of, &connectors, &allow_all());
    assert_eq!(found, codes(&[("TOOL_UNKNOWN", 1_000)]));
    // Those that stand before sort last, and first.
    for (name, number) in [("steps", 0), ("steps backwards", 99_999_usize)] {
        let steps = (0..2_500).map(|it| from(number.abs_diff(it), "x", ""));
        let found = run(name, &plan(steps.collect()), &keep(), &allow_all());
        assert_eq!(found, codes(&[("validation_failed", 1_000)]));
    }
    let same = plan(vec![one(0); 2_500]);
    let found = run("the same name", &same, &keep(), &allow_all());
    assert_eq!(found, codes(&[("validation_failed", 1_000)]));
    let bindings: Vec<_> = (0..1_500)
        .map(|it| {
            with(
                binding(&format!("keep-{it}")),
                "connector_id",
                json!("connector_core:npoo"),
            )
        })
        .collect();
    let found = run(
        "bindings",
        &plan(vec![one(0)]),
        &pool(bindings),
        &allow_all(),
    );
    assert_eq!(
        found,
        codes(&[("TOOL_UNKNOWN", 1), ("UNKNOWN_VALUE", 1_000)])
    );
}

#[test]
fn steps_that_take_from_steps() {
    let chain = |length: usize, pointer: &str| {
        let steps = (1..length).map(|it| from(it, &format!("s{}", it - 1), pointer));
        plan(std::iter::once(one(0)).chain(steps).collect())
    };
    assert_eq!(run("a chain", &chain(500, ""), &keep(), &allow_all()), []);
    let found = run("a long chain", &chain(2_500, ""), &keep(), &allow_all());
    assert_eq!(found, codes(&[("SCHEMA_BUDGET", 1_000)]));
    let pointer = "/a".repeat(50);
    let found = run(
        "long pointers",
        &chain(1_000, &pointer),
        &keep(),
        &allow_all(),
    );
    assert_eq!(names(&found), ["validation_failed", "SCHEMA_BUDGET"]);
    let fan = |of: Value| {
        let steps = (1..2_500).map(|it| from(it, "s0", ""));
        plan(
            std::iter::once(with(step(0), "input", of))
                .chain(steps)
                .collect(),
        )
    };
    assert_eq!(run("a fan", &fan(json!(0)), &keep(), &allow_all()), []);
    let list = json!((0..100_000).collect::<Vec<_>>());
    let found = run("a fan of a long list", &fan(list), &keep(), &allow_all());
    assert_eq!(found, codes(&[("SCHEMA_BUDGET", 1_000)]));
    let text = json!("a".repeat(8_000_000));
    let found = run("a fan of a long text", &fan(text), &keep(), &allow_all());
    assert_eq!(found, codes(&[("SCHEMA_BUDGET", 1_000)]));
}

#[test]
fn rules_by_the_thousand() {
    let steps = plan((0..2_500).map(one).collect());
    let others = (0..20_000).map(|it| allow(&format!("connector_core:noop/other{it}")));
    let found = run("rules", &steps, &keep(), &profile(others.collect()));
    assert_eq!(found, codes(&[("policy_denied", 1_000)]));
    let deny = with(allow("connector_core:noop/keep"), "effect", json!("deny"));
    let found = run(
        "denials",
        &steps,
        &keep(),
        &profile(vec![deny.clone(); 30_000]),
    );
    assert_eq!(found, codes(&[("FORBIDDEN_ACTION", 1_000)]));
    let found = run("more rules", &steps, &keep(), &profile(vec![deny; 100_000]));
    assert_eq!(found, over_budget());
    let deny = with(allow("*"), "effect", json!("deny"));
    let long = with(deny, "rule_id", json!("a".repeat(3_000_000)));
    let found = run(
        "a long rule",
        &steps,
        &keep(),
        &profile(vec![allow("*"), long]),
    );
    assert_eq!(found, codes(&[("FORBIDDEN_ACTION", 1)]));
    let mut capped = allow_all();
    capped["caps"]["max_steps"] = json!(1);
    let found = run("too many steps", &steps, &keep(), &capped);
    assert_eq!(found, codes(&[("limit_exceeded", 1)]));
    let unknown = plan(
        (0..2_500)
            .map(|it| with(one(it), "tool_id", json!(it.to_string())))
            .collect(),
    );
    let found = run("too many that are unknown", &unknown, &keep(), &capped);
    assert_eq!(
        found,
        codes(&[("TOOL_UNKNOWN", 999), ("limit_exceeded", 1)])
    );
}

#[test]
fn rules_are_told_in_their_order() {
    let deny = |selector: &str| with(allow(selector), "effect", json!("deny"));
    let tool = "connector_core:noop/keep";
    let rules = [
        allow(tool),
        deny("*"),
        deny("connector_core:noop/other"),
        deny(tool),
        allow("*"),
        deny("*"),
        deny("keep"),
    ];
    let texts = [plan(vec![one(0)]), keep(), profile(rules.to_vec())];
    let case = case(texts.map(|it| it.to_string().into_bytes()));
    let answer = authorize_plan(&case.plan, &case.rules, case.context());
    let rules = answer.denials.iter().map(|denial| match denial.reason {
        PlanReason::RuleDenies(rule) => rule,
        ref other => panic!("{other:?}"),
    });
    assert_eq!(rules.collect::<Vec<_>>(), [1, 3, 5]);
}

fn http(tool: &str, destinations: Value) -> Value {
    let binding = with(binding(tool), "driver_kind", json!("http"));
    let binding = with(binding, "methods", json!(["GET"]));
    with(binding, "destinations", destinations)
}

fn get(number: usize, url: &str) -> Value {
    with(step(number), "input", json!({"method": "GET", "url": url}))
}

#[test]
fn destinations_by_the_thousand() {
    let many: Vec<_> = (0..4_000)
        .map(|it| format!("https://host-{it}.example"))
        .collect();
    let pool = pool(vec![http("keep", json!(many))]);
    let at = |url: &str| plan((0..1_000).map(|it| get(it, url)).collect());
    let found = run(
        "destinations",
        &at("https://host-3999.example/"),
        &pool,
        &allow_all(),
    );
    assert_eq!(found, []);
    let found = run(
        "elsewhere",
        &at("https://host-4000.example/"),
        &pool,
        &allow_all(),
    );
    assert_eq!(found, codes(&[("destination_denied", 1_000)]));
}

#[test]
fn urls_of_a_megabyte() {
    let pool = pool(vec![http("keep", json!(["https://a.example"]))]);
    let long = |of: &str| of.repeat(1_000_000 / of.len());
    for (name, url, allowed) in [
        (
            "a long path",
            format!("https://a.example/{}", long("a")),
            true,
        ),
        (
            "a path that goes up",
            format!("https://a.example{}", long("/..")),
            true,
        ),
        (
            "a path that is encoded",
            format!("https://a.example/{}", long("%2e%2f")),
            true,
        ),
        ("a long host", format!("https://{}", long("a")), false),
        (
            "many labels",
            format!("https://{}a.example", long("a.")),
            false,
        ),
        (
            "a host that is encoded",
            format!("https://{}.example", long("%61")),
            false,
        ),
        (
            "a host that is encoded twice",
            format!("https://{}.example", long("%2561")),
            false,
        ),
        (
            "user names",
            format!("https://{}a.example", long("a:b@")),
            false,
        ),
        (
            "no user name",
            format!("https://{}@a.example", long("a")),
            false,
        ),
        (
            "punycode",
            format!("https://xn--{}.example", long("a")),
            false,
        ),
        (
            "much punycode",
            format!("https://{}.example", long("xn--a-0a.")),
            false,
        ),
        (
            "punycode of much",
            format!("https://xn--{}-{}.example", long("a"), long("9")),
            false,
        ),
        (
            "what looks alike",
            format!("https://{}.example", long("\u{430}")),
            false,
        ),
        (
            "what is composed",
            format!("https://a{}.example", long("\u{301}\u{316}")),
            false,
        ),
        (
            "what is decomposed",
            format!("https://{}.example", long("\u{fdfa}")),
            false,
        ),
        (
            "from right to left",
            format!("https://{}.example", long("\u{5d0}1")),
            false,
        ),
        ("a long number", format!("https://{}", long("1")), false),
        (
            "a long address",
            format!("https://[{}1]", long("0:")),
            false,
        ),
        (
            "a long port",
            format!("https://a.example:{}443", long("0")),
            true,
        ),
        ("tabs", format!("ht{}tps://a.example", long("\t")), true),
        (
            "a long scheme",
            format!("{}://a.example", long("https")),
            false,
        ),
    ] {
        let found = run(name, &plan(vec![get(0, &url)]), &pool, &allow_all());
        let denied = [("destination_denied".to_owned(), 1)];
        assert_eq!(found, if allowed { &[][..] } else { &denied }, "{name}");
    }
    let short = "a".repeat(1_500);
    let steps = (0..1_000).map(|it| get(it, &format!("https://xn--{short}-{short}.example")));
    let found = run(
        "punycode again and again",
        &plan(steps.collect()),
        &pool,
        &allow_all(),
    );
    assert_eq!(found, codes(&[("destination_denied", 1_000)]));
}

/// Definitions each of which asks twice for the next.
fn exponential(levels: usize) -> Value {
    let mut definitions = json!({});
    definitions[levels.to_string()] = json!({"type": "string"});
    for number in 0..levels {
        let next = json!({"$ref": format!("#/$defs/{}", number + 1)});
        definitions[number.to_string()] = json!({"allOf": [next, next]});
    }
    json!({"$ref": "#/$defs/0", "$defs": definitions})
}

/// A pool with one schema by its name.
fn pool_with(schema: Value) -> Value {
    let schema = with(schema, "$id", json!("urn:example:hostile"));
    with(keep(), "schemas", json!([schema]))
}

#[test]
fn schemas_that_mean_harm_are_asked_for_by_every_step() {
    let by_name = |step: Value| with(step, "input_schema_ref", json!("urn:example:hostile"));
    let steps = || plan((0..1_000).map(|it| by_name(one(it))).collect());
    let circle = json!({"allOf": [{"$ref": "#"}, {"$ref": "#"}]});
    let branches = json!({"anyOf": vec![json!({"type": "string"}); 500]});
    for (name, schema, expected) in [
        ("that multiply", exponential(40), &["SCHEMA_BUDGET"][..]),
        ("in a circle", circle, &["SCHEMA_BUDGET"]),
        (
            "with branches",
            branches,
            &["ARGUMENT_INVALID", "SCHEMA_BUDGET"],
        ),
    ] {
        let found = run(name, &steps(), &pool_with(schema), &allow_all());
        assert_eq!(names(&found), expected, "{name}");
    }
    let pattern = |pattern: &str| pool_with(json!({"pattern": pattern}));
    let text = with(step(0), "input", json!("a".repeat(5_000)));
    let text = plan(vec![by_name(text)]);
    let found = run("with states", &text, &pattern("^(a?){2000}x"), &allow_all());
    assert_eq!(found, codes(&[("SCHEMA_BUDGET", 1)]));
    let found = run(
        "too large",
        &text,
        &pattern("((a{1000}){1000}){1000}"),
        &allow_all(),
    );
    assert_eq!(found, codes(&[("SCHEMA_INVALID", 1)]));
    // A schema just below the budget is evaluated again for each fix of each step.
    let list = json!((0..120_000).collect::<Vec<_>>());
    let costly = with(
        with(step(0), "input", list),
        "input_schema_ref",
        json!("urn:example:hostile"),
    );
    let bad = (1..=70).map(|it| with(one(it), "tool_id", json!("kepe")));
    let steps = std::iter::once(costly).chain(bad);
    let schema = pool_with(json!({"items": {"type": "integer", "minimum": 0}}));
    let found = run(
        "nearly too much",
        &plan(steps.collect()),
        &schema,
        &allow_all(),
    );
    assert_eq!(found, codes(&[("TOOL_UNKNOWN", 70)]));
}

#[test]
fn violations_by_the_thousand() {
    let unknown = |count: usize| {
        let step = (0..count).fold(one(0), |step, number| {
            with(step, &number.to_string(), json!(number))
        });
        plan(vec![step])
    };
    let found = run("unknown members", &unknown(1_100), &keep(), &allow_all());
    assert_eq!(found, codes(&[("validation_failed", 1_000)]));
    let found = run("too many", &unknown(20_000), &keep(), &allow_all());
    assert_eq!(found, over_budget());
    let named = json!({"properties": {}, "additionalProperties": false});
    let mut input = json!({});
    for number in 0..5_000 {
        input[number.to_string()] = json!(number);
    }
    let asked = with(step(0), "input_schema_ref", json!("urn:example:hostile"));
    let asked = plan(vec![with(asked, "input", input)]);
    let found = run("unknown arguments", &asked, &pool_with(named), &allow_all());
    assert_eq!(found, codes(&[("ARGUMENT_INVALID", 1_000)]));
    let limits = json!({"timeout_ms": 2_000, "max_input_bytes": 1, "max_output_bytes": 2_000, "max_log_bytes": 2_000});
    let limited = pool(vec![with(binding("keep"), "limits", limits)]);
    let steps = plan((10..1_500).map(one).collect());
    let found = run("limits", &steps, &limited, &allow_all());
    assert_eq!(found, codes(&[("limit_exceeded", 1_000)]));
}

#[test]
fn texts_at_their_limits() {
    let refused = |name: &str, text: String, code: &str| {
        let texts = [
            text.into_bytes(),
            keep().to_string().into(),
            allow_all().to_string().into(),
        ];
        assert_eq!(run_case(name, case(texts)), codes(&[(code, 1)]), "{name}");
    };
    refused("too large", " ".repeat(PLAN_LIMIT + 1), "INPUT_TOO_LARGE");
    refused(
        "one text",
        format!("\"{}\"", "a".repeat(PLAN_LIMIT - 2)),
        "validation_failed",
    );
    let escaped = "\\u00e9".repeat(PLAN_LIMIT / 6 - 1);
    refused(
        "one text that is escaped",
        format!("\"{escaped}\""),
        "validation_failed",
    );
    refused("white space", " ".repeat(PLAN_LIMIT), "EMPTY_DOCUMENT");
    refused("brackets", "[".repeat(PLAN_LIMIT), "NESTING_TOO_DEEP");
    refused(
        "zeros",
        format!("1{}", "0".repeat(PLAN_LIMIT - 1)),
        "NUMBER_OUT_OF_RANGE",
    );
    refused(
        "empty lists",
        format!("[{}[]]", "[],".repeat(PLAN_LIMIT / 12)),
        "validation_failed",
    );
    let deep = |depth: usize| {
        let input = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        plan(vec![one(7)])
            .to_string()
            .replace(":7,", &format!(":{input},"))
    };
    let found = |text: String| {
        let texts = [
            text.into_bytes(),
            keep().to_string().into(),
            allow_all().to_string().into(),
        ];
        run_case("deep", case(texts))
    };
    assert_eq!(found(deep(124)), []);
    assert_eq!(found(deep(125)), codes(&[("NESTING_TOO_DEEP", 1)]));
    let again = vec!["\"again\": 1"; 50_000].join(", ");
    let twice = plan(vec![one(7)])
        .to_string()
        .replace(":7,", &format!(":{{{again}}},"));
    assert_eq!(found(twice), codes(&[("DUPLICATE_KEY", 1_000)]));
    let whole = with(
        plan(vec![]),
        "meta",
        json!({"note": "a".repeat(PLAN_LIMIT / 2)}),
    );
    let found = run("a long note", &whole, &keep(), &allow_all());
    assert_eq!(found, codes(&[("validation_failed", 1)]));
}

#[test]
fn queries_of_a_megabyte() {
    let deciding = |name: &str, patterns: Vec<String>, query: &str| {
        let policy = json!({"max_bytes": 2_000_000, "deny_patterns": patterns});
        let text = with(allow_all(), "input_policy", policy).to_string();
        let started = ProcessorTime::now();
        let profile = lower::profile(text.into_bytes(), Library::own());
        let decided = decide_query(query, &profile).map_err(|denials| denials.len());
        let over = decide_query(query, &profile)
            .is_err_and(|denials| denials.contains(&QueryDenial::OverBudget(OverBudget::Steps)));
        assert!(started.elapsed() < SOON, "{name}: {:?}", started.elapsed());
        (profile.findings.len(), decided, over)
    };
    let query = format!("{}!", "a".repeat(1_000_000));
    let one = |pattern: &str| vec![pattern.to_owned()];
    assert_eq!(deciding("a text", one("b"), &query), (0, Ok(()), false));
    assert_eq!(deciding("an end", one("a!$"), &query), (0, Err(1), false));
    let found = deciding("repetitions", one("^(a+)+$"), &query);
    assert_eq!(found, (0, Err(1), true));
    let query = format!("{}!", "a".repeat(20_000));
    for pattern in ["^(a+)+$", "^(a|aa)+$", "(.*)*(.*)*x", "(a*)*b"] {
        let found = deciding(pattern, one(pattern), &query);
        assert_eq!(found, (0, Ok(()), false), "{pattern}");
    }
    let found = deciding("one is found", one("a!$"), &query);
    assert_eq!(found, (0, Err(1), false));
    let found = deciding("with states", one("(a?){300}x"), &query);
    assert_eq!(found, (0, Err(1), true));
    let found = deciding("many", vec!["b".to_owned(); 1_000], &query);
    assert_eq!(found, (0, Err(1), true));
    let found = deciding("too large", one("((a{1000}){1000}){1000}"), "a");
    assert_eq!(found, (1, Err(1), false));
    let categories = (0..5_000).map(|number| format!("{number}\\p{{L}}{{10}}"));
    let found = deciding("with categories", categories.collect(), "a");
    assert_eq!((found.0 > 0, found.1), (true, Err(1)));
}

/// What may run, of one step that is bound so.
fn authorized(binding: Value, step: Value) -> AuthorizedPlan {
    let texts = [plan(vec![step]), pool(vec![binding]), allow_all()];
    let case = case(texts.map(|it| it.to_string().into_bytes()));
    let answer = authorize_plan(&case.plan, &case.rules, case.context());
    answer.authorized.expect("it may run")
}

fn soon<T>(name: &str, decide: impl FnOnce() -> T) -> T {
    let started = ProcessorTime::now();
    let decided = decide();
    let taken = started.elapsed();
    assert!(taken < SOON, "{name} takes {taken:?}");
    decided
}

#[test]
fn what_comes_while_a_plan_runs() {
    let taking = with(binding("keep"), "output_schema", exponential(40));
    let taking = with(
        taking,
        "input_schema",
        json!({"items": {"type": "integer"}}),
    );
    let plan = authorized(taking, with(step(0), "input", json!([])));
    let numbers = format!("[{}0]", "0, ".repeat(500_000));
    let texts = format!("[{}\"\"]", "\"\", ".repeat(100_000));
    let deep = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let named = format!("{{{}\"a\": 1}}", "\"a\": 1, ".repeat(100_000));
    let long = format!("\"{}\"", "a".repeat(16_000_000));
    for (name, text, input, output) in [
        ("a long list", &numbers, 0, 2),
        ("a list of other items", &texts, 1, 2),
        ("a deep list", &deep(128), 1, 2),
        ("a deeper list", &deep(1_000_000), 1, 1),
        ("the same name", &named, 1, 1),
        ("a long text", &long, 0, 2),
    ] {
        let found = soon(name, || plan.check_input(0, text, None).len());
        assert_eq!(found.min(1), input, "{name}: {found}");
        let found = soon(name, || plan.check_output(0, text).len());
        assert_eq!(found, output, "{name}");
    }
}

#[test]
fn addresses_by_the_hundred_thousand() {
    let plan = authorized(
        http("keep", json!(["https://a.example"])),
        get(0, "https://a.example"),
    );
    let of = |first: u8| -> Vec<_> {
        let numbers = 0..100_000_u32;
        let address = |it: u32| IpAddr::V4(Ipv4Addr::from(u32::from(first) << 24 | it));
        numbers.map(address).collect()
    };
    let public = of(93);
    let found = soon("public", || {
        plan.destination(0, "https://a.example", &public)
    });
    assert_eq!(found.as_deref(), Ok(&public[..]));
    let private = of(10);
    let found = soon("private", || {
        plan.destination(0, "https://a.example", &private)
    });
    assert_eq!(found.map_err(|denials| denials.len()), Err(1_000));
}

#[test]
fn a_tool_of_which_much_is_said_is_called_by_every_step() {
    let json = |name: &str| serde_json::from_slice::<Value>(&base(name)).expect("JSON");
    let mut index = json("mcp.index.json");
    let tool = &mut index["servers"][0]["capabilities"]["tools"]["list_audiences"];
    tool["description"] = json!("a".repeat(4_000_000));
    tool["inputSchema"]["description"] = json!("a".repeat(4_000_000));
    let steps = (0..1_000).map(|number| {
        let step = with(
            one(number),
            "connector_id",
            json!("connector_acme:audiences"),
        );
        with(step, "tool_id", json!("list"))
    });
    let texts = [plan(steps.collect()), json("tool-pool.json"), allow_all()];
    let mut case = case(texts.map(|it| it.to_string().into_bytes()));
    case.index = Some(sound(lower::index(index.to_string().into_bytes())));
    case.lock = Some(sound(lower::lock(base("agents.lock"))));
    let found = run_case("a long description", case);
    let told = [
        "ARGUMENT_INVALID",
        "INTEGRITY_CHANGED",
        "DEFINITION_CHANGED",
        "SCHEMA_BUDGET",
        "limit_exceeded",
    ];
    assert_eq!(names(&found), told);
}

#[test]
fn rules_are_found_by_their_tool() {
    let steps = plan((0..2_500).map(one).collect());
    let rules = (0..20_000).map(|it| allow(&format!("connector_core:noop/other{it}")));
    let rules = profile(rules.collect());
    let case = case([steps, keep(), rules].map(|it| it.to_string().into_bytes()));
    let started = ProcessorTime::now();
    let answer = authorize_plan(&case.plan, &case.rules, case.context());
    let taken = started.elapsed();
    assert_eq!(answer.denials.len(), 1_000);
    // It takes 2 ms, and 600 if each step asks each rule.
    assert!(taken < Duration::from_millis(250), "{taken:?}");
}

#[test]
fn what_takes_long_to_decide_is_not_decided_often() {
    let text = with(step(0), "input", json!("a"));
    let costly = with(text, "input_schema_ref", json!("urn:example:hostile"));
    let misspelt = (1..=70).map(|it| with(one(it), "tool_id", json!("kepe")));
    let steps = std::iter::once(costly).chain(misspelt);
    let pool = pool_with(exponential(17));
    let texts = [plan(steps.collect()), pool, allow_all()];
    let case = case(texts.map(|it| it.to_string().into_bytes()));
    let answer = authorize_plan(&case.plan, &case.rules, case.context());
    assert_eq!(answer.denials.len(), 70);
    let findings = plan_findings(&case.plan, &case.rules, case.context(), &answer);
    let fixes = plan_fixes(
        &PlanDocuments::new(&case.plan, &case.rules),
        case.context(),
        &answer,
        &findings,
    );
    // Counted, so that it is the same on every machine; by their bytes alone 64 would be found.
    let found = fixes.iter().flatten().count();
    assert!((1..20).contains(&found), "{found}");
}
