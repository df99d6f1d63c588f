//! `go.mod` of Go.

use super::{PLAIN, Reader};
use crate::failure::quoted;
use crate::language::{Language, Requirement};

/// The directives by which the module itself is compiled.
const OWN_DIRECTIVES: [&str; 4] = ["module", "go", "toolchain", "godebug"];

/// The directive for those who require the module, of whom there are none.
const RETRACT: &str = "retract";

/// Reads the dependencies of a file, and the directives by which the module itself is compiled, a line each.
pub(super) fn read(text: &str, reader: &mut Reader<'_>) -> (Vec<Requirement>, String) {
    let mut found = Vec::new();
    let mut own = String::new();
    // The directive whose block is open.
    let mut block: Option<&str> = None;
    for (number, line) in text.lines().enumerate() {
        let number = number + 1;
        let line = line.split("//").next().unwrap_or_default();
        let mut words = line.split_whitespace().peekable();
        let directive = match block {
            Some(_) if words.peek() == Some(&")") => {
                block = None;
                continue;
            }
            Some(directive) => directive,
            None => {
                let Some(directive) = words.next() else {
                    continue;
                };
                if words.peek() == Some(&"(") {
                    block = Some(directive);
                    words.next();
                }
                directive
            }
        };
        let words: Vec<_> = words.map(|it| it.trim_matches(['"', '`'])).collect();
        if words.is_empty() {
            continue;
        }
        match (directive, &words[..]) {
            ("require", [name, version]) => {
                let parts = (*name, Vec::new(), *version);
                found.extend(reader.requirement(number, Language::Go, parts));
            }
            ("require", _) => {
                let message = format!("{} is no module with its version", quoted(line.trim()));
                reader.refuse(number, message, PLAIN);
            }
            (known, words) if OWN_DIRECTIVES.contains(&known) => {
                own.push_str(&format!("{known} {}\n", words.join(" ")));
            }
            (RETRACT, _) => {}
            (other, _) => {
                let message = format!("the directive {} is not supported", quoted(other));
                let hint =
                    "remove it: modules come from the proxy of this machine's configuration of Go";
                reader.refuse(number, message, hint);
            }
        }
    }
    (found, own)
}

#[cfg(test)]
mod tests {
    use crate::declared::tests::{read, shown};
    use crate::language::Language;

    #[test]
    fn requirements_are_modules_with_versions() {
        let shown = |content: &str| shown(Language::Go, "go.mod", content);
        for (content, expected) in [
            ("module app\n\ngo 1.21 // comment\n", ""),
            (
                "module app\nrequire a.b/c v1.2.3\nrequire (\n\t\"d.e/f\" v0.0.0-20190101000000-abcdefabcdef // indirect\n\n)\n",
                "a.b/c@v1.2.3 d.e/f@v0.0.0-20190101000000-abcdefabcdef",
            ),
            (
                "module app\nretract [v1.0.0, v1.1.0]\nretract (\nv1.2.0\n)",
                "",
            ),
            (
                "module app\nreplace a.b/c => ../c",
                "`go.mod`, line 2: the directive `replace` is not supported",
            ),
            (
                "exclude (\na.b/c v1.0.0\n)",
                "`go.mod`, line 2: the directive `exclude` is not supported",
            ),
            (
                "require a.b/c",
                "`go.mod`, line 1: `require a.b/c` is no module with its version",
            ),
            (
                "require a.b/c latest",
                "`go.mod`, line 1: the dependency `a.b/c latest` has no version or range of versions",
            ),
            (
                "require ../c v1.0.0",
                "`go.mod`, line 1: the dependency `../c v1.0.0` does not begin with the name of a package",
            ),
        ] {
            assert_eq!(shown(content), expected, "{content}");
        }
    }

    #[test]
    fn the_directives_of_the_module_itself_are_kept() {
        let text = "// comment\nmodule \"app\" // own\n\ngo 1.21\ngodebug (\n\tdefault=go1.20\n)\nretract v1.0.0\nrequire a.b/c v1.2.3\n";
        let declaration = read(Language::Go, &[("go.mod", text)]).expect("a file");
        let expected = "module app\ngo 1.21\ngodebug default=go1.20\n";
        assert_eq!(declaration.manifest.as_deref(), Some(expected));
        let vendored = [("go.mod", text), ("vendor/modules.txt", "# a.b/c v1.2.3\n")];
        let vendored = read(Language::Go, &vendored).expect("files");
        assert_eq!(
            (vendored.manifest, vendored.requirements),
            (None, Vec::new())
        );
        let none = read(Language::Go, &[]).expect("no file is needed");
        assert_eq!((none.manifest, none.requirements), (None, Vec::new()));
    }
}
