//! The configurations of clients, and what the gateway can do with each server.

use super::Folders;
use crate::args::Adopt;
use crate::command::performing::clients::{self, is_governed};
use crate::command::performing::connect::place;
use crate::command::performing::install::{network, sandbox, store};
use crate::command::session::CommandSession;
use agent_adopt::{Adoptable, Reached, Surroundings, Ungoverned, adoptable, content};
use agent_host::contract::clients::InstalledServer;
use agent_host::input::Input;
use agent_host::{Failure, block_on, hex};
use agent_packages::{Facts, Registry};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Maximum number of servers of one configuration that are adopted: each is looked up, and runs once.
const SERVERS_MAX: usize = 100;

/// A configuration with its servers.
pub(super) struct Configuration {
    /// The client, or the name of its file.
    pub(super) client: String,
    /// The absolute path of the file.
    pub(super) path: PathBuf,
    /// Whether it is a configuration of this user, not of a folder.
    pub(super) is_own: bool,
    /// Its content.
    pub(super) text: Vec<u8>,
    pub(super) servers: Vec<Candidate>,
}

/// A server of a configuration.
pub(super) struct Candidate {
    pub(super) server: InstalledServer,
    pub(super) state: State,
}

/// What can be done with a server.
pub(super) enum State {
    /// The gateway itself.
    Gateway,
    /// The client does not start it.
    Disabled,
    Adoptable {
        server: Box<Adoptable>,
        /// What the registry says of its package.
        facts: Option<Facts>,
    },
    Ungoverned(Ungoverned),
}

impl Configuration {
    pub(super) fn has_adoptable(&self) -> bool {
        self.servers
            .iter()
            .any(|it| matches!(it.state, State::Adoptable { .. }))
    }

    /// Returns the adoptable servers by the keys to their object or list.
    pub(super) fn places(&self) -> BTreeMap<&str, Vec<Adoptee<'_>>> {
        let mut places = BTreeMap::<_, Vec<_>>::new();
        for Candidate { server, state } in &self.servers {
            if let State::Adoptable {
                server: adoptable,
                facts,
            } = state
            {
                places.entry(place(server)).or_default().push(Adoptee {
                    installed: server,
                    adoptable,
                    facts: facts.as_ref(),
                });
            }
        }
        places
    }
}

/// A server to adopt.
pub(super) struct Adoptee<'c> {
    /// It as the client has it.
    pub(super) installed: &'c InstalledServer,
    pub(super) adoptable: &'c Adoptable,
    pub(super) facts: Option<&'c Facts>,
}

/// Configurations, and whether a stranger's was not read.
pub(super) struct Found {
    pub(super) configurations: Vec<Configuration>,
    pub(super) has_skipped: bool,
}

/// Reads the configurations that the options name. `None` if one can't be read; the findings say why.
pub(super) fn configurations(
    args: &Adopt,
    folders: &Folders,
    session: &mut CommandSession,
) -> Result<Option<Found>, Failure> {
    let inputs = args.inputs.iter().map(|(id, file)| {
        let answer = fs::read_to_string(file);
        let answer = answer.map_err(|error| {
            Failure::new(format_args!("can't read `{}`: {error}", file.display()))
        })?;
        Ok((id.clone(), answer.trim_end_matches(['\n', '\r']).to_owned()))
    });
    let variables = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let mut surroundings = Surroundings {
        home: folders.home.clone(),
        project: None,
        variables: variables.collect(),
        python: agent_packages::python().ok(),
        inputs: inputs.collect::<Result<_, Failure>>()?,
        own_folders: folders.own(),
    };
    let (mut found, mut is_whole, mut has_skipped) = (Vec::new(), true, false);
    let files = clients::files(&args.clients)?;
    if files.is_empty() {
        let message = "no configuration of an MCP client was found";
        return Err(Failure::new(message).help("name a configuration with `--client FILE`"));
    }
    for (file, number) in files.into_iter().zip(0..) {
        // A file of the working folder has to be named.
        if !file.is_own && !file.is_named {
            has_skipped = true;
            session.note(format_args!(
                "`{}` may be a stranger's: list it with `--client {0}`",
                file.path.display()
            ));
            continue;
        }
        let path = std::path::absolute(&file.path);
        let path = path.map_err(|error| Failure::new(error.to_string()))?;
        let Some(text) = content(&path)? else {
            return Err(Failure::new(format_args!(
                "there is no `{}`",
                path.display()
            )));
        };
        let may_lack = file.client.is_some();
        // What is listed is what was read: the file may change meanwhile.
        let input = Input::File(path.clone());
        let servers = session.installed_in(&text, &input, number, may_lack)?;
        let Some(servers) = servers else {
            is_whole = false;
            continue;
        };
        surroundings.project = if file.is_own { None } else { project(&path) };
        let servers = servers
            .into_iter()
            .zip(0..)
            .map(|(server, number)| Candidate {
                state: match number < SERVERS_MAX {
                    true => state(&server, &surroundings),
                    false => State::Ungoverned(Ungoverned::new(
                        format!("the configuration has more than {SERVERS_MAX} servers"),
                        "remove those that you do not use",
                    )),
                },
                server,
            });
        found.push(Configuration {
            client: file.client.map_or_else(|| name(&path), str::to_owned),
            is_own: file.is_own,
            servers: servers.collect(),
            path,
            text,
        });
    }
    found.retain(|it| !it.servers.is_empty());
    Ok(is_whole.then_some(Found {
        configurations: found,
        has_skipped,
    }))
}

/// Returns the folder of the project of a file, which may be in a hidden folder of a client.
fn project(file: &Path) -> Option<PathBuf> {
    let folder = file.parent()?;
    let name = folder.file_name().unwrap_or_default();
    match name.to_string_lossy().starts_with('.') {
        true => folder.parent().map(Path::to_owned),
        false => Some(folder.to_owned()),
    }
}

fn name(path: &Path) -> String {
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    agent_adopt::usual_id(&name)
}

fn state(server: &InstalledServer, surroundings: &Surroundings) -> State {
    if is_governed(server) {
        return State::Gateway;
    }
    if !server.is_enabled {
        return State::Disabled;
    }
    match adoptable(server, surroundings) {
        Ok(adoptable) => State::Adoptable {
            server: Box::new(adoptable),
            facts: None,
        },
        Err(reason) => State::Ungoverned(reason),
    }
}

/// Looks the packages up: the newest version of one without a version, and who published it.
pub(super) fn look_up(
    found: &mut [Configuration],
    args: &Adopt,
    session: &CommandSession,
) -> Result<(), Failure> {
    let store = store()?;
    let network = network(&args.registries, session);
    block_on(async {
        let mut best = None;
        for candidate in found.iter_mut().flat_map(|it| &mut it.servers) {
            let State::Adoptable { server, facts } = &mut candidate.state else {
                continue;
            };
            let Reached::Package(package) = &server.reached else {
                continue;
            };
            let sandbox = match &best {
                Some(sandbox) => sandbox,
                None => best.insert(sandbox().await?),
            };
            let registry = match package.origin.starts_with("pkg:npm/") {
                true => Registry::Npm,
                false => Registry::PyPi,
            };
            // The newest version has a name of its own in npm alone.
            let version = package.version.as_deref().filter(|it| *it != "latest");
            let name = package.name();
            let found = store.look_up(registry, &name, version, sandbox, &network);
            match found.await {
                Ok(found) => *facts = Some(found),
                // Who published a version that is named does not decide.
                Err(_) if version.is_some_and(|it| package.is_exact(it)) => {}
                Err(error) => {
                    let help = error.help().unwrap_or("name the version in its arguments");
                    let reason = Ungoverned::new(error.to_string(), help);
                    candidate.state = State::Ungoverned(reason);
                }
            }
        }
        Ok(())
    })
}

/// Returns the digest of everything that was listed: the files, and the versions that they do not name.
pub(super) fn digest(found: &[Configuration]) -> String {
    let mut digest = Sha256::new();
    for configuration in found {
        digest.update(Sha256::digest(
            configuration.path.to_string_lossy().as_bytes(),
        ));
        digest.update(Sha256::digest(&configuration.text));
        for candidate in &configuration.servers {
            if let State::Adoptable {
                facts: Some(facts), ..
            } = &candidate.state
            {
                digest.update(Sha256::digest(&facts.version));
            }
        }
    }
    format!("sha256-{}", hex(&digest.finalize()))
}
