//! The places of configurations.

use agent_ownership::UserFolder;
use std::env;
use std::path::{Path, PathBuf};

/// A client, with the places of its configurations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientPlaces {
    /// Its name in options and answers.
    pub name: &'static str,
    /// The files of a user, below the home folder; those below `.config` follow `XDG_CONFIG_HOME`.
    pub of_user: &'static [&'static str],
    /// The files of a project, below its folder.
    pub of_project: &'static [&'static str],
    /// The keys to the servers in the first file of a user.
    pub servers: &'static [&'static str],
    /// The name of the limits of the models that get its tools, if they are known.
    pub limits: Option<&'static str>,
}

/// The clients whose places are known.
pub const CLIENTS: [ClientPlaces; 13] = [
    ClientPlaces {
        name: "amp",
        of_user: &[".config/amp/settings.json"],
        of_project: &[],
        servers: &["amp.mcpServers"],
        limits: None,
    },
    ClientPlaces {
        name: "claude-code",
        of_user: &[".claude.json"],
        of_project: &[".mcp.json"],
        servers: &["mcpServers"],
        limits: Some("anthropic"),
    },
    ClientPlaces {
        name: "claude-desktop",
        of_user: &[".config/Claude/claude_desktop_config.json"],
        of_project: &[],
        servers: &["mcpServers"],
        limits: Some("anthropic"),
    },
    ClientPlaces {
        name: "cline",
        of_user: &[
            ".config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
        ],
        of_project: &[],
        servers: &["mcpServers"],
        limits: None,
    },
    ClientPlaces {
        name: "codex",
        of_user: &[".codex/config.toml"],
        of_project: &[".codex/config.toml"],
        servers: &["mcp_servers"],
        limits: Some("openai"),
    },
    ClientPlaces {
        name: "continue",
        of_user: &[".continue/config.yaml", ".continue/config.json"],
        of_project: &[],
        servers: &["mcpServers"],
        limits: None,
    },
    ClientPlaces {
        name: "cursor",
        of_user: &[".cursor/mcp.json"],
        of_project: &[".cursor/mcp.json"],
        servers: &["mcpServers"],
        limits: Some("cursor"),
    },
    ClientPlaces {
        name: "gemini",
        of_user: &[".gemini/settings.json"],
        of_project: &[".gemini/settings.json"],
        servers: &["mcpServers"],
        limits: Some("gemini"),
    },
    ClientPlaces {
        name: "goose",
        of_user: &[".config/goose/config.yaml"],
        of_project: &[],
        servers: &["extensions"],
        limits: None,
    },
    ClientPlaces {
        name: "opencode",
        of_user: &[
            ".config/opencode/opencode.json",
            ".config/opencode/opencode.jsonc",
        ],
        of_project: &["opencode.json", "opencode.jsonc"],
        servers: &["mcp"],
        limits: None,
    },
    ClientPlaces {
        name: "vscode",
        of_user: &[
            ".config/Code/User/mcp.json",
            ".config/Code/User/settings.json",
        ],
        of_project: &[".vscode/mcp.json"],
        servers: &["servers"],
        limits: Some("vscode"),
    },
    ClientPlaces {
        name: "windsurf",
        of_user: &[".codeium/windsurf/mcp_config.json"],
        of_project: &[],
        servers: &["mcpServers"],
        limits: None,
    },
    ClientPlaces {
        name: "zed",
        of_user: &[".config/zed/settings.json"],
        of_project: &[".zed/settings.json"],
        servers: &["context_servers"],
        limits: None,
    },
];

/// A configuration that exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigurationFile {
    /// The client.
    pub client: &'static str,
    /// The file.
    pub path: PathBuf,
    /// Whether it is the user's own. That of a project may be a stranger's.
    pub is_of_user: bool,
}

/// The folders with configurations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folders {
    /// The user's home.
    pub home: Option<PathBuf>,
    /// The user's configuration folder, instead of `.config` in the home.
    pub config: Option<PathBuf>,
    /// The folder of a project.
    pub project: PathBuf,
}

impl ClientPlaces {
    /// Returns the user's file of this client: the first that exists, or else the first one. `None` without a home.
    #[must_use]
    pub fn file_of_user(&self, folders: &Folders) -> Option<PathBuf> {
        let files = self.of_user.iter();
        let files: Vec<_> = files.filter_map(|path| folders.of_user(path)).collect();
        let existing = files.iter().find(|path| path.is_file()).cloned();
        existing.or_else(|| files.into_iter().next())
    }
}

impl Folders {
    /// Returns the folders of this process: those of its environment, and the working folder.
    #[must_use]
    pub fn usual() -> Self {
        Self {
            home: env::home_dir(),
            config: UserFolder::Config.path(),
            project: PathBuf::new(),
        }
    }

    fn of_user(&self, path: &str) -> Option<PathBuf> {
        match (path.strip_prefix(".config/"), &self.config) {
            (Some(rest), Some(config)) => Some(config.join(rest)),
            _ => Some(self.home.as_ref()?.join(path)),
        }
    }
}

/// Returns the configurations that exist, by the names of their clients; those of the user come first.
#[must_use]
pub fn find(folders: &Folders) -> Vec<ConfigurationFile> {
    let mut found: Vec<ConfigurationFile> = Vec::new();
    for client in &CLIENTS {
        let of_user = client
            .of_user
            .iter()
            .filter_map(|path| folders.of_user(path));
        let of_user = of_user.map(|path| (path, true));
        let of_project = client
            .of_project
            .iter()
            .map(|path| folders.project.join(path));
        let of_project = of_project.map(|path| (path, false));
        for (path, is_of_user) in of_user.chain(of_project) {
            // In the user's home, a file of the project is that of the user.
            let is_known = |it: &ConfigurationFile| is_same(&it.path, &path);
            if path.is_file() && !found.iter().any(is_known) {
                found.push(ConfigurationFile {
                    client: client.name,
                    path,
                    is_of_user,
                });
            }
        }
    }
    found
}

/// Returns whether two paths lead to one file.
#[must_use]
pub fn is_same(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => one == other,
    }
}

#[cfg(test)]
mod tests {
    use super::{CLIENTS, Folders, find};
    use std::fs;

    #[test]
    fn what_exists_is_found_where_its_client_looks() {
        let home = tempfile::tempdir().unwrap();
        let at = |path: &str| home.path().join(path);
        let write = |path: &str| {
            fs::create_dir_all(at(path).parent().unwrap()).unwrap();
            fs::write(at(path), "{}").unwrap();
        };
        for client in CLIENTS {
            client.of_user.iter().for_each(|path| write(path));
            client
                .of_project
                .iter()
                .for_each(|path| write(&format!("work/{path}")));
        }
        let mut folders = Folders {
            home: Some(at("")),
            config: None,
            project: at("work"),
        };
        let found = find(&folders);
        let count = |of_user: bool| found.iter().filter(|it| it.is_of_user == of_user).count();
        let of_user: usize = CLIENTS.iter().map(|it| it.of_user.len()).sum();
        let of_project: usize = CLIENTS.iter().map(|it| it.of_project.len()).sum();
        assert_eq!((count(true), count(false)), (of_user, of_project));
        let names: Vec<_> = found.iter().map(|it| it.client).collect();
        assert!(names.is_sorted());
        // Another configuration folder replaces `.config`.
        write("other/zed/settings.json");
        folders.config = Some(at("other"));
        let found = find(&folders);
        let zed: Vec<_> = found.iter().filter(|it| it.client == "zed").collect();
        assert_eq!(zed[0].path, at("other/zed/settings.json"));
        assert!(found.iter().all(|it| it.client != "amp"));
        // In the home, nothing is found twice.
        folders.project = at("");
        let found = find(&folders);
        let codex = found.iter().filter(|it| it.client == "codex").count();
        assert_eq!(codex, 1);
        assert!(
            find(&Folders {
                home: None,
                config: None,
                project: at("none")
            })
            .is_empty()
        );
    }
}
