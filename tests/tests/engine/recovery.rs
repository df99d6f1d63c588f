//! Refused texts are repaired to find every further problem, and stay refused.

use agent_diagnostic::{Applicability, Code, Diagnostic, Problems};
use agent_lower as lower;
use agent_tests::processor_time::ProcessorTime;

fn of_index(text: &str) -> Vec<Diagnostic> {
    lower::index(text.into()).map(|_| ()).expect_err(text)
}

/// The text after all edits of safe fixes.
fn fixed(text: &str, found: &[Diagnostic]) -> String {
    let fixes = found.iter().filter_map(|it| {
        let mut fixes = it.fixes.iter();
        fixes.find(|fix| fix.applicability == Applicability::Safe)
    });
    let mut edits: Vec<_> = fixes.flat_map(|fix| &fix.edits).collect();
    edits.sort_by_key(|edit| edit.place.span);
    let mut text = text.to_owned();
    for edit in edits.into_iter().rev() {
        let span = edit.place.span;
        text.replace_range(span.start as usize..span.end as usize, &edit.replacement);
    }
    text
}

#[test]
fn the_safe_fixes_of_one_run_make_a_text_that_is_read() {
    let server = r#"{'id': "a" "version": "1.0.0", endpoint: "https://a.example/mcp",
        "categories" ["x",], "scopes": [] // none
        "data" = {"residency": "any", "maxSensitivity": "public",},
        "trust": {"signed": True, "publisher": “Acme”}};"#;
    let broken = format!("```json\n{{\"servers\": [\n{server}\n]\n```\nThat is all.\n");
    let found = of_index(&broken);
    assert!(found.len() > 9, "{found:?}");
    let text = fixed(&broken, &found);
    assert!(lower::index(text.clone().into()).is_ok(), "{text}");

    let broken = "# Hello\n\n---\nname = a\nversion:1.0.0\nrequires\n\tmcp:\n\t\t- category: \"x\n\t\t  permissions: [\n---\n";
    let found = lower::manifest(broken.into())
        .map(|_| ())
        .expect_err(broken);
    let text = fixed(broken, &found);
    assert!(lower::manifest(text.clone().into()).is_ok(), "{text}");
    assert!(text.ends_with("---\n# Hello\n\n"), "{text}");
}

#[test]
fn recovery_ends_within_its_limits() {
    recovery_ends(1 << 20, 5);
}

mod at_length {
    #[test]
    fn recovery_ends_within_its_limits() {
        super::recovery_ends(4 << 20, 20);
    }
}

/// Recovers texts of a size in bytes, each within some seconds.
fn recovery_ends(size: usize, seconds: u64) {
    for piece in [
        "[",
        "{",
        "{\"",
        "\"",
        "'",
        "“",
        "a",
        "a ",
        "1 ",
        ",",
        ";",
        "//",
        "/*",
        "#",
        "\\",
        "[\"a\"b",
        "{\"a\"",
        "\"\n",
        "[\n",
        "\t",
        "{a:",
        "}",
        "\u{200b}",
        "\u{a0}",
        "<<<<<<< a\n",
        "```\n",
        "\"a\" b\"",
    ] {
        for start in ["", "[", "{\"a\": "] {
            let text = format!("{start}{}", piece.repeat(size / piece.len()));
            let started = ProcessorTime::now();
            let found = of_index(&text);
            assert!(started.elapsed().as_secs() < seconds, "{start}{piece}");
            assert!(
                !found.is_empty() && found.len() <= Problems::LIMIT,
                "{start}{piece}"
            );
        }
    }
    for piece in [
        "a:\n\t",
        "\tb\n",
        " -a\n",
        "a b\n",
        "a: [\n",
        "a: \"\n",
        "- ",
        "-a ",
        "a: ",
        "a:\t\n b\n",
    ] {
        let text = format!("a: \tb\n{}", piece.repeat(size / 4 / piece.len()));
        let started = ProcessorTime::now();
        let found = lower::task(text.into(), lower::Notation::ByContent)
            .map(|_| ())
            .expect_err(piece);
        assert!(started.elapsed().as_secs() < seconds, "{piece}");
        assert!(
            !found.is_empty() && found.len() <= Problems::LIMIT,
            "{piece}"
        );
    }
}

#[test]
fn locks_and_policies_are_not_repaired() {
    let found = lower::lock(b"{\"lockVersion\": 1,}".to_vec())
        .map(|_| ())
        .expect_err("a comma");
    // What the comma hides is named too.
    let codes: Vec<_> = found.iter().map(|it| it.code).collect();
    assert!(codes.contains(&Code::JsonSyntax), "{codes:?}");
    assert!(codes.contains(&Code::MissingField), "{codes:?}");
    for problem in &found {
        assert!(problem.fixes.iter().all(|fix| fix.edits.is_empty()));
        assert!(problem.fixes[0].title.contains("agent resolve"));
    }
}
