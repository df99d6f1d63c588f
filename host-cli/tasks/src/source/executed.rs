//! Names that tools execute, or take orders from, when they work in a folder.
//!
//! An export with the files of an app must be data: a person opens it in an editor, and calls git, make or a package
//! manager in it. The list can't be complete, so an exported file of an app also has no permission to run.

/// Names that tools execute, in lower case, each with its source. `*` stands for any text, and `/` at the end for a
/// folder.
///
/// A name that begins with a dot is not listed, and left out in any case. Shells, editors, agents and git take orders
/// from such names, and new ones appear: `.envrc` (direnv(1)), `.vscode/tasks.json` (VS Code, "Tasks"), `.idea/`
/// (IntelliJ, "Startup tasks"), `.git` and `.gitattributes` (gitrepository-layout(5), gitattributes(5)), `.npmrc` (npm,
/// "npmrc"), `.cargo/config.toml` (Cargo book, "Configuration"), `.claude/settings.json` (Claude Code, "Hooks"),
/// `.dir-locals.el` (Emacs manual, "Directory Variables"), `.exrc` (vim, `'exrc'`), `.gdbinit` (GDB manual,
/// "Auto-loading").
const EXECUTED: &[(&[&str], &str)] = &[
    (
        &["git~1", "git~1/"],
        "git, `is_ntfs_dotgit` of path.c: `.git` on NTFS",
    ),
    (
        &["_fossil_", "_darcs/", "cvs/"],
        "Fossil, \"Settings\"; Darcs, \"Hooks\"; CVS, \"The administrative files\"",
    ),
    (
        &[
            "*.tf",
            "*.tf.json",
            "ansible.cfg",
            "tsconfig.json",
            "jsconfig.json",
        ],
        "Terraform, `external`; Ansible, \"Configuration\"; TypeScript, \"plugins\"",
    ),
    (
        &["gnumakefile", "makefile", "makefile.*", "*.mk"],
        "GNU make manual, \"Makefile Names\" and \"Include\"",
    ),
    (
        &[
            "cmakelists.txt",
            "cmakepresets.json",
            "cmakeuserpresets.json",
            "*.cmake",
        ],
        "cmake-language(7), cmake-presets(7)",
    ),
    (
        &[
            "build.ninja",
            "meson.build",
            "sconstruct",
            "sconscript",
            "configure",
            "*.m4",
        ],
        "manuals of Ninja, Meson, SCons and Autoconf",
    ),
    (
        &[
            "build",
            "build.bazel",
            "workspace",
            "workspace.bazel",
            "module.bazel",
            "*.bzl",
            "buck",
        ],
        "Bazel, \"Build files\"; Buck2, \"Build files\"",
    ),
    (
        &[
            "cargo.toml",
            "build.rs",
            "rust-toolchain",
            "rust-toolchain.toml",
        ],
        "Cargo book, \"Build Scripts\"; rustup book, \"Overrides\"",
    ),
    (
        &[
            "package.json",
            "binding.gyp",
            "node_modules/",
            "bunfig.toml",
            "deno.json",
            "deno.jsonc",
        ],
        "npm, \"scripts\"; Node.js, \"Modules\"; Bun, \"bunfig.toml\"; Deno, \"Configuration\"",
    ),
    (
        &[
            "*.config.js",
            "*.config.cjs",
            "*.config.mjs",
            "*.config.ts",
            "*.config.cts",
            "*.config.mts",
            "gulpfile.*",
            "gruntfile.*",
            "jakefile*",
        ],
        "configuration files of ESLint, Vite and others; gulp, Grunt, Jake",
    ),
    (
        &[
            "setup.py",
            "setup.cfg",
            "pyproject.toml",
            "conftest.py",
            "pytest.ini",
            "tox.ini",
            "noxfile.py",
            "sitecustomize.py",
            "usercustomize.py",
            "*.pth",
        ],
        "PEP 517; pytest, \"conftest.py\"; tox; nox; Python, module `site`",
    ),
    (
        &["go.work", "go.mod", "magefile.go", "magefiles/"],
        "Go, \"Toolchains\"; Mage, \"Magefiles\"",
    ),
    (
        &[
            "rakefile",
            "rakefile.rb",
            "gemfile",
            "gems.rb",
            "*.gemspec",
            "vagrantfile",
            "podfile",
            "fastfile",
            "brewfile",
        ],
        "Rake, Bundler, Vagrant, CocoaPods, fastlane, Homebrew: Ruby files",
    ),
    (
        &[
            "composer.json",
            "mix.exs",
            "makefile.pl",
            "build.pl",
            "project.clj",
            "deps.edn",
            "build.sbt",
            "package.swift",
        ],
        "Composer, \"Scripts\"; Mix; ExtUtils::MakeMaker; Leiningen; sbt; SwiftPM",
    ),
    (
        &[
            "pom.xml",
            "build.xml",
            "mvnw",
            "mvnw.cmd",
            "gradlew",
            "gradlew.bat",
            "gradle/",
            "*.gradle",
            "*.gradle.kts",
            "gradle.properties",
        ],
        "Maven, Ant and Gradle manuals",
    ),
    (
        &[
            "*.sln",
            "*.csproj",
            "*.vbproj",
            "*.fsproj",
            "*.vcxproj",
            "*.props",
            "*.targets",
            "nuget.config",
            "global.json",
        ],
        "MSBuild, \"Customize your build\"",
    ),
    (
        &[
            "justfile",
            "*.just",
            "taskfile",
            "taskfile.*",
            "mise.toml",
            "procfile",
            "earthfile",
            "tiltfile",
            "lefthook.yml",
            "lefthook.yaml",
        ],
        "just, Task, mise, Foreman, Earthly, Tilt and Lefthook",
    ),
    (
        &[
            "dockerfile*",
            "containerfile*",
            "*.dockerfile",
            "compose.yml",
            "compose.yaml",
            "docker-compose*",
            "jenkinsfile*",
            "azure-pipelines.yml",
            "cloudbuild.yaml",
        ],
        "Docker, Compose, Jenkins, Azure Pipelines, Cloud Build",
    ),
    (
        &[
            "flake.nix",
            "default.nix",
            "shell.nix",
            "devenv.nix",
            "guix.scm",
            "manifest.scm",
        ],
        "nix3-develop(1), nix-shell(1), guix shell",
    ),
    (
        &[
            "*.code-workspace",
            "*.iml",
            "*.ipr",
            "*.sublime-project",
            "session.vim",
            "*.desktop",
            "desktop.ini",
            "autorun.inf",
            "*.lnk",
            "*.url",
        ],
        "VS Code, IntelliJ, Sublime Text, vim; Desktop Entry Specification; Windows shell",
    ),
    (
        &[
            "agents.md",
            "claude.md",
            "gemini.md",
            "skill.md",
            "agents.lock",
            "mcp.index.json",
            "servers.yaml",
            "servers.local.yaml",
            "policy.yaml",
        ],
        "agents.md and the like: orders to agents; files of this program",
    ),
];

/// Names that make a folder a repository, in lower case: `is_git_directory` in setup.c of git. `commondir` names
/// another folder that has the last two.
const HEAD: &str = "head";
const COMMON: &str = "commondir";
const PARTS: [&str; 2] = ["objects", "refs"];

/// Returns whether tools execute a file or a folder of this name, or take orders from it.
pub(super) fn is_executed(name: &str, is_folder: bool) -> bool {
    let mut name = folded(name);
    let is_hidden = name.is_empty() || name.starts_with('.');
    name.push_str(if is_folder { "/" } else { "" });
    let fits = |pattern: &&str| match pattern.split_once('*') {
        Some((begin, end)) => {
            name.len() >= begin.len() + end.len() && name.starts_with(begin) && name.ends_with(end)
        }
        None => name == *pattern,
    };
    is_hidden
        || EXECUTED
            .iter()
            .any(|(patterns, _)| patterns.iter().any(fits))
}

/// Returns whether git would take a folder with entries of these names for a repository, on any file system. What
/// the entries are does not matter: they may be others a moment later.
pub(super) fn is_repository<'n>(names: impl Iterator<Item = &'n str>) -> bool {
    let names: Vec<String> = names.map(folded).collect();
    let has = |name: &str| names.iter().any(|it| it == name);
    has(HEAD) && (has(COMMON) || PARTS.into_iter().all(has))
}

/// Returns a name as file systems compare it: without case, without the characters that HFS+ ignores (`next_hfs_char`
/// in utf8.c of git), and without the dots and spaces at its end that Windows drops.
fn folded(name: &str) -> String {
    let kept = name.chars().filter(|c| {
        !matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
    });
    let kept: String = kept.collect();
    let lower = kept.to_uppercase().to_lowercase();
    lower.trim_end_matches(['.', ' ']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::{EXECUTED, is_executed, is_repository};

    /// The reference of the command that exports.
    const PAGE: &str = include_str!("../../../../docs/reference/mcp.md");

    #[test]
    fn the_reference_lists_every_name_that_is_left_out() {
        for (patterns, source) in EXECUTED {
            assert!(!source.is_empty());
            for pattern in *patterns {
                assert!(PAGE.contains(&format!("`{pattern}`")), "{pattern}");
                assert_eq!(*pattern, pattern.to_lowercase());
            }
        }
    }

    #[test]
    fn names_of_tools_are_left_out_in_any_spelling() {
        for name in [
            ".git",
            ".envrc",
            ".GIT",
            ".g\u{200c}it",
            "\u{feff}.git",
            "GIT~1",
            "Makefile",
            "MAKEFILE.",
            "GNUmakefile ",
            "Makefile.am",
            "eslint.config.mjs",
            "any.pth",
            "Dockerfile.dev",
            "AGENTS.md",
            ".",
            "..",
            "\u{200c}",
        ] {
            assert!(is_executed(name, false), "{name:?}");
        }
        for name in [
            "data.json",
            "store.db",
            "notes.md",
            "makefiles",
            "pth",
            "a.makefile",
        ] {
            assert!(!is_executed(name, false), "{name:?}");
        }
        for name in [".vscode", "Node_Modules", "git~1"] {
            assert!(is_executed(name, true), "{name:?}");
        }
        for name in ["build", "Makefile", "data"] {
            assert!(!is_executed(name, true), "{name:?}");
        }
    }

    #[test]
    fn a_folder_is_a_repository_by_its_names() {
        let is = |names: &[&str]| is_repository(names.iter().copied());
        assert!(is(&["HEAD", "config", "objects", "refs"]));
        assert!(is(&["head", "OBJECTS.", "Refs"]));
        assert!(is(&["HEAD", "commondir"]));
        assert!(!is(&["HEAD", "objects"]));
        assert!(!is(&["objects", "refs", "commondir"]));
        assert!(!is(&["HEAD.txt", "objects", "refs"]));
    }
}
