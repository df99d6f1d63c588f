//! Bundles: what a fleet decides by, in one signed file.
//!
//! Nothing here is signed: a host verifies signatures, and the tests say what it found.

use super::decision_point::{asked, point, reasons};
use super::{World, at, server};
use agent_bundle::{Bundle, Draft, Highest, Label, TrustedKeys};
use agent_model::Load;
use agent_session::{Clock, Code, DecisionPoint, Diagnostic, Documents};
use proptest::prelude::*;
use serde_json::{Value, json};

/// The end of the bundles of the tests, and the moment at which they are accepted.
const END: &str = "2027-01-31T12:00:00Z";

/// 2027-01-31T12:00:00Z in milliseconds since 1970.
const END_MS: u64 = 1_801_396_800_000;

/// The base64 of an Ed25519 public key in DER: that of RFC 8410, section 10.1.
const PUBLIC: &str = "MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=";

/// Another one, whose bytes are all 0.
const OTHER: &str = "MCowBQYDK2VwAyEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";

fn label(sequence: u64) -> Label {
    Label::new("support", sequence, END).expect("a label")
}

fn file(documents: Documents, label: &Label) -> Value {
    let draft = Draft::new(documents, label).unwrap_or_else(|found| panic!("{found:#?}"));
    let text = draft.signed("key", b"signature").expect("a bundle");
    assert!(text.ends_with("}\n"));
    serde_json::from_str(&text).expect("JSON")
}

fn read(file: &Value) -> Result<Bundle, Vec<Diagnostic>> {
    Bundle::read(file.to_string().as_bytes())
}

fn bundle(sequence: u64) -> Bundle {
    read(&file(World::usual().documents(), &label(sequence))).expect("a bundle")
}

/// Reads keys that may sign the bundle `support`, each with further members.
fn keys(each: &[Value]) -> TrustedKeys {
    let whole = |(number, more): (usize, &Value)| {
        let mut key = json!({
            "name": format!("key-{number}"), "public_key": PUBLIC, "bundles": ["support"],
        });
        let members = key.as_object_mut().expect("an object");
        members.extend(more.as_object().expect("an object").clone());
        key
    };
    let keys: Vec<_> = each.iter().enumerate().map(whole).collect();
    let text = json!({ "keys": keys }).to_string();
    TrustedKeys::read(text.into_bytes()).unwrap_or_else(|found| panic!("{found:#?}"))
}

fn moment(unix_ms: u64) -> Clock {
    Clock { unix_ms, ..at(0) }
}

/// Opens a decision point with the bundle of a world, and its snapshot of health.
pub(crate) fn bundled(world: &World) -> DecisionPoint {
    let bundle = read(&file(world.documents(), &label(1))).expect("a bundle");
    let accepted = bundle.accept(&keys(&[json!({})]), &[true], "support", None, at(0));
    let documents = Documents {
        health: world.documents().health,
        ..accepted.expect("a bundle that decides").documents
    };
    DecisionPoint::open(documents).expect("a decision point")
}

/// Returns the codes and the messages of diagnostics.
fn shown(found: &[Diagnostic]) -> Vec<String> {
    let shown = found.iter();
    shown
        .map(|it| format!("{}: {}", it.code.name(), it.message))
        .collect()
}

#[test]
fn the_same_documents_and_label_give_the_same_bytes() {
    let mut world = World::usual();
    let locked = world.documents();
    let made = |documents, sequence| {
        let draft = Draft::new(documents, &label(sequence)).expect("a draft");
        (draft.to_sign(), draft.signed("key", b"1").expect("a file"))
    };
    let first = made(locked.clone(), 7);
    assert_eq!(first, made(locked.clone(), 7));
    assert_ne!(first.0, made(locked.clone(), 8).0);
    // What no selection names is in no bundle, nor is health.
    world
        .servers
        .push(server("unlocked", json!({ "other": {} })));
    world.servers.rotate_left(2);
    let more = Documents {
        index: Some(world.index().into_bytes()),
        health: Some(json!({ "files": "HEALTHY" }).to_string().into_bytes()),
        ..locked
    };
    assert_eq!(first, made(more, 7));
    assert!(!first.1.contains("unlocked"));
    let head = b"DSSEv1 28 application/vnd.in-toto+json ";
    assert!(first.0.starts_with(head), "{:?}", first.0);
}

#[test]
fn a_bundle_holds_what_was_put_into_it() {
    let mut world = World::usual();
    world.documents.tenant_id = Some("acme".to_owned());
    world.documents.tenant = Some(b"tenants:\n  - id: acme\n".to_vec());
    let documents = world.documents();
    let bundle = read(&file(documents.clone(), &label(7))).expect("a bundle");
    assert_eq!(*bundle.label(), label(7));
    assert_eq!(bundle.label().not_after(), "2027-01-31T12:00:00.000Z");
    let accepted = bundle.accept(
        &keys(&[json!({})]),
        &[true],
        "support",
        None,
        moment(END_MS),
    );
    let accepted = accepted.unwrap_or_else(|found| panic!("{found:#?}"));
    assert_eq!(accepted.digest, bundle.digest());
    let held = accepted.documents;
    assert_eq!(held.lock, documents.lock);
    assert_eq!(held.definitions, documents.definitions);
    assert_eq!(held.tenant, documents.tenant);
    assert_eq!(held.tenant_id, documents.tenant_id);
    let by_bundle = DecisionPoint::open(held).expect("a decision point");
    for (tool, arguments) in [
        ("files/read", json!({ "path": "a" })),
        ("files/read", json!({ "path": 1 })),
        ("files/wipe", json!({})),
        ("files/remove", json!({})),
        ("aws/s3_put", json!({ "key": "a" })),
    ] {
        let call = asked(tool, &arguments);
        let decide = |it: &DecisionPoint| reasons(&it.decide(&call, at(0)).expect("a decision"));
        assert_eq!(decide(&by_bundle), decide(&point(&world)), "{tool}");
    }
}

#[test]
fn documents_that_nobody_can_obey_are_in_no_bundle() {
    let mut documents = World::usual().documents();
    documents.index = Some(b"[]".to_vec());
    let found = Draft::new(documents, &label(1)).expect_err("a drift");
    assert!(
        found.iter().all(|it| it.code == Code::ServerRemoved),
        "{found:#?}"
    );
    let found = Draft::new(Documents::default(), &label(1)).expect_err("no lock");
    assert_eq!(found[0].code, Code::LockMissing);
}

#[test]
fn a_label_has_its_form() {
    for (name, sequence, end) in [
        ("support", 0, END),
        ("0.a_b-c", (1 << 53) - 1, "9999-12-31T23:59:59.999Z"),
        (&*"a".repeat(64), 1, "1970-01-01T00:00:00Z"),
    ] {
        assert!(Label::new(name, sequence, end).is_ok(), "{name} {end}");
    }
    for (name, sequence, end, codes) in [
        ("", 1, END, vec![Code::InvalidName]),
        ("Support", 1, END, vec![Code::InvalidName]),
        ("-support", 1, END, vec![Code::InvalidName]),
        ("a/b", 1, END, vec![Code::InvalidName]),
        (&*"a".repeat(65), 1, END, vec![Code::InvalidName]),
        ("a", 1 << 53, END, vec![Code::NumberOutOfRange]),
        ("a", 1, "2027-01-31", vec![Code::UnknownValue]),
        (
            "a",
            1,
            "2027-01-31T12:00:00+01:00",
            vec![Code::UnknownValue],
        ),
        ("a", 1, "2027-02-30T12:00:00Z", vec![Code::UnknownValue]),
        (
            "A",
            1 << 53,
            "",
            vec![
                Code::InvalidName,
                Code::NumberOutOfRange,
                Code::UnknownValue,
            ],
        ),
    ] {
        let found = Label::new(name, sequence, end).expect_err(end);
        assert_eq!(
            found.iter().map(|it| it.code).collect::<Vec<_>>(),
            codes,
            "{name} {end}"
        );
    }
}

#[test]
fn what_is_no_bundle_is_refused_with_the_reason() {
    let whole = file(World::usual().documents(), &label(7));
    let changed = |change: &dyn Fn(&mut Value)| {
        let mut file = whole.clone();
        change(&mut file);
        let found = read(&file).expect_err("a refusal");
        assert!(found.iter().all(|it| it.code == Code::BundleInvalid));
        shown(&found).remove(0)
    };
    let wanted = |what: &str| format!("BUNDLE_INVALID: this is not a bundle: {what}");
    assert_eq!(
        changed(&|it| it["documents"]["agents.lock"] = json!("{}")),
        wanted("`agents.lock` is not the document that was signed")
    );
    assert_eq!(
        changed(&|it| it["documents"]["policy.rego"] = json!("package a")),
        wanted("`policy.rego` is not the document that was signed")
    );
    assert_eq!(
        changed(&|it| {
            it["documents"]
                .as_object_mut()
                .unwrap()
                .remove("agents.lock");
        }),
        wanted("its statement is not the one about its documents")
    );
    assert_eq!(
        changed(&|it| it["documents"]["notes.md"] = json!("")),
        wanted("`notes.md` is none of its documents")
    );
    assert_eq!(
        changed(&|it| it["documents"]["agents.lock"] = json!(1)),
        wanted("`agents.lock` is not a text")
    );
    assert_eq!(
        changed(&|it| it["more"] = json!(1)),
        wanted("`more` is no member of it")
    );
    assert_eq!(
        changed(&|it| it["envelope"]["payload"] = json!("e30=")),
        wanted("its statement has no `predicate`")
    );
    assert_eq!(
        changed(&|it| it["envelope"]["payload"] = json!("!")),
        wanted("`payload` is not the base64 of a text")
    );
    assert_eq!(
        changed(&|it| it["envelope"]["payloadType"] = json!("text/plain")),
        wanted("`payloadType` is not `application/vnd.in-toto+json`")
    );
    assert_eq!(
        changed(&|it| it["envelope"]["signatures"] = json!([{}])),
        wanted("a signature has no `sig` of up to 1 KiB in base64")
    );
    assert_eq!(
        changed(&|it| it["envelope"]["signatures"] = json!(vec![json!({ "sig": "" }); 17])),
        wanted("there are more than 16 `signatures`")
    );
    let large = "A".repeat(1368 + 4);
    assert_eq!(
        changed(&|it| it["envelope"]["signatures"] = json!([{ "sig": &large }])),
        wanted("a signature has no `sig` of up to 1 KiB in base64")
    );
    let large = "A".repeat(((64 << 10) / 3 + 1) * 4);
    assert_eq!(
        changed(&|it| it["envelope"]["payload"] = json!(large)),
        wanted("`payload` is larger than 64 KiB")
    );
    for (bytes, what) in [
        (&b"{}"[..], "it has no `envelope`"),
        (b"[]", "it has no `envelope`"),
        (b"{", "it is not strict JSON"),
        (b"\xff", "it is not UTF-8"),
    ] {
        let found = Bundle::read(bytes).expect_err(what);
        assert_eq!(shown(&found), [wanted(what)]);
    }
}

#[test]
fn a_bundle_is_accepted_by_key_name_time_and_sequence() {
    let seven = bundle(7);
    let digest = seven.digest();
    let highest = |sequence, digest: Option<&str>| Highest {
        sequence,
        digest: digest.map(str::to_owned),
    };
    let unsigned = "BUNDLE_UNTRUSTED: no trusted key signed the bundle";
    for (key, is_signed, name, before, now, expected) in [
        (json!({}), true, "support", None, END_MS, vec![]),
        (
            json!({}),
            true,
            "support",
            Some(highest(6, Some("sha256-other"))),
            0,
            vec![],
        ),
        (
            json!({}),
            true,
            "support",
            Some(highest(7, Some(&digest))),
            0,
            vec![],
        ),
        (
            json!({}),
            true,
            "support",
            Some(highest(7, None)),
            0,
            vec![],
        ),
        (
            json!({ "not_before": END }),
            true,
            "support",
            None,
            END_MS,
            vec![],
        ),
        (
            json!({ "not_after": END }),
            true,
            "support",
            None,
            END_MS,
            vec![],
        ),
        (json!({}), false, "support", None, 0, vec![unsigned]),
        (
            json!({}),
            true,
            "billing",
            None,
            0,
            vec!["BUNDLE_UNTRUSTED: the bundle is `support`, and only `billing` decides here"],
        ),
        (
            json!({ "revoked": true }),
            true,
            "support",
            None,
            0,
            vec!["BUNDLE_UNTRUSTED: the key `key-0` is revoked"],
        ),
        (
            json!({ "bundles": ["billing"] }),
            true,
            "support",
            None,
            0,
            vec!["BUNDLE_UNTRUSTED: the key `key-0` may not sign the bundle `support`"],
        ),
        (
            json!({ "not_before": END }),
            true,
            "support",
            None,
            END_MS - 1,
            vec!["BUNDLE_UNTRUSTED: the key `key-0` counts from 2027-01-31T12:00:00.000Z"],
        ),
        (
            json!({ "not_after": "2027-01-01T00:00:00Z" }),
            true,
            "support",
            None,
            END_MS,
            vec!["BUNDLE_UNTRUSTED: the key `key-0` counted until 2027-01-01T00:00:00.000Z"],
        ),
        (
            json!({}),
            true,
            "support",
            None,
            END_MS + 1,
            vec!["BUNDLE_EXPIRED: the bundle ended at 2027-01-31T12:00:00.000Z"],
        ),
        (
            json!({}),
            true,
            "support",
            Some(highest(8, None)),
            0,
            vec!["BUNDLE_OLDER: the bundle has the sequence 7, and 8 was accepted"],
        ),
        (
            json!({}),
            true,
            "support",
            Some(highest(7, Some("sha256-other"))),
            0,
            vec!["BUNDLE_OLDER: another bundle was accepted with the sequence 7"],
        ),
        (
            json!({}),
            false,
            "billing",
            Some(highest(8, None)),
            END_MS + 1,
            vec![
                "BUNDLE_UNTRUSTED: the bundle is `support`, and only `billing` decides here",
                unsigned,
                "BUNDLE_EXPIRED: the bundle ended at 2027-01-31T12:00:00.000Z",
                "BUNDLE_OLDER: the bundle has the sequence 7, and 8 was accepted",
            ],
        ),
    ] {
        let keys = keys(&[key]);
        let checks = seven.checks(&keys);
        assert_eq!(
            (checks.len(), &*checks[0].signature),
            (1, &b"signature"[..])
        );
        let found = seven.accept(&keys, &[is_signed], name, before.as_ref(), moment(now));
        let found = found.map_or_else(|found| shown(&found), |_| Vec::new());
        assert_eq!(found, expected);
    }
}

#[test]
fn another_key_takes_over_before_the_first_is_revoked() {
    let mut two = file(World::usual().documents(), &label(7));
    let once = read(&two).expect("a bundle").digest();
    let signatures = two["envelope"]["signatures"]
        .as_array_mut()
        .expect("signatures");
    signatures.push(json!({ "keyid": "", "sig": "b3RoZXI=" }));
    let bundle = read(&two).expect("a bundle");
    assert_eq!(bundle.digest(), once, "who signed is not what was signed");
    let until = |keys: &TrustedKeys, verified: [bool; 4]| {
        let accepted = bundle.accept(keys, &verified, "support", None, moment(END_MS - 1000));
        accepted
            .map(|it| it.until_ms)
            .map_err(|found| shown(&found))
    };
    let old = json!({ "not_after": "2027-01-31T11:59:59.500Z" });
    let new = json!({ "public_key": OTHER });
    let both = keys(&[old.clone(), new.clone()]);
    let checks = bundle.checks(&both);
    let checks: Vec<_> = checks
        .iter()
        .map(|it| (it.public_key[0], &*it.signature))
        .collect();
    let (first, second) = (&b"signature"[..], &b"other"[..]);
    assert_eq!(
        checks,
        [(0x19, first), (0, first), (0x19, second), (0, second)]
    );
    // The old key alone ends the bundle with itself; the new one does not.
    assert_eq!(until(&both, [true, false, false, false]), Ok(END_MS - 500));
    assert_eq!(until(&both, [true, false, false, true]), Ok(END_MS));
    let revoked = keys(&[json!({ "revoked": true }), new]);
    assert_eq!(until(&revoked, [true, false, false, true]), Ok(END_MS));
    assert_eq!(
        until(&revoked, [true, false, false, false]),
        Err(vec![
            "BUNDLE_UNTRUSTED: the key `key-0` is revoked".to_owned()
        ])
    );
    let nobody = TrustedKeys::read(b"{\"keys\": []}".to_vec()).expect("no keys");
    assert!(bundle.checks(&nobody).is_empty());
    let found = bundle.accept(&nobody, &[], "support", None, moment(0));
    assert_eq!(found.expect_err("nobody")[0].code, Code::BundleUntrusted);
}

#[test]
fn keys_that_say_something_else_are_refused_at_their_place() {
    let key = |more: Value| {
        let mut key = json!({ "name": "a", "public_key": PUBLIC, "bundles": ["support"] });
        let members = key.as_object_mut().expect("an object");
        members.extend(more.as_object().expect("an object").clone());
        members.retain(|_, value| !value.is_null());
        key
    };
    let twice = [key(json!({})), key(json!({ "name": "b" }))];
    for (keys, code, place) in [
        (json!({ "keys": twice }), Code::DuplicateKey, "{\"bundles\""),
        (json!([]), Code::WrongType, "["),
        (json!({}), Code::MissingField, ""),
        (json!({ "keys": {} }), Code::WrongType, "{}"),
        (json!({ "keys": [], "key": 1 }), Code::UnknownKey, "\"key\""),
        (
            json!({ "keys": [key(json!({ "name": "A" }))] }),
            Code::InvalidName,
            "\"A\"",
        ),
        (
            json!({ "keys": [key(json!({ "name": null }))] }),
            Code::MissingField,
            "",
        ),
        (
            json!({ "keys": [key(json!({ "bundles": null }))] }),
            Code::MissingField,
            "",
        ),
        (
            json!({ "keys": [key(json!({ "bundles": ["*"] }))] }),
            Code::InvalidName,
            "\"*\"",
        ),
        (
            json!({ "keys": [key(json!({ "public_key": "" }))] }),
            Code::UnknownValue,
            "\"\"",
        ),
        (
            json!({ "keys": [key(json!({ "public_key": "AAAA" }))] }),
            Code::UnknownValue,
            "\"AAAA\"",
        ),
        (
            json!({ "keys": [key(json!({ "not_after": "soon" }))] }),
            Code::UnknownValue,
            "\"soon\"",
        ),
        (
            json!({ "keys": [key(json!({ "revoked": "yes" }))] }),
            Code::WrongType,
            "\"yes\"",
        ),
        (
            json!({ "keys": [key(json!({ "not_afer": END }))] }),
            Code::MisspeltKey,
            "\"not_afer\"",
        ),
        (
            json!({ "keys": vec![key(json!({})); 2] }),
            Code::DuplicateKey,
            "{\"bundles\"",
        ),
    ] {
        let text = keys.to_string();
        let found = TrustedKeys::read(text.clone().into_bytes()).expect_err(&text);
        assert_eq!(
            found.iter().map(|it| it.code).collect::<Vec<_>>(),
            [code],
            "{text}"
        );
        let span = found[0].place().expect("a place").span;
        let at = &text[span.start as usize..span.end as usize];
        assert!(
            at.starts_with(place) && at.is_empty() == place.is_empty(),
            "{text}: {at}"
        );
    }
    let many = |count: usize| {
        let keys = (0..count).map(|it| {
            key(json!({
                "name": format!("k{it}"),
                "public_key": OTHER.replacen("EAAA", &format!("EA{it:02}"), 1),
            }))
        });
        let text = json!({ "keys": keys.collect::<Vec<_>>() }).to_string();
        TrustedKeys::read(text.into_bytes()).map(|_| ())
    };
    assert!(many(64).is_ok());
    assert_eq!(many(65).expect_err("too many")[0].code, Code::InputTooLarge);
}

proptest! {
    /// No change of a file decides: it is no bundle any more, or has the same statement about the same documents.
    #[test]
    fn a_changed_file_is_refused_or_says_the_same(
        at in any::<prop::sample::Index>(), len in 0_usize..4, part in "[ -~]{0,3}",
    ) {
        let world = World::new(
            vec![server("web", json!({ "find": {} }))],
            &[("web", "find", Load::Essential)],
        );
        let draft = Draft::new(world.documents(), &label(7)).expect("a draft");
        let mut bytes = draft.signed("key", b"signature").expect("a file").into_bytes();
        let before = Bundle::read(&bytes).expect("a bundle").digest();
        let at = at.index(bytes.len());
        let end = (at + len).min(bytes.len());
        bytes.splice(at..end, part.bytes());
        match Bundle::read(&bytes) {
            Ok(bundle) => prop_assert_eq!(bundle.digest(), before),
            Err(found) => prop_assert!(found.iter().all(|it| it.code == Code::BundleInvalid)),
        }
    }
}
