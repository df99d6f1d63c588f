//! `agent share`: the link that the playground makes.

use crate::project::{INDEX, MANIFEST, Project};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use miniz_oxide::inflate::decompress_to_vec;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

const TENANT: &str = "tenants:\n  - id: acme\n    token_budget: 4000\n";

/// The link of `examples/hello-agent`, which a test of the playground opens in a browser.
const HELLO: &str = "../../playground/e2e/program-link.txt";

/// The link of the first review of the playground, which a test opens there.
const REVIEW: &str = "../../playground/e2e/program-review-link.txt";

/// Reads the fields of a link, as the page does.
fn fields(link: &str) -> Value {
    let packed = link.trim_end().split_once('#').expect("a fragment").1;
    let packed = packed.split_once("1.").expect("the form").1;
    let packed = URL_SAFE_NO_PAD.decode(packed).expect("base64url");
    serde_json::from_slice(&decompress_to_vec(&packed).expect("DEFLATE")).expect("JSON")
}

#[test]
fn a_link_holds_the_files_of_the_folder() {
    let project = Project::new();
    let shared = project.agent("share").exits(0);
    assert!(shared.stdout.starts_with("#1."), "{shared:#?}");
    let shared = shared.notes("append it to the address of a playground");
    assert_eq!(
        fields(&shared.stdout),
        json!({ "engine": env!("CARGO_PKG_VERSION"), "index": INDEX, "manifest": MANIFEST })
    );
    assert_eq!(project.files(), ["agents.md", "mcp.index.json"]);

    project.agent("resolve").exits(0);
    project.write("tenant.yaml", TENANT);
    let shared = project
        .agent("share --tenant tenant.yaml --tenant-id acme --base https://a.example/p/?x=1")
        .exits(0)
        .notes_nothing();
    assert!(shared.stdout.starts_with("https://a.example/p/?x=1#1."));
    assert_eq!(
        fields(&shared.stdout),
        json!({
            "engine": env!("CARGO_PKG_VERSION"),
            "index": INDEX,
            "lock": project.read("agents.lock"),
            "manifest": MANIFEST,
            "tenant": TENANT,
            "tenant_id": "acme",
        })
    );
}

#[test]
fn the_browser_tests_open_the_present_link() {
    let hello = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/hello-agent");
    let project = Project::empty();
    for name in ["agents.md", "mcp.index.json"] {
        project.write(name, fs::read(hello.join(name)).unwrap());
    }
    let shared = project.agent("share").exits(0).stdout;
    is_kept(HELLO, &shared);

    let locks = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../playground/review-page/examples");
    for name in ["before.agents.lock", "agents.lock"] {
        project.write(name, fs::read(locks.join(name)).unwrap());
    }
    let compared = project.agent(&format!("{REVIEWED} --format markdown"));
    let (_, link) = compared.stdout.rsplit_once("(https://a.example/").unwrap();
    is_kept(REVIEW, link.trim_end().trim_end_matches(')'));
}

/// Asserts that a file of the playground's tests has this link.
#[track_caller]
fn is_kept(name: &str, link: &str) {
    let kept = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap();
    assert_eq!(fields(&kept), fields(link), "{name} is\n{link}");
    let area = |link: &str| link.split("1.").next().map(str::to_owned);
    assert_eq!(area(&kept), area(link), "{name} is\n{link}");
}

/// Two locks with a link to their review.
const REVIEWED: &str = "diff before.agents.lock agents.lock --share https://a.example/";

#[test]
fn two_locks_have_a_link_to_their_review() {
    let project = Project::new();
    project.agent("resolve").exits(0);
    let lock = project.read("agents.lock");
    project.write("before.agents.lock", &lock);
    let is_review = |link: &str| {
        assert!(link.starts_with("https://a.example/#diff.1."), "{link}");
        let engine = env!("CARGO_PKG_VERSION");
        let expected =
            json!({ "area": "diff", "beforeLock": lock, "engine": engine, "lock": lock });
        assert_eq!(fields(link), expected);
    };
    let shared = project.agent(REVIEWED).exits(0);
    is_review(&shared.stdout);
    let shared = project.agent(&format!("{REVIEWED} --quiet")).exits(0);
    is_review(&shared.stdout);
    for format in ["json", "sarif", "github"] {
        project
            .agent(&format!("{REVIEWED} --format {format}"))
            .exits(2)
            .notes("choose `--format markdown`");
    }

    project
        .agent("diff --share https://a.example/")
        .exits(2)
        .answers_nothing();
    project
        .agent("diff agents.lock agents.lock --share a.example")
        .exits(2)
        .answers_nothing()
        .notes("is not the address of a page");
}

#[test]
fn a_lock_that_no_link_should_hold_is_compared_without_one() {
    let project = Project::new();
    project.agent("resolve").exits(0);
    let lock = project.read("agents.lock");
    project.write("before.agents.lock", &lock);
    let renamed = lock.replacen("\"hello\"", "\"ghp_0123456789abcdef\"", 1);
    assert_ne!(renamed, lock);
    project.write("agents.lock", renamed);
    let refused = project.agent(REVIEWED).exits(1);
    let refused = refused.notes("no link is printed: agents.lock:");
    let refused = refused.notes("looks like a GitHub token");
    assert!(!refused.stdout.contains("#diff"), "{refused:#?}");
}

#[test]
fn a_base_that_is_no_address_is_refused() {
    for base in [
        "playground.example",
        "https://a.example/#plans",
        "ftp://a.example",
    ] {
        Project::new()
            .agent(&format!("share --base {base}"))
            .exits(2)
            .answers_nothing()
            .notes("is not the address of a page");
    }
}

#[test]
fn a_secret_is_refused_with_its_place_and_replaced_on_request() {
    let project = Project::new();
    let secret = "ghp_0123456789abcdef";
    let index = INDEX.replace(
        "\"publisher\": \"Acme\"",
        &format!("\"publisher\": \"{secret}\""),
    );
    project.write("mcp.index.json", &index);
    let refused = project.agent("share").exits(1).answers_nothing();
    let refused = refused
        .notes("SECRET_IN_LINK")
        .notes("a GitHub token")
        .notes("mcp.index.json:6:")
        .notes("`--redact`");
    assert!(!refused.stderr.contains("ghp_"), "{refused:#?}");

    let shared = project.agent("share --redact").exits(0);
    let shared = shared.notes("replaced a GitHub token at mcp.index.json:6:46");
    assert_eq!(
        fields(&shared.stdout)["index"],
        index.replace(secret, "REDACTED")
    );
    assert_eq!(project.read("mcp.index.json"), index);
}

#[test]
fn a_link_that_programs_would_cut_is_refused() {
    let project = Project::new();
    // A generator whose digits do not compress.
    let mut state = 1_u64;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        format!("{:08x}", state >> 32)
    };
    let text: String = (0..8_000).map(|_| next()).collect();
    project.write("agents.md", format!("{MANIFEST}\n{text}\n"));
    project
        .agent("share")
        .exits(2)
        .answers_nothing()
        .notes("many programs cut links after 32000")
        .notes("`agent playground`");
}

#[test]
fn a_file_that_is_not_text_is_named() {
    let project = Project::new();
    project.write("mcp.index.json", b"\xff\xfe");
    project
        .agent("share")
        .exits(2)
        .notes("`mcp.index.json` is not text in UTF-8");
}
