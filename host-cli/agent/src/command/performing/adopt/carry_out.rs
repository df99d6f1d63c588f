//! Adopting the servers of a configuration, step by step. The client's file is changed last: whatever ended an earlier
//! run, the next one begins with the same configuration and comes to the same files.

use super::Folders;
use super::found::{Adoptee, Configuration};
use crate::args::{AUDIT, Adopt, Arguments, CaptureOptions, Global, INDEX, LOCK};
use crate::command::performing::client_limits::warn_of_limits;
use crate::command::performing::install::{network, sandbox, store};
use crate::command::performing::live_servers::{Target, capture, operator};
use crate::command::session::{CommandSession, MANIFESTS};
use crate::command::{self, CommandAnswer};
use agent_adopt::{
    CLIENTS, ClientPlaces, KeptSecret, Known, NewSecret, Reached, Record, Ungoverned, content,
    identify, lasting_program, private_folder, replace, replace_of_stranger, replace_private,
    usual_id,
};
use agent_host::contract::clients::{Gateway, InstalledServer};
use agent_host::contract::diagnostic::Diagnostic;
use agent_host::contract::first_manifest::Offer;
use agent_host::contract::importer::{IndexedServer, LiveServer};
use agent_host::input::Input;
use agent_host::session_files::DEFINITIONS;
use agent_host::{Failure, block_on, call, hex, output};
use agent_operator::{Additions, Network, Operator, SecretSource};
use agent_packages::Package;
use clap::Parser as _;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// The name of the gateway in a client's configuration.
pub(super) const GATEWAY: &str = "agent";

/// Nothing ends the short commands of the keyring.
static NEVER: AtomicBool = AtomicBool::new(false);

/// The servers of one place of a configuration after its adoption.
pub(super) struct Outcome {
    pub(super) client: String,
    pub(super) file: PathBuf,
    /// The new content of the file.
    pub(super) written: Option<String>,
    /// The folder of the gateway.
    pub(super) folder: PathBuf,
    /// The names of the servers with their ids and versions.
    pub(super) governed: Vec<(String, String)>,
    pub(super) ungoverned: Vec<(String, Ungoverned)>,
    /// How many secrets were moved to the keyring, and how many to files.
    pub(super) secrets: (usize, usize),
}

impl Outcome {
    pub(super) fn is_whole(&self) -> bool {
        self.ungoverned.is_empty()
    }
}

/// A server on its way to the gateway.
struct Server<'c> {
    installed: &'c InstalledServer,
    id: String,
    /// The package URL, or the URL; `None` for another program.
    endpoint: Option<String>,
    version: Option<String>,
    additions: Additions,
    kept: Vec<KeptSecret>,
}

/// The adoption of this run.
pub(super) struct Adoption<'a> {
    args: &'a Adopt,
    global: &'a Global,
    folders: &'a Folders,
    session: &'a mut CommandSession,
    program: PathBuf,
    /// The operator's configuration as the next step finds it.
    operator: Operator,
    /// Whether the keyring is there, once it was tried.
    has_keyring: Option<bool>,
}

impl<'a> Adoption<'a> {
    pub(super) fn new(
        args: &'a Adopt,
        global: &'a Global,
        folders: &'a Folders,
        session: &'a mut CommandSession,
    ) -> Result<Self, Failure> {
        let has_file = folders.operator.exists();
        Ok(Self {
            program: lasting_program(&folders.data, env!("CARGO_PKG_VERSION"))?,
            operator: match has_file {
                true => operator(Some(&folders.operator))?,
                false => Operator::default(),
            },
            args,
            global,
            folders,
            session,
            has_keyring: None,
        })
    }

    /// Adopts the servers of a configuration.
    pub(super) fn carry_out(
        &mut self,
        configuration: &Configuration,
    ) -> Result<Vec<Outcome>, Failure> {
        let mut text = configuration.text.clone();
        let mut outcomes = Vec::new();
        for (place, servers) in configuration.places() {
            let outcome = self.adopt(configuration, place, servers, &text)?;
            if let Some(written) = &outcome.written {
                text = written.clone().into_bytes();
            }
            outcomes.push(outcome);
        }
        // The file has the text of its last place.
        let last = outcomes.iter().rposition(|it| it.written.is_some());
        for (number, outcome) in outcomes.iter_mut().enumerate() {
            if Some(number) != last {
                outcome.written = None;
            }
        }
        Ok(outcomes)
    }

    fn adopt(
        &mut self,
        configuration: &Configuration,
        place: &str,
        servers: Vec<Adoptee<'_>>,
        before: &[u8],
    ) -> Result<Outcome, Failure> {
        let mut outcome = Outcome {
            client: configuration.client.clone(),
            file: configuration.path.clone(),
            written: None,
            folder: folder(configuration, place, self.folders),
            governed: Vec::new(),
            ungoverned: Vec::new(),
            secrets: (0, 0),
        };
        let mut ready = Vec::new();
        for server in servers {
            match self.prepare(&server, &configuration.path)? {
                Ok(server) => ready.push(server),
                Err(reason) => {
                    let name = server.installed.name.clone();
                    outcome.ungoverned.push((name, reason));
                }
            }
        }
        let staged = self.folders.staged();
        private_folder(&staged)?;
        let ready = self.capture(ready, &staged, &mut outcome)?;
        let secrets: Vec<_> = ready.iter().flat_map(|it| it.kept.clone()).collect();
        let resolved = self.resolve(ready, &staged, &mut outcome);
        if resolved.is_err() {
            secrets.iter().for_each(forget);
        }
        let ready = resolved?;
        if !ready.is_empty() {
            self.warn_of_limits(configuration, &staged)?;
            self.write(configuration, place, ready, before, &staged, &mut outcome)?;
        }
        self.folders.remove_staged()?;
        Ok(outcome)
    }

    /// Installs the package of a server, and moves its secrets.
    fn prepare<'c>(
        &mut self,
        server: &Adoptee<'c>,
        file: &Path,
    ) -> Result<Result<Server<'c>, Ungoverned>, Failure> {
        let Adoptee {
            installed,
            adoptable,
            facts,
        } = *server;
        let name = &installed.name;
        let hosts = self.args.reach.iter().filter(|(server, _)| server == name);
        let hosts: Vec<_> = hosts.map(|(_, host)| host.clone()).collect();
        let network = match hosts.is_empty() {
            true => Network::None,
            false => Network::Hosts(hosts),
        };
        let (endpoint, version) = match &adoptable.reached {
            Reached::Program => (None, None),
            Reached::Url(url) => (Some(url.clone()), None),
            Reached::Package(package) => {
                let version = facts.map(|it| &it.version).or(package.version.as_ref());
                let version = version.cloned().unwrap_or_default();
                let url = package.url(&version);
                if let Err(reason) = self.install(&url)? {
                    return Ok(Err(reason));
                }
                (Some(url), Some(version))
            }
        };
        let operator = &self.operator;
        let has_secret = |name: &str, secret: &NewSecret| match (operator.secrets.get(name), secret)
        {
            (Some(SecretSource::Env(known)), NewSecret::Variable(variable)) => known == variable,
            (Some(source), NewSecret::Value(value)) => source
                .value(&NEVER)
                .is_ok_and(|known| known.expose() == value),
            _ => false,
        };
        let known = Known {
            operator,
            has_secret: &has_secret,
            file,
        };
        let (id, entry, is_known) = identify(name, adoptable, &network, &known);
        let mut additions = Additions::default();
        let mut kept = Vec::new();
        for (name, secret) in entry.secrets {
            let source = match secret {
                NewSecret::Variable(variable) => SecretSource::Env(variable),
                NewSecret::Value(value) => {
                    let secret = self.keep(&name, &value)?;
                    let source = secret.source();
                    // One that was there before belongs to an earlier adoption.
                    if !self.operator.secrets.contains_key(&name) {
                        kept.push(secret);
                    }
                    source
                }
            };
            if self.operator.secrets.get(&name) != Some(&source) {
                additions.secrets.push((name.clone(), source.clone()));
            }
            self.operator.secrets.insert(name, source);
        }
        if !is_known {
            additions.servers.push((id.clone(), entry.server.clone()));
        }
        self.operator.servers.insert(id.clone(), entry.server);
        Ok(Ok(Server {
            installed,
            id,
            endpoint,
            version,
            additions,
            kept,
        }))
    }

    fn install(&mut self, url: &str) -> Result<Result<(), Ungoverned>, Failure> {
        let package = match Package::parse(url) {
            Ok(package) => package,
            Err(error) => {
                let reason = Ungoverned::new(error.to_string(), "name an exact version");
                return Ok(Err(reason));
            }
        };
        let (store, network) = (store()?, network(&self.args.registries, self.session));
        if !matches!(store.installed(&package), Ok(Some(_))) {
            self.say(format_args!("installing {url}"));
        }
        let installed = block_on(async {
            let sandbox = sandbox().await?;
            Ok::<_, Failure>(store.install(&package, &sandbox, &network).await)
        })?;
        Ok(installed.map(drop).map_err(|error| {
            let help = error.help().map_or_else(
                || "install npm for `npx`, and Python with pip for `uvx`".to_owned(),
                str::to_owned,
            );
            Ungoverned::new(error.to_string(), help)
        }))
    }

    /// Keeps a secret in the keyring, or in a file if there is none.
    fn keep(&mut self, name: &str, value: &str) -> Result<KeptSecret, Failure> {
        if self.has_keyring != Some(false) {
            let item = KeptSecret::Keyring(name.to_owned());
            let source = item.source();
            let kept = source.keep(value, &NEVER);
            // A keyring that is locked takes nothing.
            let read = kept.and_then(|()| source.value(&NEVER));
            let is_kept = read.is_ok_and(|it| it.expose() == value);
            self.has_keyring = Some(is_kept);
            if is_kept {
                return Ok(item);
            }
            self.say("no keyring takes secrets: they go to files that only you can read");
        }
        let file = usual_id(name).replace('/', "-");
        let path = self.folders.data.join("agent/secrets").join(file);
        let kept = KeptSecret::File(path);
        let source = kept.source();
        source.keep(value, &NEVER).map_err(Failure::new)?;
        Ok(kept)
    }

    /// Lists the tools of each server, and adds it to the index of the gateway.
    fn capture<'c>(
        &mut self,
        servers: Vec<Server<'c>>,
        staged: &Path,
        outcome: &mut Outcome,
    ) -> Result<Vec<Server<'c>>, Failure> {
        let mut index = content(&outcome.folder.join(INDEX))?;
        let mut captured = Vec::new();
        for mut server in servers {
            let target = Target {
                id: server.id.clone(),
                version: server.version.clone(),
                endpoint: server.endpoint.clone(),
            };
            let options = CaptureOptions {
                index: PathBuf::new(),
                servers: None,
                timeout: self.args.timeout,
            };
            self.say(format_args!("listing the tools of {}", server.id));
            let listed = capture(vec![target], &self.operator, &options, self.session)?;
            let added = match listed.into_iter().next() {
                Some(Ok(live)) => self.add(&live, &mut index)?,
                Some(Err(message)) => Err(Ungoverned::new(message, help_for(&server))),
                None => return Err(Failure::internal("nothing was captured")),
            };
            match added {
                Ok(version) => {
                    server.version = Some(version);
                    captured.push(server);
                }
                Err(reason) => self.leave(&server, reason, outcome),
            }
        }
        if let Some(index) = index {
            let path = staged.join(INDEX);
            fs::write(&path, index).map_err(|error| unwritable(&path, &error))?;
        }
        Ok(captured)
    }

    /// Adds a server to an index. Returns its version.
    fn add(
        &mut self,
        live: &LiveServer,
        index: &mut Option<Vec<u8>>,
    ) -> Result<Result<String, Ungoverned>, Failure> {
        let engine = &mut self.session.engine;
        let known = match index {
            None => Vec::new(),
            Some(text) => match call!(engine, inputs.index.load(text))? {
                Err(problems) => return Ok(Err(refused(&problems))),
                Ok(read) => call!(engine, importer.servers(read))?,
            },
        };
        // A run that was ended may have added it already.
        let is_it = |it: &&IndexedServer| {
            let version = live.version.as_ref();
            it.id == live.id && version.is_none_or(|version| it.version == *version)
        };
        if let Some(known) = known.iter().find(is_it) {
            let is_same = match &live.endpoint {
                Some(endpoint) => known.endpoint == *endpoint,
                None => known.endpoint.starts_with("pkg:generic/"),
            };
            return Ok(match is_same {
                true => Ok(known.version.clone()),
                false => Err(Ungoverned::new(
                    format!("the index beside it has another server `{}`", live.id),
                    "give one of the two another name",
                )),
            });
        }
        let added = call!(engine, importer.add(live, None, index.as_deref()))?;
        Ok(match added {
            Err(problems) => Err(refused(&problems)),
            Ok(imported) => {
                *index = Some(imported.index.into_bytes());
                let added = imported.added.first();
                let version = added.and_then(|it| it.rsplit_once('@'));
                Ok(version.map_or_else(String::new, |(_, version)| version.to_owned()))
            }
        })
    }

    /// Leaves a server with its client, and takes back what was kept for it.
    fn leave(&mut self, server: &Server<'_>, reason: Ungoverned, outcome: &mut Outcome) {
        for (id, _) in &server.additions.servers {
            self.operator.servers.remove(id);
        }
        for (name, _) in &server.additions.secrets {
            self.operator.secrets.remove(name);
        }
        server.kept.iter().for_each(forget);
        let name = server.installed.name.clone();
        outcome.ungoverned.push((name, reason));
    }

    /// Writes a manifest and resolves it. Servers that the lock does not have stay ungoverned.
    fn resolve<'c>(
        &mut self,
        servers: Vec<Server<'c>>,
        staged: &Path,
        outcome: &mut Outcome,
    ) -> Result<Vec<Server<'c>>, Failure> {
        if servers.is_empty() {
            return Ok(servers);
        }
        let manifest = self.stage_manifest(staged, &outcome.folder)?;
        self.say("resolving");
        let lock = staged.join(LOCK);
        let locked = match self.run_resolve(&staged.join(manifest), staged, &lock)? {
            CommandAnswer::Yes => self.session.lock(&Input::File(lock))?,
            _ => None,
        };
        let Some(locked) = locked else {
            let path = outcome.folder.join(manifest);
            let message = format_args!("`{}` can't be resolved with these servers", path.display());
            return Err(Failure::new(message).help("see above, and correct it"));
        };
        let selections = call!(self.session.engine, lockfile.lock.selections(locked))?;
        let ids: BTreeSet<_> = selections.into_iter().map(|it| it.id).collect();
        let (locked, others): (Vec<_>, Vec<_>) =
            servers.into_iter().partition(|it| ids.contains(&it.id));
        for server in others {
            let reason = Ungoverned::new(
                format!("`{manifest}` of its gateway does not require it"),
                format!("add `- category: {}` to `requires.mcp`", server.id),
            );
            self.leave(&server, reason, outcome);
        }
        Ok(locked)
    }

    /// Writes the manifest of a gateway into a folder, and returns its name. One that is there already is kept, unless
    /// it is as it was drafted: then it requires the new servers, too.
    fn stage_manifest(&mut self, staged: &Path, folder: &Path) -> Result<&'static str, Failure> {
        let name = folder.file_name().unwrap_or_default();
        let name = name.to_string_lossy().into_owned();
        // Many projects have an AGENTS.md for people, which requires nothing.
        let existing = MANIFESTS.iter().find_map(|it| {
            let text = content(&folder.join(it)).ok()??;
            has_frontmatter(&text).then_some((*it, text))
        });
        let index = content(&staged.join(INDEX))?.unwrap_or_default();
        let (manifest, text) = match existing {
            None => {
                let prose = content(&folder.join(MANIFESTS[0]))?;
                let draft = self.draft(&name, &prose.unwrap_or_default(), &index)?;
                (MANIFESTS[0], draft.into_bytes())
            }
            Some((manifest, text)) => {
                let before = content(&folder.join(INDEX))?;
                let before = before
                    .map(|before| self.draft(&name, b"", &before))
                    .transpose()?;
                match before.is_some_and(|before| before.as_bytes() == text) {
                    true => (manifest, self.draft(&name, b"", &index)?.into_bytes()),
                    false => (manifest, text),
                }
            }
        };
        let path = staged.join(manifest);
        fs::write(&path, text).map_err(|error| unwritable(&path, &error))?;
        Ok(manifest)
    }

    /// Resolves a manifest as `agent resolve` does.
    fn run_resolve(
        &self,
        manifest: &Path,
        folder: &Path,
        lock: &Path,
    ) -> Result<CommandAnswer, Failure> {
        let index = folder.join(INDEX);
        let mut words: Vec<&OsStr> = ["agent", "--quiet", "resolve"].map(OsStr::new).to_vec();
        if let Some(engine) = &self.global.engine {
            words.extend([OsStr::new("--engine"), engine.as_os_str()]);
        }
        words.push(manifest.as_os_str());
        words.extend([OsStr::new("--index"), index.as_os_str()]);
        words.extend([OsStr::new("--lock"), lock.as_os_str()]);
        let arguments = Arguments::try_parse_from(words);
        let arguments = arguments.map_err(|error| Failure::internal(error.to_string()))?;
        command::run(&arguments)
    }

    /// Returns a first manifest, which requires every server of an index, in front of an existing text.
    fn draft(&mut self, name: &str, existing: &[u8], index: &[u8]) -> Result<String, Failure> {
        let engine = &mut self.session.engine;
        let none = || Failure::internal("there is no first manifest of the index");
        let index = call!(engine, inputs.index.load(index))?.map_err(|_| none())?;
        let offer = Offer::Index(index);
        let made = call!(engine, first_manifest.make(name, existing, &offer))?;
        made.map(|draft| draft.text).map_err(|_| none())
    }

    /// Writes everything: first the record with the backup, last the client's file.
    fn write(
        &mut self,
        configuration: &Configuration,
        place: &str,
        servers: Vec<Server<'_>>,
        before: &[u8],
        staged: &Path,
        outcome: &mut Outcome,
    ) -> Result<(), Failure> {
        let folder = &outcome.folder;
        let gateway = self.gateway(configuration, folder);
        let paths: Vec<_> = servers.iter().map(|it| it.installed.path.clone()).collect();
        let keys = [place.to_owned()];
        let governed = call!(
            self.session.engine,
            clients.govern(before, &keys, &paths, &gateway)
        )?;
        let after = match governed {
            Ok(text) => text,
            Err(problems) => {
                let reason = refused(&problems);
                for server in servers {
                    self.leave(&server, reason.clone(), outcome);
                }
                return Ok(());
            }
        };
        let mut additions = Additions::default();
        let mut secrets = Vec::new();
        for server in &servers {
            additions
                .servers
                .extend(server.additions.servers.iter().cloned());
            additions
                .secrets
                .extend(server.additions.secrets.iter().cloned());
            secrets.extend(server.kept.iter().cloned());
        }
        let operator_before = content(&self.folders.operator)?;
        let operator_text = operator_before.clone().unwrap_or_default();
        let operator_text = String::from_utf8_lossy(&operator_text).into_owned();
        let added = additions.add_to(&operator_text).map_err(|why| {
            let path = self.folders.operator.display();
            Failure::new(format_args!("`{path}` can't be changed: {why}"))
        })?;
        let mut made = BTreeMap::new();
        let names = [INDEX, MANIFESTS[0], MANIFESTS[1], DEFINITIONS, LOCK];
        for name in names {
            let Some(new) = content(&staged.join(name))? else {
                continue;
            };
            let old = content(&folder.join(name))?;
            let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
            made.insert(folder.join(name), (old.map(text), text(new)));
        }
        let record = Record {
            client: configuration.client.clone(),
            file: configuration.path.clone(),
            after: after.clone(),
            place: place.to_owned(),
            servers: paths,
            gateway: gateway.name.clone(),
            command: [gateway.program]
                .into_iter()
                .chain(gateway.arguments)
                .collect(),
            operator: self.folders.operator.clone(),
            lines: added.lines,
            secrets,
            made,
        };
        self.folders.records().keep(&record, before)?;
        if !additions.servers.is_empty() || !additions.secrets.is_empty() {
            replace_private(
                &self.folders.operator,
                operator_before.as_deref(),
                added.text.as_bytes(),
            )?;
        }
        // The lock comes last, as `agent resolve` writes it.
        for name in names {
            let path = folder.join(name);
            let Some((old, new)) = record.made.get(&path) else {
                continue;
            };
            let old = old.as_ref().map(String::as_bytes);
            match configuration.is_own {
                true => replace_private(&path, old, new.as_bytes())?,
                false => replace_of_stranger(&path, old, new.as_bytes())?,
            }
        }
        match configuration.is_own {
            true => replace(&configuration.path, Some(before), after.as_bytes())?,
            false => replace_of_stranger(&configuration.path, Some(before), after.as_bytes())?,
        }
        outcome.written = Some(after);
        for secret in &record.secrets {
            match secret {
                KeptSecret::Keyring(_) => outcome.secrets.0 += 1,
                KeptSecret::File(_) => outcome.secrets.1 += 1,
            }
        }
        let named = servers.into_iter().map(|it| {
            let version = it.version.unwrap_or_default();
            (it.installed.name.clone(), format!("{}@{version}", it.id))
        });
        outcome.governed = named.collect();
        Ok(())
    }

    /// Returns the gateway of a configuration's client.
    fn gateway(&self, configuration: &Configuration, folder: &Path) -> Gateway {
        let files = (&*folder.join(LOCK), &*folder.join(INDEX));
        let client = places_of(&configuration.client);
        gateway(&self.program, files, &self.folders.operator, client)
    }

    /// Warns of tools that the models behind a client refuse.
    fn warn_of_limits(
        &mut self,
        configuration: &Configuration,
        staged: &Path,
    ) -> Result<(), Failure> {
        let limits = places_of(&configuration.client).and_then(|it| it.limits);
        let Some(limits) = limits else {
            return Ok(());
        };
        let file = |name: &str| Input::File(staged.join(name));
        warn_of_limits(limits, &file(LOCK), &file(INDEX), self.session)
    }

    fn say(&mut self, line: impl std::fmt::Display) {
        self.session.note(line);
    }
}

/// Returns the folder of the gateway's documents: the user's own, or that of the project's file. That of a client's usual
/// place has its name; each other file and each project in it has a folder of its own.
pub(super) fn folder(configuration: &Configuration, place: &str, folders: &Folders) -> PathBuf {
    let path = &configuration.path;
    if !configuration.is_own {
        return path.parent().unwrap_or(Path::new("/")).to_owned();
    }
    let mut name = configuration.client.clone();
    let first = places_of(&name).and_then(|it| it.of_user.first());
    let is_first = first.is_some_and(|it| path.ends_with(it.trim_start_matches(".config/")));
    if !is_first {
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        name = format!("{name}-{}", usual_id(&file));
    }
    if place.starts_with("projects.") {
        let digest = Sha256::digest(place.as_bytes());
        name = format!("{name}-{}", hex(&digest[..4]));
    }
    folders.config.join("agent/gateways").join(name)
}

/// Returns the gateway of a lock and an index, as a client starts it. Its audit log is beside the lock.
pub(in crate::command) fn gateway(
    program: &Path,
    (lock, index): (&Path, &Path),
    operator: &Path,
    client: Option<&ClientPlaces>,
) -> Gateway {
    let own = |path: &Path| path.to_string_lossy().into_owned();
    let options = [
        ("--lock", own(lock)),
        ("--index", own(index)),
        ("--audit", own(&lock.with_file_name(AUDIT))),
        ("--servers", own(operator)),
    ];
    let limits = client.and_then(|it| it.limits);
    let limits = limits.map(|it| ("--for", it.to_owned()));
    let options = options.into_iter().chain(limits);
    let options = options.flat_map(|(option, value)| [option.to_owned(), value]);
    Gateway {
        name: GATEWAY.to_owned(),
        program: own(program),
        arguments: ["serve".to_owned()].into_iter().chain(options).collect(),
    }
}

/// Returns whether a manifest has frontmatter.
fn has_frontmatter(text: &[u8]) -> bool {
    let text = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text);
    text.starts_with(b"---")
}

/// Removes a secret that nothing names.
pub(super) fn forget(secret: &KeptSecret) {
    if let Err(error) = secret.source().forget(&NEVER) {
        output::note(format_args!("warning: {error}"));
    }
}

/// Returns the client of a name.
pub(super) fn places_of(client: &str) -> Option<&'static ClientPlaces> {
    CLIENTS.iter().find(|it| it.name == client)
}

/// Returns what to do about a server that can't be captured.
fn help_for(server: &Server<'_>) -> String {
    let name = &server.installed.name;
    match &server.endpoint {
        Some(url) if !url.starts_with("pkg:") => {
            format!("check the URL and its headers; a login: `agent login {url}`")
        }
        _ => format!("if it needs the network, pass `--reach {name}=HOST:PORT`"),
    }
}

fn refused(problems: &[Diagnostic]) -> Ungoverned {
    let first = problems.first();
    let reason = first.map_or_else(String::new, |it| it.message.clone());
    let fix = first.and_then(|it| it.fixes.first());
    let help = fix.map_or("correct its entry in the client's configuration", |it| {
        &*it.title
    });
    Ungoverned::new(reason, help)
}

pub(super) fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(format_args!("can't write `{}`: {error}", path.display()))
}
