//! What an editor asks of the engine: which checks fail, what would be under other constraints,
//! where values stand, and the edits that make a rejected server eligible.

use agent_decide::{Assessment, Change, CheckOutcome, Counterfactual, Failures, Resolution};
use agent_diagnostic::{Applicability, Code, Edit};
use agent_explain::{adopt, apply, edits, offered_at};
use agent_lower as lower;
use agent_model::{
    Constraints as EngineConstraints, Keyword as _, Manifest, Residency, Sensitivity, ServerView,
};
use agent_render as render;
use agent_tests::corpus::{Failures as Failed, cases};
use agent_tests::native;
use agent_tests::text::Style;
use agent_tests::world::{Constraints, World, crowds, styles, worlds};
use agent_text::{DocumentKind, LineIndex, Place, Span, Text};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestCaseResult};

fn config() -> Config {
    Config {
        // A case that fails belongs into the table, where it has a name.
        failure_persistence: None,
        ..Config::default()
    }
}

fn decide(world: &World, style: Style) -> Resolution {
    native::resolution(&world.manifest(style), &world.index(style))
}

/// The codes of all reasons, in the order of the checks.
fn codes(resolution: &Resolution, requirement: usize, server: ServerView<'_>) -> Vec<Code> {
    match resolution.assess(requirement, server) {
        Assessment::Eligible => Vec::new(),
        Assessment::Rejected(reasons) => reasons.as_slice().iter().map(|r| r.code()).collect(),
    }
}

/// Every requirement with every server.
fn pairs(resolution: &Resolution) -> impl Iterator<Item = (usize, ServerView<'_>)> {
    let requirements = 0..resolution.manifest().requirements.len();
    requirements.flat_map(|number| {
        let servers = resolution.index().servers();
        servers.map(move |server| (number, server))
    })
}

fn failures_are_the_codes_of_the_reasons(resolution: &Resolution) -> TestCaseResult {
    for (requirement, server) in pairs(resolution) {
        let expected = codes(resolution, requirement, server);
        let failures = resolution.failures(requirement, server);
        let found: Vec<_> = failures.codes().collect();
        prop_assert_eq!(&found, &expected);
        let record = resolution.checks(requirement, server).into_iter();
        let failed = record.filter(|check| check.outcome == CheckOutcome::Failed);
        let failed: Vec<_> = failed.map(|check| check.code).collect();
        prop_assert_eq!(&failed, &expected);
        prop_assert_eq!(failures.first(), expected.first().copied());
        prop_assert_eq!(failures.len(), expected.len());
        prop_assert_eq!(failures.is_empty(), expected.is_empty());
        prop_assert_eq!(
            failures.is_empty(),
            resolution.is_eligible(requirement, server)
        );
        let bits = expected.iter().fold(0, |bits, code| {
            bits | match code.name() {
                "MISSING_CATEGORY" => 1,
                "TOOL_MISSING" => 2,
                "MISSING_SCOPE" => 4,
                // Those of tools stand between.
                "RESIDENCY_MISMATCH" => 32,
                "SENSITIVITY_EXCEEDED" => 64,
                "UNSIGNED_NOT_ALLOWED" => 128,
                other => panic!("{other} is no check"),
            }
        });
        prop_assert_eq!(failures.bits(), bits);
        prop_assert_eq!(failures, expected.into_iter().collect::<Failures>());
        for code in Code::ALL {
            prop_assert_eq!(failures.contains(*code), found.contains(code));
        }
    }
    Ok(())
}

/// Decide under the constraints of another world, in both ways.
fn supposing_is_resolving(mut world: World, constraints: Constraints) -> TestCaseResult {
    let before = decide(&world, Style::default());
    world.constraints = constraints;
    let asked = |label: &String| {
        let mut requirements = world.requirements.iter();
        requirements.any(|requirement| requirement.permissions.contains(label))
    };
    world.constraints.forbid.retain(|label| !asked(label));
    let expected = decide(&world, Style::default());
    let found = before.suppose(expected.constraints().clone());
    prop_assert_eq!(found.constraints(), expected.constraints());
    prop_assert_eq!(found.outcomes(), expected.outcomes());
    prop_assert_eq!(render::compact(&found), render::compact(&expected));
    prop_assert_eq!(
        render::resolution(&found).ok(),
        render::resolution(&expected).ok()
    );
    let lock = |resolution: &Resolution| resolution.lock().map(|lock| render::lock(&lock));
    prop_assert_eq!(lock(&found), lock(&expected));
    for number in 0..world.requirements.len() {
        prop_assert_eq!(found.funnel(number), expected.funnel(number));
        let nearest = |resolution: &Resolution| format!("{:?}", resolution.nearest(number, 3));
        prop_assert_eq!(nearest(&found), nearest(&expected));
    }
    for (requirement, server) in pairs(&expected) {
        prop_assert_eq!(
            found.failures(requirement, server),
            expected.failures(requirement, server)
        );
    }
    // What was decided first stays as it was.
    prop_assert!(std::ptr::eq(before.index(), found.index()));
    let again = before.suppose(before.constraints().clone());
    prop_assert_eq!(render::compact(&again), render::compact(&before));
    Ok(())
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn to_suppose_constraints_is_to_resolve_a_manifest_that_says_them(
        world in worlds(), other in worlds(),
    ) {
        supposing_is_resolving(world, other.constraints)?;
    }

    #[test]
    fn adopted_constraints_are_in_the_manifest_and_nothing_else_is_different(
        world in worlds(), other in worlds(), style in styles(),
    ) {
        let present = decide(&world, style);
        let supposed = EngineConstraints {
            forbid: present.constraints().forbid.clone(),
            ..decide(&other, style).constraints().clone()
        };
        is_adopted(&present, supposed).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn what_a_check_looked_at_is_found_in_the_index(world in worlds(), style in styles()) {
        let text = String::from_utf8(world.index(style)).expect("UTF-8");
        let resolution = decide(&world, style);
        for server in resolution.index().servers() {
            let expected = world.servers.iter()
                .find(|other| other.id == server.id() && other.version == server.version())
                .expect("a server of the world");
            let mut found = 0;
            let tools = expected.entry().value()["capabilities"]["tools"].clone();
            for code in Code::ALL {
                let Some(place) = offered_at(server, *code) else { continue };
                found += 1;
                prop_assert_eq!(place.source, DocumentKind::Index);
                let lines = LineIndex::new(&text);
                prop_assert_eq!(place.start, lines.position(&text, place.span.start as usize));
                prop_assert_eq!(place.end, lines.position(&text, place.span.end as usize));
                let value = place.span.of(&text);
                let value: serde_json::Value = serde_json::from_str(value).expect(value);
                let expected = match code.name() {
                    "MISSING_CATEGORY" => serde_json::json!(expected.categories),
                    "TOOL_MISSING" => tools.clone(),
                    "MISSING_SCOPE" => serde_json::json!(expected.scopes),
                    "RESIDENCY_MISMATCH" => match &expected.residency[..] {
                        [one] if !expected.residency_as_list => serde_json::json!(one),
                        list => serde_json::json!(list),
                    },
                    "SENSITIVITY_EXCEEDED" => serde_json::json!(expected.max_sensitivity),
                    "UNSIGNED_NOT_ALLOWED" => serde_json::json!(expected.signed),
                    other => panic!("{other} is no check"),
                };
                prop_assert_eq!(value, expected);
            }
            prop_assert_eq!(found, 5 + usize::from(!tools.is_null()));
        }
    }

    #[test]
    fn failures_are_the_codes_of_all_reasons(world in worlds(), style in styles()) {
        failures_are_the_codes_of_the_reasons(&decide(&world, style))?;
    }
}

proptest! {
    // Each is a hundred times as large.
    #![proptest_config(Config { cases: config().cases / 8, ..config() })]

    #[test]
    fn to_suppose_constraints_is_to_resolve_a_manifest_that_says_them_in_a_crowd(
        world in crowds(), other in worlds(),
    ) {
        supposing_is_resolving(world, other.constraints)?;
    }

    #[test]
    fn failures_are_the_codes_of_all_reasons_in_a_crowd(world in crowds()) {
        failures_are_the_codes_of_the_reasons(&decide(&world, Style::default()))?;
    }
}

/// Adopts supposed constraints. Returns the new text, or a violation.
fn is_adopted(present: &Resolution, supposed: EngineConstraints) -> Result<String, String> {
    let set = |it: &EngineConstraints| (it.residency(), it.sensitivity(), it.require_signed());
    let (was, is) = (set(present.constraints()), set(&supposed));
    let manifest = present.manifest();
    let before = manifest.text.as_str();
    let Some(fix) = adopt(present, &present.suppose(supposed.clone())) else {
        return match was == is {
            true => Ok(before.to_owned()),
            false => Err(format!("not adopted: {was:?} {is:?}\n{before}")),
        };
    };
    let after = apply(before, &fix.edits);
    let context = format!("{was:?} {is:?} {fix:#?}\n{before}\n{after}");
    let place = fix.edits[0].place;
    if fix.edits.len() != 1 || manifest.text.place(place.span) != place {
        return Err(format!("another place than its span: {context}"));
    }
    // No sensitivity is that of public data.
    let level = |it: Option<Sensitivity>| it.filter(|level| *level != Sensitivity::Public);
    let widens = level(was.1) > level(is.1) || was.2 && !is.2;
    if was.0 == is.0 && (fix.applicability == Applicability::Unsafe) != widens {
        return Err(format!("widening: {context}"));
    }
    let adopted = lower::manifest(after.clone().into_bytes())
        .map_err(|found| format!("{found:#?}\n{context}"))?
        .value;
    let mut expected = supposed;
    // An explicit `false` may stay.
    expected.require_signed = adopted.constraints.require_signed;
    if set(&adopted.constraints) != is
        || said(manifest, &expected) != said(&adopted, &adopted.constraints)
    {
        return Err(format!("the manifest says something else: {context}"));
    }
    Ok(after)
}

#[test]
fn adopted_constraints_are_written_where_they_belong() {
    let manifest = |constraints: &str| {
        let requires = "requires:\n  mcp:\n    - { category: a, permissions: [] }\n";
        format!("---\nname: a\nversion: 1\n{requires}{constraints}---\n")
    };
    let nested =
        "constraints:\n  # where\n  data:\n    # which\n    residency: \"us-only\" # here\n";
    let flow = "constraints: { data: { residency: us-only } }\n";
    for (constraints, supposed, expected) in [
        // Values are replaced in the quotes that they have.
        (nested, ("eu-only", "", false), nested.replace("us-only", "eu-only")),
        // A missing field comes first in its mapping, so that comments stay with their fields.
        (
            nested,
            ("us-only", "internal", true),
            nested
                .replace("  data:\n", "  data:\n    sensitivity: internal\n")
                .replace("constraints:\n", "constraints:\n  trust:\n    requireSigned: true\n"),
        ),
        (flow, ("us-only", "internal", true), "constraints: { trust: { requireSigned: true }, data: { sensitivity: internal, residency: us-only } }\n".to_owned()),
        ("", ("", "public", false), "constraints:\n  data:\n    sensitivity: public\n".to_owned()),
        ("", ("any", "", true), "constraints:\n  trust:\n    requireSigned: true\n  data:\n    residency: any\n".to_owned()),
        // A mapping without a field would be an error.
        (flow, ("", "", false), String::new()),
        (
            "constraints:\n  data: { sensitivity: internal }\n  trust:\n    requireSigned: true\n",
            ("", "internal", false),
            "constraints:\n  data: { sensitivity: internal }\n".to_owned(),
        ),
        ("constraints:\n  trust:\n    requireSigned: false\n", ("", "", true), "constraints:\n  trust:\n    requireSigned: true\n".to_owned()),
    ] {
        let text = manifest(constraints);
        let present = native::resolution(text.as_bytes(), b"[]");
        let unwritten = |value| agent_text::Spanned {
            value,
            span: Span::default(),
        };
        let (residency, sensitivity, signed) = supposed;
        let supposed = EngineConstraints {
            residency: Residency::parse(residency).map(unwritten),
            sensitivity: Sensitivity::parse(sensitivity).map(|value| agent_text::Spanned { value, span: Span::default() }),
            require_signed: signed.then(|| agent_text::Spanned { value: true, span: Span::default() }),
            ..EngineConstraints::default()
        };
        let found = is_adopted(&present, supposed).expect("adopted");
        assert_eq!(found, manifest(&expected));
        // The same with the line ends of another system.
        let text = text.replace('\n', "\r\n");
        let present = native::resolution(text.as_bytes(), b"[]");
        let supposed = native::resolution(found.as_bytes(), b"[]").constraints().clone();
        let found = is_adopted(&present, supposed).expect("adopted");
        assert_eq!(found, manifest(&expected).replace('\n', "\r\n"));
    }
}

#[test]
fn an_adopted_constraint_that_admits_more_is_unsafe() {
    let text = "---\nname: a\nversion: 1\nrequires:\n  mcp:\n    - { category: a, permissions: [] }\nconstraints:\n  data:\n    residency: us-only\n    sensitivity: internal\n---\n";
    let present = native::resolution(text.as_bytes(), b"[]");
    for (from, to, applicability, title) in [
        (
            "internal",
            "pii.low",
            Applicability::Safe,
            "set `constraints.data.sensitivity` to `pii.low`",
        ),
        (
            "internal",
            "public",
            Applicability::Unsafe,
            "set `constraints.data.sensitivity` to `public`",
        ),
        (
            "    residency: us-only\n",
            "",
            Applicability::Unsafe,
            "drop `constraints.data.residency`",
        ),
        // Others than before are admitted.
        (
            "us-only",
            "eu-only",
            Applicability::Unsafe,
            "set `constraints.data.residency` to `eu-only`",
        ),
    ] {
        let supposed = native::resolution(text.replace(from, to).as_bytes(), b"[]");
        let fix = adopt(&present, &supposed).expect("a fix");
        assert_eq!((fix.applicability, &*fix.title), (applicability, title));
        let [edit] = &fix.edits[..] else {
            panic!("{fix:#?}");
        };
        let words = (edit.place.span.of(text).trim(), edit.replacement.trim());
        assert_eq!(words, (from.trim(), to));
    }
    assert_eq!(adopt(&present, &present), None);
}

/// The texts of a manifest and an index.
struct Texts<'t> {
    manifest: &'t str,
    index: &'t str,
}

/// Returns the two texts after the edits of a counterfactual, or a violation. The edits must be
/// ordered and disjoint. Their result must be valid, make the server eligible and change nothing
/// else.
fn edited(
    texts: &Texts<'_>,
    resolution: &Resolution,
    requirement: usize,
    server: ServerView<'_>,
    fix: &Counterfactual<'_>,
) -> Result<[String; 2], String> {
    let edits = edits(resolution, requirement, server, fix).ok_or("no edits")?;
    if edits.is_empty() || !edits.is_sorted_by(|a, b| a.place.span.end <= b.place.span.start) {
        return Err(format!("empty, disordered or overlapping: {edits:#?}"));
    }
    for Edit { place, .. } in &edits {
        let text = match place.source {
            DocumentKind::Manifest => texts.manifest,
            _ => texts.index,
        };
        let text = Text::new(place.source, text.to_owned());
        if text.place(place.span) != *place {
            return Err(format!("another place than its span: {place:?}"));
        }
        if (place.source == DocumentKind::Manifest) != fix.widening {
            return Err(format!("the other input: {place:?}"));
        }
    }
    let [manifest, index] = if fix.widening {
        [apply(texts.manifest, &edits), texts.index.to_owned()]
    } else {
        [texts.manifest.to_owned(), apply(texts.index, &edits)]
    };
    let context = format!("{manifest}\n{index}\n{edits:#?}");
    let wrong = |what: &str| Err(format!("{what}\n{context}"));

    let new_manifest = lower::manifest(manifest.clone().into_bytes())
        .map_err(|found| format!("{found:#?}\n{context}"))?;
    let new_index = lower::index(index.clone().into_bytes())
        .map_err(|found| format!("{found:#?}\n{context}"))?;
    let before = (
        lower::manifest(texts.manifest.as_bytes().to_vec()).map(|read| read.warnings.len()),
        lower::index(texts.index.as_bytes().to_vec()).map(|read| read.warnings.len()),
    );
    let after = (
        Ok(new_manifest.warnings.len()),
        Ok(new_index.warnings.len()),
    );
    if before != after {
        return wrong("other warnings");
    }

    // The manifest requires the same, except for the relaxed constraints.
    let mut expected = resolution.constraints().clone();
    relax(fix, &mut expected);
    if said(resolution.manifest(), &expected)
        != said(&new_manifest.value, &new_manifest.value.constraints)
    {
        return wrong("the manifest says something else");
    }
    // The index has the same entries but for the one that was extended.
    let mut expected: serde_json::Value =
        serde_json::from_str(texts.index.trim_start_matches('\u{feff}')).expect("JSON");
    let mut found: serde_json::Value =
        serde_json::from_str(index.trim_start_matches('\u{feff}')).expect("JSON");
    for index in [&mut expected, &mut found] {
        let servers = if index.is_array() {
            &mut *index
        } else {
            &mut index["servers"]
        };
        let entry = servers
            .as_array_mut()
            .expect("an array")
            .iter_mut()
            .find(|entry| entry["id"] == server.id() && entry["version"] == server.version());
        extend(fix, entry.expect("the server"));
    }
    if expected != found {
        return wrong("the index says something else");
    }

    let (id, version) = (server.id().to_owned(), server.version().to_owned());
    let after = native::resolution(manifest.as_bytes(), index.as_bytes());
    let mut versions = after.index().versions(&id);
    let Some(server) = versions.find(|server| server.version() == version) else {
        return wrong("the server is gone");
    };
    if !after.is_eligible(requirement, server) {
        return wrong("the server is not eligible");
    }
    Ok([manifest, index])
}

/// What a manifest says, wherever it says it.
fn said(manifest: &Manifest, constraints: &EngineConstraints) -> String {
    let requirements = manifest.requirements.iter().map(|requirement| {
        let permissions = requirement.permissions.iter().map(|p| &p.value);
        (&requirement.category.value, permissions.collect::<Vec<_>>())
    });
    let text = manifest.text.as_str();
    let body = text
        .lines()
        .skip(1)
        .skip_while(|line| !["---", "..."].contains(&line.trim_end()));
    format!(
        "{:?} {:?} {:?} {:?} {:?} {:?} {:?}",
        manifest.agent,
        requirements.collect::<Vec<_>>(),
        constraints
            .forbid
            .iter()
            .map(|f| &f.value)
            .collect::<Vec<_>>(),
        constraints.residency(),
        constraints.sensitivity(),
        constraints.require_signed.map(|signed| signed.value),
        body.collect::<Vec<_>>(),
    )
}

/// Relax constraints as a counterfactual says.
fn relax(fix: &Counterfactual<'_>, constraints: &mut EngineConstraints) {
    for change in &fix.changes {
        match change {
            Change::DropResidency => constraints.residency = None,
            Change::AllowUnsigned => constraints.require_signed = None,
            Change::LowerSensitivity(level) => {
                let sensitivity = constraints.sensitivity.as_mut();
                sensitivity.expect("it is too high").value = *level;
            }
            _ => {}
        }
    }
}

/// Add to an entry what a counterfactual says, where it isn't there, without regard to the
/// formatting.
fn extend(fix: &Counterfactual<'_>, entry: &mut serde_json::Value) {
    let add = |list: &mut serde_json::Value, name: &str| {
        if list.is_string() {
            *list = serde_json::json!([list]);
        }
        let list = list.as_array_mut().expect("a list");
        if !list.contains(&serde_json::json!(name)) {
            list.push(serde_json::json!(name));
        }
    };
    for change in &fix.changes {
        match change {
            Change::AddCategory(name) => add(&mut entry["categories"], name),
            Change::AddScope(name) => add(&mut entry["scopes"], name),
            Change::AddResidency(name) => add(&mut entry["data"]["residency"], name.as_str()),
            Change::RaiseSensitivity(level) => {
                entry["data"]["maxSensitivity"] = serde_json::json!(level.as_str());
            }
            Change::Sign => entry["trust"]["signed"] = serde_json::json!(true),
            _ => {}
        }
    }
}

/// Try the edits of every counterfactual.
fn every_counterfactual(texts: &Texts<'_>) -> Result<usize, String> {
    let resolution = native::resolution(texts.manifest.as_bytes(), texts.index.as_bytes());
    let mut count = 0;
    for (requirement, server) in pairs(&resolution) {
        let Some(near) = resolution.near(requirement, server) else {
            continue;
        };
        for fix in &near.fixes {
            // The definition of a tool can't be made up.
            if fix
                .changes
                .iter()
                .any(|it| matches!(it, Change::AddTool(_)))
            {
                assert_eq!(edits(&resolution, requirement, server, fix), None);
                continue;
            }
            edited(texts, &resolution, requirement, server, fix)
                .map_err(|what| format!("{} {fix:?}: {what}", server.id()))?;
            count += 1;
        }
    }
    Ok(count)
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn edits_make_the_server_eligible_and_change_nothing_else(
        world in worlds(), style in styles(),
    ) {
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        let (manifest, index) = (text(world.manifest(style)), text(world.index(style)));
        let texts = Texts { manifest: &manifest, index: &index };
        if let Err(what) = every_counterfactual(&texts) {
            return Err(TestCaseError::fail(format!("{what}\nof\n{manifest}\n{index}")));
        }
    }
}

#[test]
fn edits_make_every_rejected_server_of_the_corpus_eligible() {
    let mut failures = Failed::default();
    let mut count = 0;
    for case in cases("resolve") {
        let read = |file| String::from_utf8(case.input(file).expect("an input")).expect("UTF-8");
        let (manifest, index) = (read("agents.md"), read("mcp.index.json"));
        let valid = lower::manifest(manifest.clone().into_bytes()).is_ok()
            && lower::index(index.clone().into_bytes()).is_ok();
        let texts = Texts {
            manifest: &manifest,
            index: &index,
        };
        if valid {
            match every_counterfactual(&texts) {
                Ok(more) => count += more,
                Err(what) => failures.add(&case.name(), what),
            }
        }
    }
    failures.finish();
    assert!(count > 50, "{count} counterfactuals");
}

const SERVER: &str = r#"[{
  "id": "s", "version": "1", "endpoint": "https://mcp.example",
  "categories": ["c"], "scopes": [],
  "data": { "residency": "eu-only", "maxSensitivity": "internal" },
  "trust": { "signed": false, "publisher": "p" }
}]"#;

/// Relax the manifest for [`SERVER`], and compare the whole text.
fn relaxes(before: &str, after: &str) {
    let resolution = native::resolution(before.as_bytes(), SERVER.as_bytes());
    let server = resolution.index().server(0);
    let near = resolution.near(0, server).expect("it is rejected");
    let fix = near.fixes.last().expect("a fix");
    assert!(fix.widening, "{fix:?}");
    let texts = Texts {
        manifest: before,
        index: SERVER,
    };
    match edited(&texts, &resolution, 0, server, fix) {
        Ok([found, _]) => assert_eq!(found, after, "of\n{before}"),
        Err(what) => panic!("{what}\nof\n{before}"),
    }
}

/// The same for what a frontmatter says behind what it must say.
fn relaxes_constraints(before: &str, after: &str) {
    let manifest = |constraints: &str| {
        format!(
            "---\nname: a\nversion: 1\nrequires:\n  mcp:\n    - {{category: c, permissions: []}}\n\
             {constraints}---\nA body.\n---\n"
        )
    };
    relaxes(&manifest(before), &manifest(after));
    // Line ends and a byte order mark are as they were.
    let crlf = |text: &str| format!("\u{feff}{}", manifest(text).replace('\n', "\r\n"));
    relaxes(&crlf(before), &crlf(after));
}

#[test]
fn a_field_in_block_style_goes_with_its_line() {
    for (before, after) in [
        (
            "constraints:\n  data:\n    residency: us-only\n    sensitivity: public\n",
            "constraints:\n  data:\n    sensitivity: public\n",
        ),
        (
            "constraints:\n  data:\n    sensitivity: public\n    residency: us-only   # why\nother: 1\n",
            "constraints:\n  data:\n    sensitivity: public\nother: 1\n",
        ),
        // Comments on other lines stay, and blank lines.
        (
            "constraints:\n  data:\n    # one\n    residency: us-only # two\n    # three\n\n    sensitivity: public\n",
            "constraints:\n  data:\n    # one\n    # three\n\n    sensitivity: public\n",
        ),
        // Unusual indentation, tabs, quotes.
        (
            "constraints:\n         data:\n            \"residency\" :\t'us-only'\t# x\n            sensitivity: public\n",
            "constraints:\n         data:\n            sensitivity: public\n",
        ),
        (
            "\"constraints\":\n 'data':\n  \"r\\x65sidency\":\n      us-only\n  sensitivity: public\n",
            "\"constraints\":\n 'data':\n  sensitivity: public\n",
        ),
        // Values on further lines.
        (
            "constraints:\n  data:\n    residency: |-\n      us-only\n    sensitivity: public\n",
            "constraints:\n  data:\n    sensitivity: public\n",
        ),
        (
            "constraints:\n  data:\n    residency: \"us\\\n      -only\"\n    sensitivity: public\n",
            "constraints:\n  data:\n    sensitivity: public\n",
        ),
        // Keys and values behind indicators.
        (
            "constraints:\n  ? data\n  : ? residency\n    : us-only\n    ? sensitivity\n    : public\n",
            "constraints:\n  ? data\n  : ? sensitivity\n    : public\n",
        ),
        (
            "constraints:\n  ? data\n  : residency: us-only\n    sensitivity: public\n  trust:\n    requireSigned: false\n",
            "constraints:\n  ? data\n  : sensitivity: public\n  trust:\n    requireSigned: false\n",
        ),
    ] {
        relaxes_constraints(before, after);
    }
}

#[test]
fn what_a_removal_empties_goes_too() {
    for (before, after) in [
        ("constraints:\n  data:\n    residency: us-only\n", ""),
        (
            "constraints:\n  data:\n    residency: us-only\n  actions:\n    forbid: [x]\n",
            "constraints:\n  actions:\n    forbid: [x]\n",
        ),
        (
            "constraints:\n  trust:\n    requireSigned: true\nother: 1\n",
            "other: 1\n",
        ),
        (
            "constraints:\n  data: # why\n    residency: us-only\n  trust:\n    requireSigned: true\n",
            "",
        ),
        (
            "constraints:\n  data:\n    residency: us-only\n    sensitivity: confidential\n  trust:\n    requireSigned: true\n",
            "constraints:\n  data:\n    sensitivity: internal\n",
        ),
        // A field that is not known is a field.
        (
            "constraints:\n  data:\n    residency: us-only\n    x-region: x\n",
            "constraints:\n  data:\n    x-region: x\n",
        ),
        // Comments on separate lines stay where they are.
        (
            "# zero\nconstraints: # a\n  # one\n  data: # b\n    # two\n    residency: us-only # c\n    # three\nother: 1\n",
            "# zero\n  # one\n    # two\n    # three\nother: 1\n",
        ),
        // But not where they would become a part of a text.
        (
            "other: |\n  text\nconstraints:\n  # one\n  data:\n    residency: us-only\n  # two\n\n# three\nlast: 1\n",
            "other: |\n  text\nlast: 1\n",
        ),
        (
            "other: |+\n  text\nconstraints:\n  data:\n    residency: us-only\n\nlast: 1\n",
            "other: |+\n  text\nlast: 1\n",
        ),
        ("constraints: {data: {residency: us-only}}\n", ""),
        (
            "constraints: {\n  data: {residency: us-only, }, # x\n  # y\n  trust: {requireSigned: true}\n  }\nother: 1\n",
            "  # y\nother: 1\n",
        ),
        (
            "? constraints\n: ? data\n  : residency: us-only\nother: 1\n",
            "other: 1\n",
        ),
    ] {
        relaxes_constraints(before, after);
    }
}

#[test]
fn a_field_in_flow_style_goes_with_one_comma() {
    for (before, after) in [
        (
            "{residency: us-only, sensitivity: public}",
            "{sensitivity: public}",
        ),
        (
            "{ sensitivity: public, residency: us-only }",
            "{ sensitivity: public }",
        ),
        (
            "{sensitivity: public,residency: us-only,}",
            "{sensitivity: public,}",
        ),
        (
            "{sensitivity: public , residency: us-only , }",
            "{sensitivity: public , }",
        ),
        (
            "{x-a: 1, residency: us-only, sensitivity: public}",
            "{x-a: 1, sensitivity: public}",
        ),
        (
            "{\"residency\":\"us-only\",\"sensitivity\":\"public\"}",
            "{\"sensitivity\":\"public\"}",
        ),
        (
            "{? residency : us-only, ? sensitivity : public}",
            "{? sensitivity : public}",
        ),
        (
            "{? sensitivity : public, ? residency : us-only}",
            "{? sensitivity : public}",
        ),
        (
            "{x-a, residency: us-only, x-b: [1, {z: 2}]}",
            "{x-a, x-b: [1, {z: 2}]}",
        ),
        ("{x-a: , residency: us-only}", "{x-a: }"),
        ("{x-a: '}, #', residency: us-only}", "{x-a: '}, #'}"),
        // On several lines.
        (
            "{\n    residency: us-only, # why\n    # about it\n    sensitivity: public\n  }",
            "{\n    # about it\n    sensitivity: public\n  }",
        ),
        (
            "{\n    sensitivity: public,\n    residency: us-only # why\n  }",
            "{\n    sensitivity: public\n  }",
        ),
        (
            "{\n    sensitivity: public, # a, b\n    # c\n    residency: us-only\n  }",
            "{\n    sensitivity: public # a, b\n    # c\n  }",
        ),
        (
            "{ residency: us-only,\n    sensitivity: public }",
            "{ sensitivity: public }",
        ),
        (
            "{residency: us-only, # why\n    # about it\n    sensitivity: public }",
            "{\n    # about it\n    sensitivity: public }",
        ),
        (
            "{ residency: us-only\n  , sensitivity: public\n  , x-a: 1 }",
            "{ sensitivity: public\n  , x-a: 1 }",
        ),
        (
            "{ sensitivity: public\n  , residency: us-only\n  , x-a: 1 }",
            "{ sensitivity: public\n  , x-a: 1 }",
        ),
        (
            "{ sensitivity: public\n  , residency: us-only\n  }",
            "{ sensitivity: public\n  }",
        ),
    ] {
        relaxes_constraints(
            &format!("constraints:\n  data: {before} # behind\n"),
            &format!("constraints:\n  data: {after} # behind\n"),
        );
    }
    for (before, after) in [
        (
            "constraints: {data: {residency: us-only}, trust: {requireSigned: true}, actions: {forbid: [x]}} # y\n",
            "constraints: {actions: {forbid: [x]}} # y\n",
        ),
        (
            "constraints: {actions: {forbid: [x]}, data: {residency: us-only}, trust: {requireSigned: true}}\n",
            "constraints: {actions: {forbid: [x]}}\n",
        ),
        (
            "constraints: {data: {residency: us-only, sensitivity: pii.high}, actions: {forbid: [x]}, trust: {requireSigned: true}}\n",
            "constraints: {data: {sensitivity: internal}, actions: {forbid: [x]}}\n",
        ),
    ] {
        relaxes_constraints(before, after);
    }
    relaxes(
        "---\n{name: a, constraints: {trust: {requireSigned: true}},\n  version: 1, requires: {mcp: [{category: c, permissions: []}]}}\n---\n",
        "---\n{name: a, version: 1, requires: {mcp: [{category: c, permissions: []}]}}\n---\n",
    );
    relaxes(
        "---\n{name: a, version: 1, requires: {mcp: [{category: c, permissions: []}]}, constraints: {trust: {requireSigned: true}}}\n---\n",
        "---\n{name: a, version: 1, requires: {mcp: [{category: c, permissions: []}]}}\n---\n",
    );
}

#[test]
fn a_level_is_lowered_in_its_quotes() {
    for (before, after) in [
        ("pii.low", "internal"),
        ("'pii.low'", "'internal'"),
        ("\"pii.low\"", "\"internal\""),
        ("\"pii\\x2elow\"   # 'why'", "\"internal\"   # 'why'"),
        ("'pii.low' # why", "'internal' # why"),
        ("|-\n      pii.low", "|-\n      internal"),
        (
            "\n      pii.low\n      # why",
            "\n      internal\n      # why",
        ),
        ("\t\"pii.\\\n      low\"", "\t\"internal\""),
    ] {
        relaxes_constraints(
            &format!("constraints:\n  data:\n    sensitivity: {before}\n"),
            &format!("constraints:\n  data:\n    sensitivity: {after}\n"),
        );
    }
    relaxes_constraints(
        "constraints: {data: {sensitivity: 'pii.low' }} # why\n",
        "constraints: {data: {sensitivity: 'internal' }} # why\n",
    );
}

const MANIFEST: &str = "---\nname: a\nversion: 1\nrequires:\n  mcp:\n    \
    - category: \"c\\\"\\\\\"\n      permissions: [r, \"w ä\"]\n\
    constraints: {data: {residency: us-only, sensitivity: confidential}, trust: {requireSigned: true}}\n---\n";

/// Extend an index for [`MANIFEST`], and compare the whole text.
fn extends(before: &str, after: &str) {
    let resolution = native::resolution(MANIFEST.as_bytes(), before.as_bytes());
    let mut servers = resolution.index().servers();
    let server = servers.find(|server| server.id() == "s").expect("a server");
    let near = resolution.near(0, server).expect("it is rejected");
    let texts = Texts {
        manifest: MANIFEST,
        index: before,
    };
    match edited(&texts, &resolution, 0, server, &near.fixes[0]) {
        Ok([_, found]) => assert_eq!(found, after, "of\n{before}"),
        Err(what) => panic!("{what}\nof\n{before}"),
    }
}

/// The same for the members of an entry; those that are not given are as they must be.
fn extends_entry(member: &str, before: &str, after: &str) {
    let entry = |value: &str| {
        let get = |name, usual| if name == member { value } else { usual };
        format!(
            "{{\"id\": \"s\", \"version\": \"1\", \"endpoint\": \"pkg:generic/e\", \"categories\": {}, \
             \"sc\\u006fpes\": {}, \"data\": {{\"residency\": {}, \"maxSensitivity\":{}}}, \
             \"x\": {{\"scopes\": [ ]}}, \"trust\": {{\"signed\": {}, \"publisher\": \"p\"}}}}",
            get("categories", "[\"c\\\"\\\\\"]"),
            get("scopes", "[\"w ä\",\"r\"]"),
            get("residency", "\"any\""),
            get("maxSensitivity", "\"pii.high\""),
            get("signed", "true"),
        )
    };
    let other = r#"{"id":"ä","version":"1","endpoint":"pkg:generic/e","categories":[],"scopes":[],"data":{"residency":["us-only"],"maxSensitivity":"public"},"trust":{"signed":false,"publisher":"p"}}"#;
    for (start, end) in [
        ("[", "]"),
        ("\u{feff}[\r\n\t", "\r\n]\r\n"),
        ("{\"servers\" : [\n", "], \"x\": [ ]}\n"),
    ] {
        let index = |value: &str| {
            format!(
                "{start}{other}, {} , {}{end}",
                entry(value),
                other.replace("\"1\"", "\"2\"")
            )
        };
        extends(&index(before), &index(after));
    }
}

#[test]
fn names_are_added_as_the_last_one_was() {
    for (before, after) in [
        ("[]", r#"["r", "w ä"]"#),
        ("[ \n ]", r#"["r", "w ä"]"#),
        (r#"["r"]"#, r#"["r", "w ä"]"#),
        (r#"[ "r" ]"#, r#"[ "r", "w ä" ]"#),
        (r#"["x", "r"]"#, r#"["x", "r", "w ä"]"#),
        (r#"["x","r"]"#, r#"["x","r","w ä"]"#),
        (r#"[ "x" ,"\u0072" ]"#, r#"[ "x" ,"\u0072" ,"w ä" ]"#),
        (r#"["x", "y"]"#, r#"["x", "y", "r", "w ä"]"#),
        ("[\n    \"r\"\n  ]", "[\n    \"r\",\n    \"w ä\"\n  ]"),
        (
            "[\r\n\t\"x\",\r\n\t\"y\"\r\n]",
            "[\r\n\t\"x\",\r\n\t\"y\",\r\n\t\"r\",\r\n\t\"w ä\"\r\n]",
        ),
        (
            "[\n  \"x\"\n  , \"r\"\n]",
            "[\n  \"x\"\n  , \"r\"\n  , \"w ä\"\n]",
        ),
        ("[\n  \"x\", \"r\"\n]", "[\n  \"x\", \"r\", \"w ä\"\n]"),
        (
            "[\n\n  \"x\",\n  \n   \"r\"\n\n]",
            "[\n\n  \"x\",\n  \n   \"r\",\n   \"w ä\"\n\n]",
        ),
        ("[\n\n   \"r\"]", "[\n\n   \"r\",\n   \"w ä\"]"),
    ] {
        extends_entry("scopes", before, after);
    }
    for (before, after) in [
        ("[]", r#"["c\"\\"]"#),
        (r#"["c", "c"]"#, r#"["c", "c", "c\"\\"]"#),
    ] {
        extends_entry("categories", before, after);
    }
}

#[test]
fn a_residency_becomes_a_list() {
    for (before, after) in [
        (r#""eu-only""#, r#"["eu-only", "us-only"]"#),
        (r#""eu\u002donly""#, r#"["eu\u002donly", "us-only"]"#),
        (r#"["eu-only"]"#, r#"["eu-only", "us-only"]"#),
        ("[\n\"eu-only\"\n]", "[\n\"eu-only\",\n\"us-only\"\n]"),
    ] {
        extends_entry("residency", before, after);
    }
}

#[test]
fn single_values_are_replaced() {
    extends_entry("maxSensitivity", r#""public""#, r#""confidential""#);
    extends_entry(
        "maxSensitivity",
        " \"int\\u0065rnal\"\n",
        " \"confidential\"\n",
    );
    extends_entry("signed", "false", "true");
}

#[test]
fn all_changes_of_an_entry_are_made_together() {
    extends(
        r#"[{"trust":{"publisher":"p","signed":false},"data":{"maxSensitivity":"public","residency":"eu-only"},"scopes":[],"categories":[],"endpoint":"pkg:generic/e","version":"1","id":"s"}]"#,
        r#"[{"trust":{"publisher":"p","signed":true},"data":{"maxSensitivity":"confidential","residency":["eu-only", "us-only"]},"scopes":["r", "w ä"],"categories":["c\"\\"],"endpoint":"pkg:generic/e","version":"1","id":"s"}]"#,
    );
}

#[test]
fn there_are_no_edits_that_would_not_do() {
    let manifest = MANIFEST
        .replace("\"c\\\"\\\\\"", "c")
        .replace("r, \"w ä\"", "");
    let resolution = native::resolution(manifest.as_bytes(), SERVER.as_bytes());
    let server = resolution.index().server(0);
    let fixes = resolution.near(0, server).expect("it is rejected").fixes;
    let [extending, relaxing] = &fixes[..] else {
        panic!("{fixes:?}");
    };
    for fix in &fixes {
        assert!(edits(&resolution, 0, server, fix).is_some());
        // Not for a requirement that isn't there.
        assert_eq!(edits(&resolution, 1, server, fix), None);
        // Each change is needed.
        for left_out in 0..fix.changes.len() {
            let mut fewer = fix.clone();
            fewer.changes.remove(left_out);
            assert_eq!(edits(&resolution, 0, server, &fewer), None);
        }
    }
    // A level is needed that is not too high.
    let level = |level| Counterfactual {
        changes: relaxing
            .changes
            .iter()
            .map(|change| match change {
                Change::LowerSensitivity(_) => level,
                other => *other,
            })
            .collect(),
        widening: true,
    };
    let high = Change::LowerSensitivity(Sensitivity::PiiHigh);
    assert_eq!(edits(&resolution, 0, server, &level(high)), None);

    // Supposed constraints have no place in the text, so no edit can relax them.
    let free = manifest.replace("constraints", "x-other");
    let free = native::resolution(free.as_bytes(), SERVER.as_bytes());
    let supposed = free.suppose(resolution.constraints().clone());
    let server = supposed.index().server(0);
    assert_eq!(edits(&supposed, 0, server, relaxing), None);
    assert!(edits(&supposed, 0, server, extending).is_some());
}

#[test]
fn edits_that_do_not_fit_are_passed_over() {
    let text = Text::new(DocumentKind::Manifest, "a ä b".repeat(9));
    let edit = |start, end, replacement: &str| Edit {
        place: Place {
            span: Span { start, end },
            ..text.place(Span::default())
        },
        replacement: replacement.to_owned(),
    };
    assert_eq!(apply("a ä b", &[]), "a ä b");
    assert_eq!(
        apply(
            "a ä b",
            &[
                edit(0, 0, "x"),
                edit(0, 1, "y"),
                edit(5, 6, ""),
                edit(6, 6, "z")
            ]
        ),
        "xy ä z"
    );
    for edit in [
        edit(3, 4, "x"),
        edit(2, 3, "x"),
        edit(6, 7, "x"),
        edit(9, 9, "x"),
        edit(2, 1, "x"),
    ] {
        assert_eq!(apply("a ä b", &[edit]), "a ä b");
    }
    assert_eq!(apply("a ä b", &[edit(1, 5, "x"), edit(0, 1, "y")]), "axb");
}
