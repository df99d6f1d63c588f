//! The steps of a command line: what installs dependencies, and what starts the application.

use super::declared::Declared;
use super::failure::{ErrorCode, Failure, quoted};
use super::language::{Language, Requirement};
use super::limits::DEPENDENCIES_MAX;
use super::path::path_fault;
use super::words::commands;

/// A step that is performed before the application starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DependencyStep {
    /// Installs these packages, of one language.
    Install(Vec<Requirement>),
    /// Installs what files declare, such as `package.json`.
    InstallDeclared(Declared),
    /// Does nothing: the application finds its packages without `package.json` (`npm init -y`).
    InitPackage,
    /// Names the module of the application, unless `go.mod` exists (`go mod init`).
    InitModule(String),
}

impl DependencyStep {
    /// Returns the language whose packages the step is about.
    pub fn language(&self) -> Option<Language> {
        match self {
            Self::Install(packages) => packages.first().map(|it| it.language),
            Self::InstallDeclared(declared) => Some(declared.language),
            Self::InitPackage => Some(Language::Node),
            Self::InitModule(_) => Some(Language::Go),
        }
    }
}

/// A command line, split into its steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Steps {
    /// The dependency steps, in order. They alone have a network.
    pub dependencies: Vec<DependencyStep>,
    /// The program that starts the application, and its arguments.
    pub start: Vec<String>,
}

impl Steps {
    /// Splits `cmd` of `run.start`, or `start` of a file plan.
    ///
    /// # Errors
    /// `E_PLAN`: the line has other shell syntax than words and `&&`, a step before the last one that installs
    /// nothing, no start step, or a dependency step in a form that is not supported.
    pub fn read(line: &str) -> Result<Self, Failure> {
        let mut commands = commands(line)?;
        let Some(start) = commands.pop() else {
            return Err(Failure::new(ErrorCode::Plan, "the command has no word"));
        };
        let mut dependencies = Vec::new();
        for command in &commands {
            match dependency_steps(command)? {
                Some(steps) => dependencies.extend(steps),
                None => {
                    let shown = quoted(&command.join(" "));
                    let message =
                        format!("{shown} comes before the start step, and installs nothing");
                    let hint = "use pip install, npm install, npm ci, npm init -y, go get, go mod, \
                                cargo add, cargo fetch or cargo build, and start the application \
                                with the last command";
                    return Err(Failure::new(ErrorCode::Plan, message).hint(hint));
                }
            }
        }
        if is_dependency_step(&start) {
            let message = format!("{} starts no application", quoted(&start.join(" ")));
            let hint = "add `&&` and the command that starts the application";
            return Err(Failure::new(ErrorCode::Plan, message).hint(hint));
        }
        // These programs install what a build needs.
        let built = match &start.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            ["cargo", "run", ..] => Some(Language::Rust),
            ["go", "run", ..] => Some(Language::Go),
            _ => None,
        };
        let declared = built.map(|language| declared(language, false));
        dependencies.extend(declared.filter(|it| !dependencies.contains(it)));
        let steps = Self {
            dependencies,
            start,
        };
        if steps.packages().count() > DEPENDENCIES_MAX {
            let message = format!("the command installs more than {DEPENDENCIES_MAX} packages");
            let hint = "install fewer packages";
            return Err(Failure::new(ErrorCode::Plan, message).hint(hint));
        }
        Ok(steps)
    }

    /// Returns the packages that the steps name.
    pub fn packages(&self) -> impl Iterator<Item = &Requirement> {
        let lists = self.dependencies.iter().map(|step| match step {
            DependencyStep::Install(packages) => &packages[..],
            _ => &[],
        });
        lists.flatten()
    }
}

/// Returns the arguments of a dependency step by its program.
fn arguments(command: &[String]) -> Option<(&'static str, &[String])> {
    let words: Vec<_> = command.iter().take(4).map(String::as_str).collect();
    let (kind, used) = match &words[..] {
        ["pip" | "pip3", "install", ..] => ("pip", 2),
        ["python" | "python3", "-m", "pip", "install"] => ("pip", 4),
        ["npm", "init", ..] => ("npm init", 2),
        ["npm", "ci" | "clean-install", ..] => ("npm ci", 2),
        ["npm", "i" | "install" | "add", ..] => ("npm install", 2),
        ["go", "get", ..] => ("go get", 2),
        ["go", "mod", ..] => ("go mod", 2),
        ["cargo", "add", ..] => ("cargo add", 2),
        ["cargo", "fetch", ..] => ("cargo fetch", 2),
        ["cargo", "build" | "b", ..] => ("cargo build", 2),
        _ => return None,
    };
    Some((kind, &command[used..]))
}

fn is_dependency_step(command: &[String]) -> bool {
    arguments(command).is_some()
}

/// Returns the dependency steps that a command is, `None` for another command.
fn dependency_steps(command: &[String]) -> Result<Option<Vec<DependencyStep>>, Failure> {
    let Some((kind, arguments)) = arguments(command) else {
        return Ok(None);
    };
    let words: Vec<_> = arguments.iter().map(String::as_str).collect();
    let unsupported = |hint: &str| {
        let message = format!(
            "{} is not a supported form of `{kind}`",
            quoted(&command.join(" "))
        );
        Err(Failure::new(ErrorCode::Plan, message).hint(hint))
    };
    let step = match (kind, &words[..]) {
        ("pip", []) => return unsupported("name the packages"),
        ("pip", arguments) => return pip_steps(arguments).map(Some),
        ("npm init", ["-y" | "--yes"]) => DependencyStep::InitPackage,
        ("npm init", _) => return unsupported("write `npm init -y`"),
        ("npm ci", []) => declared(Language::Node, true),
        ("npm ci", _) => return unsupported("write `npm ci` alone"),
        ("npm install", []) => declared(Language::Node, false),
        ("npm install", packages) => install(Language::Node, packages)?,
        ("go get", []) => return unsupported("name the modules"),
        ("go get", modules) => install(Language::Go, modules)?,
        ("go mod", ["tidy" | "download"]) => declared(Language::Go, false),
        ("go mod", ["init", module]) if is_module_name(module) => {
            DependencyStep::InitModule((*module).to_owned())
        }
        ("go mod", _) => {
            return unsupported("write `go mod init NAME`, `go mod tidy` or `go mod download`");
        }
        // What a build needs is installed before it, whatever the build is like.
        ("cargo fetch", []) | ("cargo build", _) => declared(Language::Rust, false),
        ("cargo fetch", _) => return unsupported("write `cargo fetch` alone"),
        (_, []) => return unsupported("name the crates"),
        (_, crates) => install(Language::Rust, crates)?,
    };
    Ok(Some(vec![step]))
}

/// Returns the step that installs what the usual files of a language declare.
fn declared(language: Language, locked: bool) -> DependencyStep {
    DependencyStep::InstallDeclared(Declared::usual(language, locked))
}

/// Returns the steps of `pip install`, by its arguments.
fn pip_steps(arguments: &[&str]) -> Result<Vec<DependencyStep>, Failure> {
    let (mut packages, mut files) = (Vec::new(), Vec::new());
    let mut arguments = arguments.iter().copied();
    while let Some(argument) = arguments.next() {
        let file = match argument {
            "-r" | "--requirement" => Some(arguments.next().unwrap_or_default()),
            _ => argument
                .strip_prefix("--requirement=")
                .or_else(|| argument.strip_prefix("-r")),
        };
        let Some(file) = file else {
            packages.push(argument);
            continue;
        };
        let file = file.strip_prefix("./").unwrap_or(file);
        if let Some(fault) = path_fault(file) {
            let message = format!("the requirements file {} {fault}", quoted(file));
            let hint = "name a file of the application, such as `requirements.txt`";
            return Err(Failure::new(ErrorCode::Plan, message).hint(hint));
        }
        files.push(file.to_owned());
    }
    let mut steps = Vec::new();
    if !files.is_empty() {
        steps.push(DependencyStep::InstallDeclared(Declared {
            language: Language::Python,
            locked: false,
            files,
        }));
    }
    if !packages.is_empty() {
        steps.push(install(Language::Python, &packages)?);
    }
    Ok(steps)
}

/// Returns whether a text can be the name of an application's own Go module, which needs no host.
fn is_module_name(name: &str) -> bool {
    let is_element = |it: &str| {
        it.starts_with(|c: char| c.is_ascii_alphanumeric())
            && !it.ends_with('.')
            && it
                .bytes()
                .all(|it| it.is_ascii_alphanumeric() || b"-_.~".contains(&it))
    };
    name.len() <= super::limits::PACKAGE_NAME_MAX_BYTES && name.split('/').all(is_element)
}

fn install(language: Language, packages: &[&str]) -> Result<DependencyStep, Failure> {
    let packages = packages
        .iter()
        .map(|text| Requirement::read(language, text));
    Ok(DependencyStep::Install(packages.collect::<Result<_, _>>()?))
}

#[cfg(test)]
mod tests {
    use super::{DependencyStep, Steps};
    use crate::failure::ErrorCode;
    use crate::limits::DEPENDENCIES_MAX;

    /// The steps in one line.
    fn shown(line: &str) -> String {
        let steps = Steps::read(line).unwrap_or_else(|it| panic!("{line}: {}", it.message));
        let mut parts: Vec<String> = steps
            .dependencies
            .iter()
            .map(|step| match step {
                DependencyStep::Install(packages) => {
                    let packages: Vec<_> = packages.iter().map(|it| it.text()).collect();
                    format!("{} {}", packages.len(), packages.join(" "))
                }
                DependencyStep::InstallDeclared(it) => {
                    format!(
                        "{} declared {} {}",
                        it.language.name(),
                        it.locked,
                        it.files.join(" ")
                    )
                }
                DependencyStep::InitPackage => "init".to_owned(),
                DependencyStep::InitModule(name) => format!("module {name}"),
            })
            .collect();
        parts.push(steps.start.join("|"));
        parts.join(" / ")
    }

    #[test]
    fn dependency_steps_come_before_one_start_step() {
        for (line, expected) in [
            ("python app.py", "python|app.py"),
            (
                "python -m pip install flask && python app.py",
                "1 flask / python|app.py",
            ),
            (
                "pip install 'flask[async]==3.0.3' requests && python3 -m flask run",
                "2 flask[async]==3.0.3 requests / python3|-m|flask|run",
            ),
            (
                "pip3 install a && python3 -m pip install b && python x",
                "1 a / 1 b / python|x",
            ),
            (
                "npm init -y && npm i express && node index.js",
                "init / 1 express / node|index.js",
            ),
            (
                "npm ci && npm start",
                "node declared true package.json package-lock.json / npm|start",
            ),
            (
                "npm install && node .",
                "node declared false package.json package-lock.json / node|.",
            ),
            (
                "npm install @a/b@1.0.0 c && npm run dev",
                "2 @a/b@1.0.0 c / npm|run|dev",
            ),
            (
                "go run main.go",
                "go declared false go.mod go.sum vendor/modules.txt / go|run|main.go",
            ),
            (
                "go mod init app && go mod tidy && go run .",
                "module app / go declared false go.mod go.sum vendor/modules.txt / go|run|.",
            ),
            (
                "go mod download && go run .",
                "go declared false go.mod go.sum vendor/modules.txt / go|run|.",
            ),
            (
                "go get golang.org/x/text@v0.3.0 && go run .",
                "1 golang.org/x/text@v0.3.0 / go declared false go.mod go.sum vendor/modules.txt / go|run|.",
            ),
            (
                "cargo add axum@0.7.5 && cargo run",
                "1 axum@0.7.5 / rust declared false Cargo.toml Cargo.lock / cargo|run",
            ),
            (
                "cargo build --release && cargo run --release",
                "rust declared false Cargo.toml Cargo.lock / cargo|run|--release",
            ),
            (
                "cargo fetch && ./app",
                "rust declared false Cargo.toml Cargo.lock / ./app",
            ),
            (
                "pip install -r ./requirements.txt flask --requirement=a/b.txt -rc && python x",
                "python declared false requirements.txt a/b.txt c / 1 flask / python|x",
            ),
            ("python -m pip", "python|-m|pip"),
        ] {
            assert_eq!(shown(line), expected, "{line}");
        }
    }

    #[test]
    fn other_steps_are_refused() {
        for (line, reason) in [
            ("cd src && python app.py", "installs nothing"),
            ("python setup.py && python app.py", "installs nothing"),
            ("yarn add x && node .", "installs nothing"),
            ("pip install flask", "starts no application"),
            ("npm ci", "starts no application"),
            ("pip install && python x", "not a supported form"),
            ("pip install -r && python x", "file `` is empty"),
            ("pip install -r ../x && python x", "has a segment of dots"),
            ("pip install -r https://x/y && python x", "contains a colon"),
            ("pip install -e . && python x", "is an option"),
            ("cargo fetch --locked && cargo run", "not a supported form"),
            (
                "pip install --index-url http://x flask && python x",
                "is an option",
            ),
            ("pip install . && python x", "is a path"),
            ("pip install git+https://x/y && python x", "is a URL"),
            ("pip install 'flask>=2' && python x", "name of a package"),
            ("npm init && node x", "not a supported form"),
            ("npm init -y evil && node x", "not a supported form"),
            (
                "npm ci --foreground-scripts && node x",
                "not a supported form",
            ),
            ("npm i -g x && node x", "is an option"),
            ("npm i user/repo && node x", "name of a package"),
            ("go get ./... && go run .", "is a path"),
            ("go get -u x.y/z && go run .", "is an option"),
            (
                "go mod edit -replace=a=b && go run .",
                "not a supported form",
            ),
            ("go mod init ../x && go run .", "not a supported form"),
            ("go mod init -x && go run .", "not a supported form"),
            ("cargo add --path x && cargo run", "is an option"),
            ("cargo add && cargo run", "not a supported form"),
            ("a | b", "shell syntax"),
        ] {
            let failure = Steps::read(line).expect_err(line);
            assert_eq!(failure.code, ErrorCode::Plan);
            assert!(
                failure.message.contains(reason),
                "{line}: {}",
                failure.message
            );
            assert!(!failure.hints.is_empty(), "{line}");
        }
    }

    #[test]
    fn packages_have_a_limit() {
        let line = |count: usize| format!("pip install {} && python x", vec!["a"; count].join(" "));
        assert!(Steps::read(&line(DEPENDENCIES_MAX)).is_ok());
        assert!(Steps::read(&line(DEPENDENCIES_MAX + 1)).is_err());
    }
}
