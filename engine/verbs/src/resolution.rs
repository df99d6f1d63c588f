//! Resolved dependencies: whether a resolver did what it was asked for, and what a lock pins.

use super::failure::{ErrorCode, Failure, Problems, quoted};
use super::file_plan::merged;
use super::language::{Language, Requirement};
use super::policy::ResolvedPackage;

/// Decides whether a closure is a resolution of some requirements: it has each of them, in its exact version if
/// one is required.
///
/// # Errors
/// `E_BUILD`, with every problem.
pub fn check_resolution(
    requirements: &[Requirement],
    closure: &[ResolvedPackage],
) -> Result<(), Failure> {
    let mut problems = Problems::new();
    for requirement in requirements {
        let mut found = closure
            .iter()
            .filter(|it| provides(it, requirement))
            .peekable();
        let Some(first) = found.peek().copied() else {
            problems.add(
                format!("the resolved packages lack {}", quoted(&requirement.text())),
                "check the name of the package",
            );
            continue;
        };
        let language = requirement.language;
        let is_exact = requirement
            .version
            .as_ref()
            .is_none_or(|version| found.any(|it| same_version(language, version, &it.version)));
        if !is_exact {
            problems.add(
                format!(
                    "{} was resolved to the version {}",
                    quoted(&requirement.text()),
                    quoted(&first.version)
                ),
                "require a version that the registry has",
            );
        }
    }
    problems.finish(ErrorCode::Build)
}

/// Returns requirements with the versions of an earlier resolution, the lock, where they have none. A requirement
/// that the lock does not have, or has twice, stays as it is, and one with a range, which the lock may not fit.
pub fn pinned(requirements: &[Requirement], lock: &[ResolvedPackage]) -> Vec<Requirement> {
    let pin = |requirement: &Requirement| {
        let is_free = requirement.range.is_none();
        let mut locked = lock
            .iter()
            .filter(|it| is_free && provides(it, requirement));
        let only = locked.next().filter(|_| locked.next().is_none());
        let version = only.map(|it| it.version.clone());
        Requirement {
            version: requirement.version.clone().or(version),
            ..requirement.clone()
        }
    };
    requirements.iter().map(pin).collect()
}

/// Returns each requirement once, ordered by their normal names. One with a version decides about one without.
///
/// # Errors
/// `E_PLAN`: they are of several languages, one is required in two versions, or there are too many.
pub fn merge(requirements: &[Requirement]) -> Result<Vec<Requirement>, Failure> {
    let language = requirements.first().map(|it| it.language);
    let mut problems = Problems::new();
    for other in requirements
        .iter()
        .filter(|it| Some(it.language) != language)
    {
        problems.add(
            format!("{} is a package of another language", quoted(&other.name)),
            "use packages of one language",
        );
    }
    problems.finish(ErrorCode::Plan)?;
    let mut problems = Problems::new();
    let merged = merged(requirements.iter(), &mut problems);
    problems.finish(ErrorCode::Plan)?;
    Ok(merged)
}

/// Returns whether a resolved package is the required one. A Go module provides the packages in it.
fn provides(package: &ResolvedPackage, requirement: &Requirement) -> bool {
    let language = requirement.language;
    let Some(name) = language.normal_name(&package.name) else {
        return false;
    };
    let rest = requirement.normal_name.strip_prefix(&*name);
    rest.is_some_and(|rest| rest.is_empty() || language == Language::Go && rest.starts_with('/'))
}

/// Returns whether two exact versions are the same one to their registry.
fn same_version(language: Language, one: &str, other: &str) -> bool {
    match language {
        Language::Python => python_version(one) == python_version(other),
        // Build metadata distinguishes no versions.
        Language::Node | Language::Rust => without_build(one) == without_build(other),
        Language::Go => one == other,
    }
}

fn without_build(version: &str) -> &str {
    version.split('+').next().unwrap_or_default()
}

/// Returns a version of PEP 440 without case and without zeros at the end of its release.
fn python_version(version: &str) -> String {
    let lower = version.trim_start_matches('=').to_ascii_lowercase();
    let is_release = |c: char| c.is_ascii_digit() || c == '.' || c == '!';
    let end = lower.find(|c| !is_release(c)).unwrap_or(lower.len());
    let (release, rest) = lower.split_at(end);
    let (release, dot) = match release.strip_suffix('.') {
        Some(release) => (release, "."),
        None => (release, ""),
    };
    let mut release = release;
    while let Some(shorter) = release.strip_suffix(".0") {
        release = shorter;
    }
    format!("{release}{dot}{rest}")
}

#[cfg(test)]
mod tests {
    use super::{check_resolution, merge, pinned};
    use crate::failure::ErrorCode;
    use crate::language::{Language, Requirement};
    use crate::policy::ResolvedPackage;

    fn package(text: &str) -> ResolvedPackage {
        let (name, version) = text.rsplit_once('@').expect("a version");
        ResolvedPackage {
            name: name.to_owned(),
            version: version.to_owned(),
            required_by: Vec::new(),
        }
    }

    fn packages(texts: &[&str]) -> Vec<ResolvedPackage> {
        texts.iter().map(|it| package(it)).collect()
    }

    fn required(language: Language, text: &str) -> Vec<Requirement> {
        vec![Requirement::read(language, text).expect(text)]
    }

    #[test]
    fn a_resolution_has_what_was_required() {
        use Language::{Go, Node, Python, Rust};
        for (language, text, closure, message) in [
            (
                Python,
                "flask==3.0.3",
                &["Flask@3.0.3", "jinja2@3.1"][..],
                "",
            ),
            (Python, "flask==3.0", &["flask@3.0.0"], ""),
            (Python, "flask==1.0RC1", &["flask@1.0rc1"], ""),
            (Python, "flask==1.0.dev1", &["flask@1.dev1"], ""),
            (
                Python,
                "flask==10",
                &["flask@1"],
                "`flask==10` was resolved to the version `1`",
            ),
            (
                Python,
                "flask==3.0.3",
                &["flask@3.0.4"],
                "`flask==3.0.3` was resolved to the version `3.0.4`",
            ),
            (Python, "flask", &["flask@9"], ""),
            (
                Python,
                "flask",
                &["flask2@9"],
                "the resolved packages lack `flask`",
            ),
            (Node, "a@1.0.0", &["a@2.0.0", "a@1.0.0"], ""),
            (Node, "@s/a@1.0.0", &["@s/a@1.0.0"], ""),
            (
                Node,
                "a@1.0.0",
                &["a@1.0.0-rc"],
                "`a@1.0.0` was resolved to the version `1.0.0-rc`",
            ),
            (Rust, "a_b@1.0.0", &["a-b@1.0.0+x"], ""),
            (Go, "x.y/z/w@v1.0.0", &["x.y/z@v1.0.0"], ""),
            (
                Go,
                "x.y/zw@v1.0.0",
                &["x.y/z@v1.0.0"],
                "the resolved packages lack `x.y/zw@v1.0.0`",
            ),
            (
                Go,
                "x.y/z@v1.0.0",
                &["x.y/z@v1.0.0+incompatible"],
                "`x.y/z@v1.0.0` was resolved to the version `v1.0.0+incompatible`",
            ),
        ] {
            let checked = check_resolution(&required(language, text), &packages(closure));
            let found = checked.map_err(|it| (it.code, it.message));
            match message {
                "" => assert_eq!(found, Ok(()), "{text} {closure:?}"),
                _ => assert_eq!(found, Err((ErrorCode::Build, message.to_owned())), "{text}"),
            }
        }
    }

    #[test]
    fn requirements_are_merged() {
        use Language::{Go, Node, Python, Rust};
        let read = |language, text: &str| match text.split_once(' ') {
            Some((name, range)) => {
                Requirement::declared(language, name, Vec::new(), range).expect(text)
            }
            None => Requirement::read(language, text).expect(text),
        };
        for (texts, expected) in [
            (&["b", "a==1.0", "b[x]", "B==2.0"][..], "a==1.0 b[x]==2.0"),
            (&["a", "a >=2", "a >=2"], "a>=2"),
            (
                &["a >=2", "a==2.0"],
                "`a` is required in the versions >=2 and 2.0",
            ),
        ] {
            let list: Vec<_> = texts.iter().map(|it| read(Python, it)).collect();
            let found = match merge(&list) {
                Ok(merged) => {
                    let texts: Vec<_> = merged.iter().map(Requirement::text).collect();
                    texts.join(" ")
                }
                Err(failure) => failure.message,
            };
            assert_eq!(found, expected);
        }
        // An exact version takes the place of the least ones of `go.mod`.
        for order in [
            ["x.y/z@v1.0.0", "x.y/z v1.2.0"],
            ["x.y/z v1.2.0", "x.y/z@v1.0.0"],
        ] {
            let merged = merge(&order.map(|it| read(Go, it))).expect("a module");
            assert_eq!(
                (merged[0].text(), merged.len()),
                ("x.y/z@v1.0.0".to_owned(), 1)
            );
        }
        let two = ["x.y/z v1.0.0", "x.y/z v1.2.0"].map(|it| read(Go, it));
        assert!(merge(&two).is_err());
        let mixed = [read(Python, "a"), read(Node, "b")];
        let failure = merge(&mixed).expect_err("two languages");
        assert_eq!(failure.message, "`b` is a package of another language");
        // A crate has its default features if somebody wants them.
        let bare = Requirement {
            default_features: false,
            ..read(Rust, "a")
        };
        let merged = merge(&[bare.clone(), read(Rust, "a")]).expect("a crate");
        assert!(merged[0].default_features);
        let merged = merge(&[bare.clone(), bare]).expect("a crate");
        assert!(!merged[0].default_features);
        assert_eq!(merge(&[]), Ok(Vec::new()));
    }

    #[test]
    fn a_lock_pins_names_without_versions() {
        let lock = packages(&["a@1.0.0", "b@1.0.0", "b@2.0.0"]);
        for (text, expected) in [
            ("a", "a@1.0.0"),
            ("a@3.0.0", "a@3.0.0"),
            ("b", "b"),
            ("c", "c"),
        ] {
            let found = pinned(&required(Language::Node, text), &lock);
            assert_eq!(found[0].text(), expected);
        }
        let ranged = Requirement::declared(Language::Node, "a", Vec::new(), "^2").expect("a range");
        let expected = vec![ranged];
        assert_eq!(pinned(&expected, &lock), expected);
    }
}
