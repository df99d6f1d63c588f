//! `package-lock.json` of npm.

use super::{PLAIN, Reader, line_of};
use crate::document::with_json;
use crate::failure::quoted;
use crate::language::Language;
use agent_syntax::json::Writer;
use agent_syntax::members::{boolean, member, number, string};
use agent_syntax::{Node, Value};

/// The versions of the format that are read.
const FORMATS: [u64; 2] = [2, 3];

/// The members of a package that are passed on: none says where it comes from.
const KEPT: [&str; 15] = [
    "bin",
    "cpu",
    "dependencies",
    "dev",
    "devOptional",
    "engines",
    "integrity",
    "libc",
    "optional",
    "optionalDependencies",
    "os",
    "peer",
    "peerDependencies",
    "peerDependenciesMeta",
    "version",
];

/// Returns the lock file without the places of packages, which npm then finds by names and versions.
pub(super) fn read(text: &str, reader: &mut Reader<'_>) -> Option<String> {
    let looked = with_json(text.as_bytes(), |text, root| {
        Ok(packages(text, root, reader))
    });
    match looked {
        Ok(lock) => lock,
        Err(failure) => {
            let message = format!("`{}`: {}", reader.path, failure.message);
            reader
                .problems
                .add(message, "make the file again with `npm install`");
            None
        }
    }
}

fn packages(text: &str, root: &Node<'_>, reader: &mut Reader<'_>) -> Option<String> {
    let format = member(root, "lockfileVersion").and_then(number);
    let entries = member(root, "packages").map(|it| &it.value);
    let (Some(Value::Mapping(entries)), true) =
        (entries, format.is_some_and(|it| FORMATS.contains(&it)))
    else {
        let message = "the lock file is of an unknown version";
        reader.refuse(1, message, "make the file again with npm 7 or a later one");
        return None;
    };
    let mut w = Writer::dense();
    w.object(|w| {
        w.key("lockfileVersion").number(3);
        w.key("packages").object(|w| {
            for entry in entries.iter().filter(|it| !it.key.is_empty()) {
                let line = line_of(text, entry.key_span.start);
                let package = &entry.value;
                if let Some(fault) = fault(&entry.key, package) {
                    let message = format!("the package {} {fault}", quoted(&entry.key));
                    reader.refuse(line, message, PLAIN);
                    continue;
                }
                w.key(&entry.key).object(|w| {
                    for name in KEPT {
                        if let Some(node) = member(package, name) {
                            w.key(name).json(node.span.of(text));
                        }
                    }
                });
            }
        });
    });
    Some(w.finish())
}

/// Returns why a package can't be locked, as the predicate of a sentence.
fn fault(path: &str, package: &Node<'_>) -> Option<&'static str> {
    let is_set = |name: &str| member(package, name).and_then(boolean) == Some(true);
    let is_place = path.strip_prefix("node_modules/").is_some_and(|path| {
        let mut names = path.split("/node_modules/");
        names.all(|it| Language::Node.normal_name(it).is_some())
    });
    if !is_place {
        return Some("is not below `node_modules`");
    }
    if is_set("link") {
        return Some("is a link");
    }
    if is_set("inBundle") {
        return Some("is a part of another one");
    }
    if member(package, "name").is_some() {
        return Some("has another name than its folder");
    }
    let is_text = |name: &str| member(package, name).and_then(string).is_some();
    if !is_text("version") || !is_text("integrity") {
        return Some("has no version with a digest");
    }
    None
}

#[cfg(test)]
mod tests {
    use crate::declared::tests::read;
    use crate::language::Language;

    fn lock(packages: &str) -> Result<Option<String>, String> {
        let lock =
            format!("{{\"name\":\"x\",\"lockfileVersion\":3,\n\"packages\":{{{packages}}}}}");
        let files = [("package.json", "{}"), ("package-lock.json", &*lock)];
        let read = read(Language::Node, &files);
        read.map(|it| it.lock).map_err(|it| it.message)
    }

    #[test]
    fn a_lock_file_loses_the_places_of_packages() {
        let packages = r#""":{"name":"x"},"node_modules/a":{"version":"1.0.0","resolved":"https://evil.example/a.tgz","integrity":"sha512-x","dependencies":{"@s/b":"^1"},"license":"MIT"},"node_modules/a/node_modules/@s/b":{"version":"1.2.0","integrity":"sha512-y","dev":true}"#;
        let expected = r#"{"lockfileVersion":3,"packages":{"node_modules/a":{"dependencies":{"@s/b":"^1"},"integrity":"sha512-x","version":"1.0.0"},"node_modules/a/node_modules/@s/b":{"dev":true,"integrity":"sha512-y","version":"1.2.0"}}}"#;
        let found = lock(packages).expect("a lock").expect("a lock");
        assert_eq!(found.trim_end(), expected);
    }

    #[test]
    fn other_packages_are_refused() {
        let at = |path: &str| format!("\n\"{path}\":{{\"version\":\"1.0.0\",\"integrity\":\"x\"}}");
        for (packages, message) in [
            (
                at("packages/a"),
                "the package `packages/a` is not below `node_modules`",
            ),
            (
                at("node_modules/../a"),
                "the package `node_modules/../a` is not below `node_modules`",
            ),
            (
                at("node_modules/a").replace("}", ",\"link\":true}"),
                "the package `node_modules/a` is a link",
            ),
            (
                at("node_modules/a").replace("}", ",\"inBundle\":true}"),
                "the package `node_modules/a` is a part of another one",
            ),
            (
                at("node_modules/a").replace("}", ",\"name\":\"b\"}"),
                "the package `node_modules/a` has another name than its folder",
            ),
            (
                at("node_modules/a").replace("integrity", "resolved"),
                "the package `node_modules/a` has no version with a digest",
            ),
        ] {
            let expected = format!("`package-lock.json`, line 3: {message}");
            assert_eq!(lock(&packages), Err(expected));
        }
        for old in ["{\"lockfileVersion\":1,\"dependencies\":{}}", "{}", "[]"] {
            let files = [("package.json", "{}"), ("package-lock.json", old)];
            let failure = read(Language::Node, &files).expect_err(old);
            assert!(failure.message.contains("unknown version"), "{failure:?}");
        }
    }
}
