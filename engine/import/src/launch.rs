//! The package that a command runs.

use super::endpoint::{Package, has_credential};

/// A package that a command runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LaunchedPackage<'a> {
    /// The registry, as a registry of MCP names it, or `docker`.
    pub(super) registry: &'static str,
    /// The name in the registry.
    pub(super) name: &'a str,
    /// The version, if the command fixes it.
    pub(super) version: Option<&'a str>,
    /// The number of arguments that are the package's own: the last ones.
    pub(super) own: usize,
}

impl<'a> LaunchedPackage<'a> {
    /// Returns the package that a command runs by `npx`, `uvx`, `docker run` or their like.
    pub(super) fn of(program: &'a str, args: &[&'a str]) -> Option<Self> {
        let found = command(program, args)?;
        (!has_credential(found.name)).then_some(found)
    }

    /// Returns the package URL without its version: what precedes and what follows it.
    pub(super) fn purl(self) -> Option<(String, String)> {
        let package = Package {
            registry: self.registry,
            identifier: self.name,
            ..Package::default()
        };
        package.unversioned().ok()
    }
}

fn command<'a>(program: &'a str, args: &[&'a str]) -> Option<LaunchedPackage<'a>> {
    match (base_name(program), args) {
        ("cmd", [first, inner, rest @ ..]) if first.eq_ignore_ascii_case("/c") => {
            command(inner, rest)
        }
        ("env" | "sudo", [..]) => {
            let is_own = |arg: &&str| arg.contains('=') || arg.starts_with('-');
            let at = args.iter().position(|arg| !is_own(arg))?;
            command(args[at], &args[at + 1..])
        }
        ("npx" | "bunx" | "pnpx", args)
        | ("npm", ["exec" | "x", args @ ..])
        | ("pnpm" | "yarn", ["dlx", args @ ..])
        | ("bun", ["x", args @ ..]) => npm(args),
        ("uvx", args) | ("uv", ["tool", "run", args @ ..]) => python(args, "--from"),
        ("pipx", ["run", args @ ..]) => python(args, "--spec"),
        ("docker" | "podman" | "nerdctl", ["run", args @ ..] | ["container", "run", args @ ..]) => {
            image(args)
        }
        _ => None,
    }
}

/// Returns the name of a program without its folder and the ending of a program of Windows.
fn base_name(program: &str) -> &str {
    let name = program.rsplit(['/', '\\']).next().unwrap_or_default();
    let ending = [".cmd", ".exe", ".bat", ".ps1"];
    let found = ending.iter().find_map(|ending| name.strip_suffix(ending));
    found.unwrap_or(name)
}

/// Returns the first argument that is not an option, or the value of the option `names`, and the number of arguments
/// for what it names. Of the options in `valued`, the next argument is the value.
fn first<'a>(
    args: &[&'a str],
    names: &[&str],
    valued: impl Fn(&str) -> bool,
) -> Option<(&'a str, usize)> {
    let mut args = args.iter().copied();
    let mut named = None;
    while let Some(arg) = args.next() {
        let (option, value) = match arg.split_once('=') {
            Some((option, value)) => (option, Some(value)),
            None => (arg, None),
        };
        if arg == "--" {
            let next = args.next();
            return Some((named.or(next)?, args.len()));
        } else if names.contains(&option) {
            // What follows is the name of a program in the package.
            named = value.or_else(|| args.next());
        } else if !arg.starts_with('-') {
            return Some((named.unwrap_or(arg), args.len()));
        } else if value.is_none() && valued(option) {
            args.next();
        }
    }
    Some((named?, 0))
}

fn npm<'a>(args: &[&'a str]) -> Option<LaunchedPackage<'a>> {
    let valued = |option: &str| {
        matches!(
            option,
            "--registry" | "--prefix" | "-w" | "--workspace" | "--cache"
        )
    };
    // The text of `--call` is a command of a shell.
    if args.iter().any(|arg| matches!(*arg, "-c" | "--call")) {
        return None;
    }
    let (spec, own) = first(args, &["-p", "--package"], valued)?;
    // The `@` of a scope is the first character.
    let at = spec.char_indices().skip(1).find(|(_, c)| *c == '@');
    let (name, version) = match at {
        Some((at, _)) => (&spec[..at], Some(&spec[at + 1..])),
        None => (spec, None),
    };
    let is_name = |part: &str| {
        !part.is_empty()
            && !part.starts_with('.')
            && part
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "-._~".contains(c))
    };
    let is_package = match name.strip_prefix('@') {
        Some(scoped) => scoped
            .split_once('/')
            .is_some_and(|(scope, name)| is_name(scope) && is_name(name)),
        None => is_name(name),
    };
    // A version of one or two numbers is a range.
    let is_exact = |version: &&str| is_number_first(version) && version.split('.').count() >= 3;
    is_package.then(|| LaunchedPackage {
        registry: "npm",
        name,
        version: version.filter(is_exact),
        own,
    })
}

fn python<'a>(args: &[&'a str], from: &str) -> Option<LaunchedPackage<'a>> {
    const VALUED: [&str; 14] = [
        "--with",
        "--with-editable",
        "--with-requirements",
        "--python",
        "-p",
        "--index",
        "--index-url",
        "-i",
        "--default-index",
        "--extra-index-url",
        "--directory",
        "--env-file",
        "--cache-dir",
        "--pip-args",
    ];
    let (spec, own) = first(args, &[from], |option| VALUED.contains(&option))?;
    let end = spec.find(|c: char| !(c.is_ascii_alphanumeric() || "-._".contains(c)));
    let (name, rest) = spec.split_at(end.unwrap_or(spec.len()));
    let rest = match rest.strip_prefix('[') {
        Some(extras) => extras.split_once(']')?.1,
        None => rest,
    };
    let version = rest.strip_prefix("==").or_else(|| rest.strip_prefix('@'));
    let is_spec =
        rest.is_empty() || version.is_some() || rest.starts_with(['<', '>', '~', '!', ' ']);
    (is_spec && name.starts_with(|c: char| c.is_ascii_alphanumeric())).then(|| LaunchedPackage {
        registry: "pypi",
        name,
        version: version.filter(|version| is_number_first(version)),
        own,
    })
}

/// Returns whether a version begins with a number, and is no range.
fn is_number_first(version: &str) -> bool {
    let version_char = |c: char| c.is_ascii_alphanumeric() || "-._+!".contains(c);
    version.starts_with(|c: char| c.is_ascii_digit())
        && version.chars().all(version_char)
        && !version.split('.').any(|part| part == "x")
}

fn image<'a>(args: &[&'a str]) -> Option<LaunchedPackage<'a>> {
    // The other options take values.
    const FLAGS: [&str; 9] = [
        "--rm",
        "--init",
        "--interactive",
        "--tty",
        "--detach",
        "--privileged",
        "--read-only",
        "--quiet",
        "--no-healthcheck",
    ];
    let is_short = |option: &str| {
        let letters = option.strip_prefix('-').unwrap_or_default();
        !letters.is_empty() && letters.chars().all(|c| "itdqP".contains(c))
    };
    let valued = |option: &str| !FLAGS.contains(&option) && !is_short(option);
    let (image, own) = first(args, &[], valued)?;
    let is_image = |c: char| c.is_ascii_alphanumeric() || "-._/:@".contains(c);
    if !image.chars().all(is_image) {
        return None;
    }
    // A colon before the last slash precedes a port.
    let name_at = image.rfind('/').map_or(0, |at| at + 1);
    let (name, version) = match (image.split_once('@'), image[name_at..].split_once(':')) {
        (Some((name, digest)), _) => (name, Some(digest)),
        (None, Some((name, tag))) => (&image[..name_at + name.len()], Some(tag)),
        (None, None) => (image, None),
    };
    Some(LaunchedPackage {
        registry: "docker",
        name,
        version: version.filter(|version| *version != "latest"),
        own,
    })
}

#[cfg(test)]
mod tests {
    use super::LaunchedPackage;

    fn found(command: &str) -> Option<String> {
        let words: Vec<_> = command.split(' ').collect();
        let found = LaunchedPackage::of(words[0], &words[1..])?;
        let (before, after) = found.purl()?;
        let own = &words[words.len() - found.own..];
        let own = own
            .iter()
            .map(|word| format!(" {word}"))
            .collect::<String>();
        Some(format!(
            "{before}{}{after}{own}",
            found.version.unwrap_or("?")
        ))
    }

    #[test]
    fn a_command_names_its_package() {
        for (command, purl) in [
            ("npx -y @a/b@1.2.3 --key x", "pkg:npm/%40a/b@1.2.3 --key x"),
            ("npx @a/b", "pkg:npm/%40a/b@?"),
            ("npx -y b@latest", "pkg:npm/b@?"),
            ("npx b@1", "pkg:npm/b@?"),
            ("npx b@1.x.0", "pkg:npm/b@?"),
            ("npx b@^1.0.0", "pkg:npm/b@?"),
            (
                "/usr/bin/npx --package=b@1.0.0-rc.1 run",
                "pkg:npm/b@1.0.0-rc.1",
            ),
            ("npx -p b@1.0.0 run x", "pkg:npm/b@1.0.0 x"),
            ("npx --registry u b", "pkg:npm/b@?"),
            ("C:\\n\\npx.cmd -y b", "pkg:npm/b@?"),
            ("cmd /c npx -y b@1.0.0", "pkg:npm/b@1.0.0"),
            ("env A=b npx b", "pkg:npm/b@?"),
            ("npm exec -- b", "pkg:npm/b@?"),
            ("npm exec --package=b -- run x", "pkg:npm/b@? x"),
            ("pnpm dlx b", "pkg:npm/b@?"),
            ("bunx b", "pkg:npm/b@?"),
            ("uvx A_b", "pkg:pypi/a-b@?"),
            ("uvx a@1.0", "pkg:pypi/a@1.0"),
            ("uvx --from a[x]==1.0.0 run", "pkg:pypi/a@1.0.0"),
            ("uvx --python 3.12 a", "pkg:pypi/a@?"),
            ("uvx a>=1.0", "pkg:pypi/a@?"),
            ("uv tool run a", "pkg:pypi/a@?"),
            ("pipx run --spec a==2 b", "pkg:pypi/a@2"),
            ("docker run -i --rm -e TOKEN a/b", "pkg:docker/a/b@?"),
            (
                "docker run -it -e A=b mcp/x:1.0 y",
                "pkg:docker/mcp/x@1.0 y",
            ),
            (
                "docker run --rm ghcr.io/a/b:v1",
                "pkg:docker/a/b@v1?repository_url=ghcr.io",
            ),
            (
                "podman run localhost:5000/b@sha256:0f",
                "pkg:docker/b@sha256:0f?repository_url=localhost:5000",
            ),
            ("docker run b:latest", "pkg:docker/b@?"),
        ] {
            assert_eq!(found(command).as_deref(), Some(purl), "{command}");
        }
    }

    #[test]
    fn other_commands_name_none() {
        for command in [
            "node C:\\a\\b.js",
            "python -m a",
            "npx",
            "npx -y",
            "npx ./b",
            "npx github:a/b",
            "npx -c b",
            "npx ghp_0123456789abcdef",
            "npm run a",
            "uv run a",
            "uvx git+https://x.example/a",
            "uvx .",
            "docker compose run a",
            "docker run ${IMAGE}",
            "sh -c npx",
            "",
        ] {
            assert_eq!(found(command), None, "{command}");
        }
    }
}
