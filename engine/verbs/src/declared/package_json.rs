//! `package.json` of npm.

use super::{PLAIN, Reader, line_of};
use crate::document::with_json;
use crate::failure::quoted;
use crate::language::{Language, Requirement};
use agent_syntax::members::{items, member, string};
use agent_syntax::{Node, Value};

/// The members with dependencies that an application needs when it runs.
const DEPENDENCIES: [&str; 3] = ["dependencies", "optionalDependencies", "peerDependencies"];

/// The members that change what is installed or from where, each with what to do.
const REFUSED: [(&str, &str); 4] = [
    (
        "bundleDependencies",
        "remove it: packages come from the registry",
    ),
    (
        "bundledDependencies",
        "remove it: packages come from the registry",
    ),
    ("overrides", "require the versions in `dependencies`"),
    (
        "workspaces",
        "declare all packages in the first `package.json`",
    ),
];

/// The scripts that npm runs when it installs.
const SCRIPTS: [&str; 6] = [
    "preinstall",
    "install",
    "postinstall",
    "preprepare",
    "prepare",
    "postprepare",
];

/// Reads the dependencies of a file.
pub(super) fn read(text: &str, reader: &mut Reader<'_>) -> Vec<Requirement> {
    let mut found = Vec::new();
    let looked = with_json(text.as_bytes(), |text, root| {
        let line = |node: &Node<'_>| line_of(text, node.span.start);
        for (name, hint) in REFUSED {
            let Some(node) = member(root, name) else {
                continue;
            };
            let is_empty = items(node).is_some_and(<[_]>::is_empty)
                || matches!(&node.value, Value::Mapping(entries) if entries.is_empty());
            if !is_empty {
                reader.refuse(line(node), format!("`{name}` is not supported"), hint);
            }
        }
        for name in SCRIPTS {
            if let Some(node) = member(root, "scripts").and_then(|it| member(it, name)) {
                let message = format!("the script `{name}` would run at an installation");
                let hint = "remove the script: no script is run, and the application starts by its command";
                reader.refuse(line(node), message, hint);
            }
        }
        for name in DEPENDENCIES {
            let Some(node) = member(root, name) else {
                continue;
            };
            let Value::Mapping(entries) = &node.value else {
                reader.refuse(line(node), format!("`{name}` is not an object"), PLAIN);
                continue;
            };
            for entry in entries {
                let at = line_of(text, entry.key_span.start);
                match string(&entry.value) {
                    Some(versions) => {
                        let parts = (&*entry.key, Vec::new(), versions);
                        found.extend(reader.requirement(at, Language::Node, parts));
                    }
                    None => {
                        let message = format!("the version of {} is no text", quoted(&entry.key));
                        reader.refuse(at, message, PLAIN);
                    }
                }
            }
        }
        match &root.value {
            Value::Mapping(_) => {}
            _ => reader.refuse(1, "the document is not an object", "write an object"),
        }
        Ok(())
    });
    if let Err(failure) = looked {
        let message = format!("`{}`: {}", reader.path, failure.message);
        reader.problems.add(message, "correct the JSON");
    }
    found
}

#[cfg(test)]
mod tests {
    use crate::declared::tests::shown;
    use crate::language::Language;

    #[test]
    fn dependencies_are_names_with_versions() {
        let shown = |content: &str| shown(Language::Node, "package.json", content);
        for (content, expected) in [
            ("{}", ""),
            (
                r#"{"name":"x","scripts":{"start":"node ."},"dependencies":{"express":"^4.18.2","@a/b":"1.0.0"},"devDependencies":{"jest":"file:x"}}"#,
                "@a/b@1.0.0 express@^4.18.2",
            ),
            (
                r#"{"optionalDependencies":{"a":"*"},"peerDependencies":{"b":"1.x"},"workspaces":[]}"#,
                "a b@1.x",
            ),
            (
                "{\"dependencies\":{\n\"a\":\n\"latest\"}}",
                "`package.json`, line 2: the dependency `a latest` has no version or range of versions",
            ),
            (
                r#"{"dependencies":{"a":"git+https://x/y"}}"#,
                "`package.json`, line 1: the dependency `a git+https://x/y` has no version or range of versions",
            ),
            (
                r#"{"dependencies":{"a":"npm:b@1.0.0"}}"#,
                "`package.json`, line 1: the dependency `a npm:b@1.0.0` has no version or range of versions",
            ),
            (
                r#"{"dependencies":{"a":"file:../b"}}"#,
                "`package.json`, line 1: the dependency `a file:../b` has no version or range of versions",
            ),
            (
                r#"{"dependencies":{"../a":"1"}}"#,
                "`package.json`, line 1: the dependency `../a 1` does not begin with the name of a package",
            ),
            (
                r#"{"dependencies":{"a":1}}"#,
                "`package.json`, line 1: the version of `a` is no text",
            ),
            (
                r#"{"dependencies":["a"]}"#,
                "`package.json`, line 1: `dependencies` is not an object",
            ),
            (
                "{\n\"workspaces\":[\"a\"]}",
                "`package.json`, line 2: `workspaces` is not supported",
            ),
            (
                r#"{"overrides":{"a":"1"}}"#,
                "`package.json`, line 1: `overrides` is not supported",
            ),
            (
                "{\"scripts\":{\n\n\"postinstall\":\"x\"}}",
                "`package.json`, line 3: the script `postinstall` would run at an installation",
            ),
            (
                "[]",
                "`package.json`, line 1: the document is not an object",
            ),
        ] {
            assert_eq!(shown(content), expected, "{content}");
        }
        for broken in ["", "{", "{\"a\":1,\"a\":2}"] {
            assert!(shown(broken).starts_with("`package.json`: "), "{broken}");
        }
    }
}
