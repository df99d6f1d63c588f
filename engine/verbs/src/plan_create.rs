//! The input of `plan.create` \[2, 2.1\].

use super::document::{text_of, texts_of, whole, with_document};
use super::failure::{ErrorCode, Failure, Problems, quoted};
use super::language::Language;
use super::limits::PROMPT_MAX_BYTES;
use super::schemas::SchemaOf;
use super::verb::DaemonVerb;
use agent_syntax::members::member;

/// The input of `plan.create`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanCreate {
    /// What the application should do.
    pub prompt: String,
    /// The languages of the hint that have a runner, most wanted first.
    pub languages: Vec<Language>,
    /// The packages that this task may install, of those that the policy allows.
    pub deps_allowlist: Option<Vec<String>>,
    /// The port that the application should listen on.
    pub port_hint: Option<u16>,
}

impl PlanCreate {
    /// Reads the input.
    ///
    /// # Errors
    /// `E_PLAN`: the input violates its schema, the prompt is too long, no language of the hint has a runner, or
    /// an allowed package has no name of any language.
    pub fn read(input: &[u8]) -> Result<Self, Failure> {
        with_document(SchemaOf::Input(DaemonVerb::PlanCreate), input, |root| {
            let mut problems = Problems::new();
            let prompt = text_of(root, "prompt").unwrap_or_default();
            if prompt.len() > PROMPT_MAX_BYTES {
                problems.add(
                    format!("`/prompt` has more than {PROMPT_MAX_BYTES} bytes"),
                    "write a shorter prompt",
                );
            }
            if prompt.trim().is_empty() {
                problems.add("`/prompt` is blank", "describe the application");
            }
            let mut read = Self {
                prompt: prompt.to_owned(),
                languages: Vec::new(),
                deps_allowlist: None,
                port_hint: None,
            };
            if let Some(constraints) = member(root, "constraints") {
                let hints = texts_of(constraints, "lang_hint");
                let known = hints.iter().filter_map(|it| Language::named(it));
                read.languages = known.collect();
                if let (Some(first), []) = (hints.first(), &read.languages[..]) {
                    problems.take(Language::of_plan(first).err().unwrap_or_else(|| {
                        Failure::new(ErrorCode::Plan, "`/constraints/lang_hint` is not known")
                    }));
                }
                if member(constraints, "deps_allowlist").is_some() {
                    read.deps_allowlist = Some(texts_of(constraints, "deps_allowlist"));
                }
                let packages = read.deps_allowlist.iter().flatten();
                for (number, name) in packages.enumerate() {
                    if Language::ALL
                        .iter()
                        .all(|it| it.normal_name(name).is_none())
                    {
                        problems.add(
                            format!(
                                "`/constraints/deps_allowlist/{number}` is not the name of a package: {}",
                                quoted(name)
                            ),
                            "list names of packages, without versions",
                        );
                    }
                }
                let port = whole(constraints, "port_hint", "/constraints", &mut problems);
                read.port_hint = port.and_then(|it| u16::try_from(it).ok());
            }
            problems.finish(ErrorCode::Plan)?;
            Ok(read)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::PlanCreate;
    use crate::failure::ErrorCode;
    use crate::language::Language;
    use crate::limits::PROMPT_MAX_BYTES;

    #[test]
    fn inputs_are_read() {
        let text = r#"{"prompt": "Hi", "constraints": {"lang_hint": ["java", "go"],
            "deps_allowlist": ["Flask", "@types/node"], "port_hint": 8080}}"#;
        let read = PlanCreate::read(text.as_bytes()).expect("an input");
        assert_eq!(read.languages, [Language::Go]);
        assert_eq!(read.port_hint, Some(8080));
        assert_eq!(read.deps_allowlist.map(|it| it.len()), Some(2));
        let read = PlanCreate::read(br#"{"prompt": "x", "constraints": {"port_hint": null}}"#);
        assert_eq!(read.expect("an input").deps_allowlist, None);
    }

    #[test]
    fn wrong_inputs_are_refused() {
        let long = format!(
            "{{\"prompt\": \"{}\"}}",
            "é".repeat(PROMPT_MAX_BYTES / 2 + 1)
        );
        for (text, message) in [
            ("{}", "the document "),
            ("[]", "the document "),
            (r#"{"prompt": ""}"#, "`/prompt` "),
            (r#"{"prompt": " \n"}"#, "`/prompt` is blank"),
            (r#"{"prompt": 1}"#, "`/prompt` must be a string"),
            (&long, "`/prompt` has more than 65536 bytes"),
            (r#"{"prompt": "x", "task_id": "ab12cd"}"#, "`/task_id` "),
            (r#"{"prompt": "x", "constraint": {}}"#, "`/constraint` "),
            (
                r#"{"prompt": "x", "constraints": {"lang_hint": ["java"]}}"#,
                "there is no runner for the language `java`",
            ),
            (
                r#"{"prompt": "x", "constraints": {"lang_hint": ["dotnet", "java"]}}"#,
                "there is no runner for the language `dotnet`",
            ),
            (
                r#"{"prompt": "x", "constraints": {"lang_hint": ["perl"]}}"#,
                "`/constraints/lang_hint/0` ",
            ),
            (
                r#"{"prompt": "x", "constraints": {"lang_hint": "go"}}"#,
                "`/constraints/lang_hint` ",
            ),
            (
                r#"{"prompt": "x", "constraints": {"port_hint": 1024}}"#,
                "`/constraints/port_hint` ",
            ),
            (
                r#"{"prompt": "x", "constraints": {"port_hint": 65536}}"#,
                "`/constraints/port_hint` ",
            ),
            (
                r#"{"prompt": "x", "constraints": {"port_hint": 8080.0}}"#,
                "`/constraints/port_hint` must be written in digits",
            ),
            (
                r#"{"prompt": "x", "constraints": {"deps_allowlist": ["a b"]}}"#,
                "`/constraints/deps_allowlist/0` is not the name",
            ),
        ] {
            let failure = PlanCreate::read(text.as_bytes()).expect_err(text);
            assert_eq!(failure.code, ErrorCode::Plan);
            assert!(
                failure.message.starts_with(message),
                "{text}\n{}",
                failure.message
            );
            assert!(!failure.hints.is_empty(), "{text}");
        }
        for edge in [1025, 65_535] {
            let text = format!(r#"{{"prompt": "x", "constraints": {{"port_hint": {edge}}}}}"#);
            let read = PlanCreate::read(text.as_bytes()).expect("an edge");
            assert_eq!(read.port_hint, Some(edge));
        }
    }
}
