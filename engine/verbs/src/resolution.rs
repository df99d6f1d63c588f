//! Resolved dependencies: whether a resolver did what it was asked for, and what a lock pins.

use super::failure::{ErrorCode, Failure, Problems, quoted};
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
/// that the lock does not have, or has twice, stays as it is.
pub fn pinned(requirements: &[Requirement], lock: &[ResolvedPackage]) -> Vec<Requirement> {
    let pin = |requirement: &Requirement| {
        let mut locked = lock.iter().filter(|it| provides(it, requirement));
        let only = locked.next().filter(|_| locked.next().is_none());
        let version = only.map(|it| it.version.clone());
        Requirement {
            version: requirement.version.clone().or(version),
            ..requirement.clone()
        }
    };
    requirements.iter().map(pin).collect()
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
    use super::{check_resolution, pinned};
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
    }
}
