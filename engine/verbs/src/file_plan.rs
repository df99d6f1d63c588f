//! File plans: `data` of `plan.create`, and what planners answer with \[2, 2.1\].

use super::document::{items_of, text_of, texts_of, whole, with_document};
use super::failure::{ErrorCode, Failure, Problems, quoted};
use super::language::{Language, Requirement};
use super::limits::{
    ASSUMPTION_MAX_BYTES, ASSUMPTIONS_MAX, DEPENDENCIES_MAX, FILE_MAX_BYTES, FILES_MAX_BYTES,
    MODE_DEFAULT,
};
use super::path::{Files, check_path};
use super::schemas::SchemaOf;
use super::steps::{DependencyStep, Steps};
use agent_syntax::Node;
use agent_syntax::json::Writer;
use agent_syntax::members::member;
use std::collections::BTreeMap;
use std::iter::once;

/// A file that a request writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Write {
    /// The path below `source/`.
    pub path: String,
    /// The content.
    pub content: String,
    /// The permissions, if the request has them.
    pub mode: Option<u32>,
}

/// A plan of the files of an application.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePlan {
    /// The files, in the order of the plan.
    pub files: Vec<Write>,
    /// The command line that starts the application.
    pub start: String,
    /// Its steps.
    pub steps: Steps,
    /// What the planner assumed.
    pub assumptions: Vec<String>,
    /// The language.
    pub language: Language,
    /// The dependencies of `deps` and of `start`, each once, ordered by their normal names.
    pub dependencies: Vec<Requirement>,
}

/// Decides whether the answer of a planner may be applied.
///
/// # Errors
/// `E_PLAN`, with every problem: the answer is not a file plan, no runner has its language, a path, a mode or
/// a size is not allowed, two files collide, or its commands or dependencies have an unsupported form.
pub fn file_plan(answer: &[u8]) -> Result<FilePlan, Failure> {
    with_document(SchemaOf::FilePlan, answer, |plan| {
        let mut problems = Problems::new();
        let language = Language::of_plan(text_of(plan, "lang").unwrap_or_default());
        let language = language.map_err(|it| problems.take(it)).ok();
        let files = writes(items_of(plan, "files"), "/files", &mut problems);
        let mut tree = Files::default();
        for (number, file) in files.iter().enumerate() {
            tree.written(&file.path, &format!("/files/{number}/path"), &mut problems);
        }
        tree.finish(&mut problems);
        let assumptions = texts_of(plan, "assumptions");
        for (number, text) in assumptions.iter().enumerate() {
            if text.len() > ASSUMPTION_MAX_BYTES {
                problems.add(
                    format!("`/assumptions/{number}` has more than {ASSUMPTION_MAX_BYTES} bytes"),
                    "write a shorter assumption",
                );
            }
        }
        let start = text_of(plan, "start").unwrap_or_default();
        let steps = Steps::read(start).map_err(|it| problems.take(it)).ok();
        let declared = declared(plan, language, &mut problems);
        let (Some(language), Some(steps)) = (language, steps) else {
            return Err(problems.failure(ErrorCode::Plan));
        };
        check_languages(language, &steps, &mut problems);
        let dependencies = merged(declared.iter().chain(steps.packages()), &mut problems);
        problems.finish(ErrorCode::Plan)?;
        Ok(FilePlan {
            files,
            start: start.to_owned(),
            steps,
            assumptions,
            language,
            dependencies,
        })
    })
}

/// Reads files to write, with the problems of their paths, modes and sizes.
pub(crate) fn writes(list: &[Node<'_>], pointer: &str, problems: &mut Problems) -> Vec<Write> {
    let mut all_bytes = 0;
    let mut writes = Vec::with_capacity(list.len());
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for (number, file) in list.iter().enumerate() {
        let at = format!("{pointer}/{number}");
        let path = text_of(file, "path").unwrap_or_default().to_owned();
        let is_sound = check_path(&path, &format!("{at}/path"), problems);
        if let Some(first) = seen.insert(path.clone(), number).filter(|_| is_sound) {
            problems.add(
                format!(
                    "`{at}/path` is the path of `{pointer}/{first}` too: {}",
                    quoted(&path)
                ),
                "write each file once",
            );
        }
        let mode = whole(file, "mode", &at, problems);
        let content = text_of(file, "content").unwrap_or_default().to_owned();
        all_bytes += content.len();
        if content.len() > FILE_MAX_BYTES {
            problems.add(
                format!(
                    "`{at}/content` has {} bytes; at most {FILE_MAX_BYTES} are allowed",
                    content.len()
                ),
                "split the file",
            );
        }
        writes.push(Write {
            path,
            content,
            mode,
        });
    }
    if all_bytes > FILES_MAX_BYTES {
        problems.add(
            format!(
                "`{pointer}` has {all_bytes} bytes together; at most {FILES_MAX_BYTES} are allowed"
            ),
            "write fewer files in one request",
        );
    }
    writes
}

/// Reads `deps`. Of other languages than the plan's, lists must be empty.
fn declared(
    plan: &Node<'_>,
    language: Option<Language>,
    problems: &mut Problems,
) -> Vec<Requirement> {
    let mut declared = Vec::new();
    let Some(deps) = member(plan, "deps") else {
        return declared;
    };
    for of in Language::ALL {
        let list = of.dependency_list();
        let Some(own) = member(deps, of.name()) else {
            continue;
        };
        let texts = texts_of(own, list);
        if !texts.is_empty() && language.is_some_and(|it| it != of) {
            problems.add(
                format!(
                    "`/deps/{}` has packages of another language than the plan",
                    of.name()
                ),
                "declare the packages of the language of the plan alone",
            );
            continue;
        }
        for (number, text) in texts.iter().enumerate() {
            match Requirement::read(of, text) {
                Ok(requirement) => declared.push(requirement),
                Err(failure) => {
                    let message =
                        format!("`/deps/{}/{list}/{number}`: {}", of.name(), failure.message);
                    problems.add(
                        message,
                        failure.hints.into_iter().next().unwrap_or_default(),
                    );
                }
            }
        }
    }
    declared
}

fn check_languages(language: Language, steps: &Steps, problems: &mut Problems) {
    let others = steps
        .dependencies
        .iter()
        .filter_map(DependencyStep::language);
    for other in others.filter(|it| *it != language) {
        problems.add(
            format!(
                "`/start` installs packages of {}; the plan is in {}",
                other.name(),
                language.name()
            ),
            "install packages of the language of the plan alone",
        );
    }
}

/// Returns each dependency once. One with a version decides about one without.
pub(crate) fn merged<'r>(
    all: impl Iterator<Item = &'r Requirement>,
    problems: &mut Problems,
) -> Vec<Requirement> {
    let mut merged: BTreeMap<&str, Requirement> = BTreeMap::new();
    for requirement in all {
        let Some(known) = merged.get_mut(&*requirement.normal_name) else {
            merged.insert(&requirement.normal_name, requirement.clone());
            continue;
        };
        for extra in &requirement.extras {
            if !known.extras.contains(extra) {
                known.extras.push(extra.clone());
            }
        }
        known.default_features |= requirement.default_features;
        // The versions of `go.mod` are the least ones, and an exact one takes their place, as `go get` does.
        let is_go = requirement.language == Language::Go;
        match (known.bound(), requirement.bound()) {
            (Some(_), Some(_))
                if is_go && known.version.is_none() && requirement.version.is_some() =>
            {
                *known = requirement.clone();
            }
            (Some(_), Some(_))
                if is_go && known.version.is_some() && requirement.version.is_none() => {}
            (Some(one), Some(other)) if one != other => problems.add(
                format!(
                    "{} is required in the versions {one} and {other}",
                    quoted(&known.name)
                ),
                "require one version",
            ),
            (None, Some(_)) => {
                known.version.clone_from(&requirement.version);
                known.range.clone_from(&requirement.range);
            }
            _ => {}
        }
    }
    if merged.len() > DEPENDENCIES_MAX {
        problems.add(
            format!(
                "the plan has {} dependencies; at most {DEPENDENCIES_MAX} are allowed",
                merged.len()
            ),
            "require fewer packages",
        );
    }
    merged.into_values().collect()
}

/// Returns whether a text has a number, which is no part of a longer one.
fn has_number(text: &str, number: u16) -> bool {
    let number = number.to_string();
    let is_digit = |it: Option<char>| it.is_some_and(|it| it.is_ascii_digit());
    text.match_indices(&number).any(|(at, found)| {
        let (before, after) = (&text[..at], &text[at + found.len()..]);
        !is_digit(before.chars().next_back()) && !is_digit(after.chars().next())
    })
}

impl FilePlan {
    /// States among the assumptions that the planner ignored `port_hint`: neither a file nor a text of the plan has this
    /// number.
    pub fn note_port_hint(&mut self, port: u16) {
        let files = self.files.iter().map(|it| it.content.as_str());
        let texts = self.assumptions.iter().map(String::as_str);
        let mut all = files.chain(texts).chain(once(self.start.as_str()));
        let is_heeded = all.any(|text| has_number(text, port));
        if is_heeded {
            return;
        }
        // The answer has as many as its schema allows.
        self.assumptions.truncate(ASSUMPTIONS_MAX - 1);
        self.assumptions.push(format!(
            "the planner ignored `port_hint` {port}: the app listens where `PORT` says"
        ));
    }

    /// Returns `data` of `plan.create` as JSON: the plan with its task.
    pub fn data(&self, task_id: &str) -> String {
        let mut w = Writer::dense();
        w.object(|w| {
            w.key("assumptions")
                .strings(self.assumptions.iter().map(String::as_str));
            w.key("deps").object(|w| {
                w.key(self.language.name()).object(|w| {
                    let texts: Vec<_> = self.dependencies.iter().map(Requirement::text).collect();
                    w.key(self.language.dependency_list())
                        .strings(texts.iter().map(String::as_str));
                });
            });
            w.key("files").array(|w| {
                for file in &self.files {
                    w.object(|w| {
                        w.key("content").string(&file.content);
                        w.key("mode").number(file.mode.unwrap_or(MODE_DEFAULT));
                        w.key("path").string(&file.path);
                    });
                }
            });
            w.key("lang").string(self.language.name());
            w.key("start").string(&self.start);
            w.key("task_id").string(task_id);
        });
        w.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::file_plan;
    use crate::document::with_document;
    use crate::envelope::success;
    use crate::failure::ErrorCode;
    use crate::limits::{
        ASSUMPTION_MAX_BYTES, ASSUMPTIONS_MAX, DEPENDENCIES_MAX, FILE_MAX_BYTES, FILES_MAX,
    };
    use crate::schemas::SchemaOf;
    use crate::verb::DaemonVerb;

    /// The examples of section 13, with their line ends and quotes made real.
    const EXAMPLES: [(&str, &str); 3] = [
        (
            r#"{"files":[{"path":"app.py","content":"from flask import Flask\napp=Flask(__name__)\n@app.get('/')\ndef hi(): return 'Hello, World!'\napp.run(host='0.0.0.0')\n"}],"start":"python -m pip install flask && python app.py","lang":"python"}"#,
            "python app.py",
        ),
        (
            r#"{"files":[{"path":"index.js","content":"const express=require('express');const app=express();app.get('/',(_,res)=>res.send('Hello, World!'));app.listen(0,'0.0.0.0');"}],"start":"npm init -y && npm i express && node index.js","lang":"node"}"#,
            "node index.js",
        ),
        (
            r#"{"files":[{"path":"main.go","content":"package main\nimport (\n\t\"fmt\"\n\t\"net/http\"\n)\nfunc main(){http.HandleFunc(\"/\",func(w http.ResponseWriter,r *http.Request){fmt.Fprint(w,\"Hello, World!\")});http.ListenAndServe(\":0\",nil)}\n"}],"start":"go run main.go","lang":"go"}"#,
            "go run main.go",
        ),
    ];

    #[test]
    fn the_examples_of_the_specification_are_accepted() {
        let dependencies = EXAMPLES.map(|(text, start)| {
            let plan = file_plan(text.as_bytes()).expect(start);
            assert_eq!(plan.steps.start.join(" "), start);
            let names = plan.dependencies.iter().map(|it| it.normal_name.clone());
            let names: Vec<_> = names.collect();
            // The answer obeys the schema of its verb, and is a file plan beside its task.
            let data = plan.data("ab12cd");
            assert!(data.contains("\"task_id\":\"ab12cd\""), "{data}");
            let response = success(&data);
            let output = SchemaOf::Output(DaemonVerb::PlanCreate);
            assert_eq!(
                with_document(output, response.as_bytes(), |_| Ok(())),
                Ok(())
            );
            names.join(",")
        });
        assert_eq!(dependencies, ["flask", "express", ""]);
    }

    fn plan(files: &str, start: &str, rest: &str) -> String {
        format!("{{\"files\":[{files}],\"start\":\"{start}\",{rest}}}")
    }

    fn file(path: &str) -> String {
        format!("{{\"path\":\"{path}\",\"content\":\"\"}}")
    }

    fn message(text: &str) -> String {
        match file_plan(text.as_bytes()) {
            Ok(_) => String::new(),
            Err(failure) => {
                assert_eq!(failure.code, ErrorCode::Plan, "{failure:?}");
                assert!(!failure.hints.is_empty(), "{failure:?}");
                failure.message
            }
        }
    }

    #[test]
    fn plans_are_refused_with_every_problem() {
        let a = file("a");
        for (text, expected) in [
            (plan(&a, "x", "\"lang\":\"go\""), ""),
            (
                plan(&a, "x", "\"lang\":\"java\""),
                "there is no runner for the language `java`",
            ),
            (
                plan(&a, "x", "\"lang\":\"dotnet\""),
                "there is no runner for the language `dotnet`",
            ),
            (plan(&a, "x", "\"lang\":\"perl\""), "`/lang` must be"),
            (plan("", "x", "\"lang\":\"go\""), "`/files` "),
            (
                plan(&file("../a"), "x", "\"lang\":\"go\""),
                "`/files/0/path` has a segment of dots: `../a`",
            ),
            (
                plan(&format!("{a},{a}"), "x", "\"lang\":\"go\""),
                "`/files/1/path` is the path of `/files/0` too: `a`",
            ),
            (
                plan(&format!("{a},{}", file("A")), "x", "\"lang\":\"go\""),
                "`/files/1/path` differs from `a` in case alone",
            ),
            (
                plan(&format!("{a},{}", file("a/b")), "x", "\"lang\":\"go\""),
                "`/files/1/path` needs `a` as a folder and as a file",
            ),
            (
                plan(
                    r#"{"path":"a","content":"","mode":2541}"#,
                    "x",
                    "\"lang\":\"go\"",
                ),
                "`/files/0/mode` ",
            ),
            (
                plan(
                    r#"{"path":"a","content":"","mode":-1}"#,
                    "x",
                    "\"lang\":\"go\"",
                ),
                "`/files/0/mode` ",
            ),
            (
                plan(
                    r#"{"path":"a","content":"","mode":420.0}"#,
                    "x",
                    "\"lang\":\"go\"",
                ),
                "`/files/0/mode` must be written in digits alone, and is `420.0`",
            ),
            (
                plan(
                    r#"{"path":"a","content":"","mode":511}"#,
                    "x",
                    "\"lang\":\"go\"",
                ),
                "",
            ),
            (
                plan(&a, "a | b", "\"lang\":\"go\""),
                "character 3 of the command",
            ),
            (
                plan(&a, "npm ci && x", "\"lang\":\"go\""),
                "`/start` installs packages of node; the plan is in go",
            ),
            (
                plan(&a, "x", r#""lang":"go","deps":{"node":{"packages":["x"]}}"#),
                "`/deps/node` has packages of another language than the plan",
            ),
            (
                plan(&a, "x", r#""lang":"go","deps":{"node":{"packages":[]}}"#),
                "",
            ),
            (
                plan(&a, "x", r#""lang":"go","deps":{"go":{"packages":[]}}"#),
                "`/deps/go/packages` ",
            ),
            (
                plan(
                    &a,
                    "x",
                    r#""lang":"node","deps":{"node":{"packages":["x@^1"]}}"#,
                ),
                "`/deps/node/packages/0`: the node dependency `x@^1` has no exact version",
            ),
            (
                plan(
                    &a,
                    "npm i x@1.0.0 && y",
                    r#""lang":"node","deps":{"node":{"packages":["x@2.0.0"]}}"#,
                ),
                "`x` is required in the versions 2.0.0 and 1.0.0",
            ),
            (
                plan(&a, "x", r#""lang":"go","task_id":"ab12cd""#),
                "`/task_id` ",
            ),
            (
                plan(
                    &format!("{},{}", file("/a"), file("b\\\\c")),
                    "a;",
                    "\"lang\":\"java\"",
                ),
                "there is no runner for the language `java`; `/files/0/path` is absolute: `/a`; \
              `/files/1/path` contains a backslash: `b\\c`; character 2 of the command",
            ),
            (
                "Here is the plan: {}".to_owned(),
                "line 1, column 1: this is not JSON",
            ),
            ("{} {}".to_owned(), "line 1, column 4: "),
            (String::new(), "line 1, column 1: this is not JSON"),
        ] {
            let found = message(&text);
            assert!(found.starts_with(expected), "{text}\n{found}");
            assert_eq!(found.is_empty(), expected.is_empty(), "{text}\n{found}");
        }
    }

    #[test]
    fn plans_have_limits() {
        let many = |count: usize| {
            let files: Vec<_> = (0..count)
                .map(|number| file(&format!("f{number}")))
                .collect();
            plan(&files.join(","), "x", "\"lang\":\"go\"")
        };
        assert_eq!(message(&many(FILES_MAX)), "");
        assert!(message(&many(FILES_MAX + 1)).starts_with("`/files` "));
        let sized = |bytes: usize| {
            let file = format!("{{\"path\":\"a\",\"content\":\"{}\"}}", "x".repeat(bytes));
            plan(&file, "x", "\"lang\":\"go\"")
        };
        assert_eq!(message(&sized(FILE_MAX_BYTES)), "");
        assert!(message(&sized(FILE_MAX_BYTES + 1)).starts_with("`/files/0/content` has "));
        let large = |count: usize| {
            let content = "x".repeat(FILE_MAX_BYTES);
            let file = |it| format!("{{\"path\":\"f{it}\",\"content\":\"{content}\"}}");
            let files: Vec<_> = (0..count).map(file).collect();
            plan(&files.join(","), "x", "\"lang\":\"go\"")
        };
        assert_eq!(message(&large(3)), "");
        let found = message(&large(4));
        assert!(found.starts_with("the document has 16777"), "{found}");
        let small = "x".repeat(FILE_MAX_BYTES - 100);
        let files: Vec<_> = (0..4)
            .map(|it| format!("{{\"path\":\"f{it}\",\"content\":\"{small}\"}}"))
            .collect();
        let found = message(&plan(&files.join(","), "x", "\"lang\":\"go\""));
        assert!(
            found.starts_with("`/files` has 16776816 bytes together"),
            "{found}"
        );
        // A schema counts characters, and a limit bytes.
        let assumed = |text: &str| {
            let rest = format!("\"lang\":\"go\",\"assumptions\":[\"{text}\"]");
            message(&plan(&file("a"), "x", &rest))
        };
        assert_eq!(assumed(&"é".repeat(ASSUMPTION_MAX_BYTES / 2)), "");
        let found = assumed(&"é".repeat(ASSUMPTION_MAX_BYTES / 2 + 1));
        assert_eq!(found, "`/assumptions/0` has more than 1024 bytes");
        let required = |count: usize| {
            let names: Vec<_> = (0..count).map(|it| format!("\"p{it}\"")).collect();
            let deps = format!(
                "\"lang\":\"node\",\"deps\":{{\"node\":{{\"packages\":[{}]}}}}",
                names.join(",")
            );
            plan(&file("a"), "npm i other && x", &deps)
        };
        assert_eq!(message(&required(DEPENDENCIES_MAX - 1)), "");
        assert!(message(&required(DEPENDENCIES_MAX)).starts_with("the plan has 257 dependencies"));
    }

    #[test]
    fn a_dependency_appears_once_with_its_version() {
        let text = plan(
            &file("a"),
            "pip install Flask[async] requests && x",
            r#""lang":"python","deps":{"python":{"requirements":["flask==3.0.3"]}}"#,
        );
        let plan = file_plan(text.as_bytes()).expect("a plan");
        let texts: Vec<_> = plan.dependencies.iter().map(|it| it.text()).collect();
        assert_eq!(texts, ["flask[async]==3.0.3", "requests"]);
        let text = text
            .replace("==3.0.3", "")
            .replace("Flask[async]", "flask==3.0.3");
        let plan = file_plan(text.as_bytes()).expect("a plan");
        assert_eq!(plan.dependencies[0].text(), "flask==3.0.3");
    }

    #[test]
    fn a_port_hint_that_the_planner_ignored_is_an_assumption() {
        let noted = |content: &str, assumptions: &[&str]| {
            let quoted: Vec<_> = assumptions.iter().map(|it| format!("\"{it}\"")).collect();
            let text = format!(
                r#"{{"files":[{{"path":"a","content":"{content}"}}],"start":"go run .","lang":"go","assumptions":[{}]}}"#,
                quoted.join(",")
            );
            let mut plan = file_plan(text.as_bytes()).expect("a plan");
            plan.note_port_hint(8080);
            plan.assumptions
        };
        let ignored = "the planner ignored `port_hint` 8080: the app listens where `PORT` says";
        for content in ["listen", "18080", "80801"] {
            assert_eq!(noted(content, &["a"]), ["a", ignored], "{content}");
        }
        for content in ["8080", ":8080/", "18080 8080"] {
            assert!(noted(content, &[]).is_empty(), "{content}");
        }
        assert_eq!(noted("x", &["port 8080"]), ["port 8080"]);
        let many = noted("x", &["a"; ASSUMPTIONS_MAX]);
        assert_eq!(many.len(), ASSUMPTIONS_MAX);
        assert_eq!(many.last().map(String::as_str), Some(ignored));
    }
}
