//! `agent doctor`: what the gateways of this user need, and what is wrong with it.

use super::adopt::{Folders, secrets};
use crate::args::{Doctor, INDEX, LOCK};
use crate::command::CommandAnswer;
use crate::command::session::CommandSession;
use agent_host::contract::view::{Style, StyledSpan};
use agent_host::input::Input;
use agent_host::{Failure, block_on, call, output, unix_time};
use agent_login::Store as Logins;
use agent_operator::Operator;
use agent_packages::{Package, Store as Packages, has_client};
use agent_sandbox::check;
use agent_syntax::json::Writer;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Nothing ends the short commands that get secrets.
static NEVER: AtomicBool = AtomicBool::new(false);

/// What was found about one thing.
struct Finding {
    /// What it is about: a kind, or the name of a gateway.
    about: String,
    what: String,
    /// What to do, if it is a problem.
    help: Option<String>,
}

/// Everything that was found.
#[derive(Default)]
struct Findings(Vec<Finding>);

impl Findings {
    fn fine(&mut self, about: &str, what: impl Into<String>) {
        self.add(about, what.into(), None);
    }

    fn problem(&mut self, about: &str, what: impl Into<String>, help: impl Into<String>) {
        self.add(about, what.into(), Some(help.into()));
    }

    fn add(&mut self, about: &str, what: String, help: Option<String>) {
        self.0.push(Finding {
            about: about.to_owned(),
            what,
            help,
        });
    }
}

pub(super) fn run(args: &Doctor, session: &mut CommandSession) -> Result<CommandAnswer, Failure> {
    let folders = Folders::usual(args.servers.clone())?;
    let mut findings = Findings::default();
    sandbox(&mut findings)?;
    let operator = operator(&folders, &mut findings);
    for gateway in gateways(&folders) {
        check_gateway(&gateway, &operator, &mut findings, session)?;
    }
    logins(&mut findings);
    backups(&folders, &mut findings, session)?;
    left_processes(&mut findings);
    let is_fine = findings.0.iter().all(|it| it.help.is_none());
    session.show(|_| Ok(text(&findings)), |_| Ok(json(&findings)))?;
    Ok(CommandAnswer::yes_if(is_fine))
}

fn sandbox(findings: &mut Findings) -> Result<(), Failure> {
    let report = block_on(async { Ok(check().await) })?;
    match report.best() {
        Some(tier) => findings.fine("sandbox", format!("programs run in `{tier}`")),
        None => findings.problem(
            "sandbox",
            "this machine has none: no server starts",
            "run `agent sandbox` for what is missing",
        ),
    }
    for (client, packages, help) in [
        (
            "npm",
            "packages of npm",
            "install Node.js with npm, for servers that `npx` runs",
        ),
        (
            "python3",
            "packages of PyPI",
            "install Python with pip, for servers that `uvx` runs",
        ),
    ] {
        match has_client(client) {
            true => findings.fine("packages", format!("`{client}` installs {packages}")),
            false => findings.problem("packages", format!("there is no `{client}`"), help),
        }
    }
    Ok(())
}

/// Reads the operator's configuration, and gets each secret once.
fn operator(folders: &Folders, findings: &mut Findings) -> Operator {
    let path = &folders.operator;
    if !path.exists() {
        findings.fine("servers", format!("there is no `{}`", path.display()));
        return Operator::default();
    }
    let operator = match Operator::read(path) {
        Ok(operator) => operator,
        Err(error) => {
            findings.problem("servers", error.to_string(), "correct the file");
            return Operator::default();
        }
    };
    let count = operator.servers.len();
    let servers = if count == 1 { "server" } else { "servers" };
    findings.fine(
        "servers",
        format!("{count} {servers} in `{}`", path.display()),
    );
    for (name, source) in &operator.secrets {
        if let Err(error) = source.value(&NEVER) {
            let help = "keep the value again, or remove the secret from the file";
            findings.problem("secrets", format!("`{name}`: {error}"), help);
        }
    }
    operator
}

/// Returns the folders of this user's gateways.
fn gateways(folders: &Folders) -> Vec<PathBuf> {
    let root = folders.config.join("agent/gateways");
    let found = fs::read_dir(root).into_iter().flatten().flatten();
    let found = found.map(|it| it.path());
    let mut found: Vec<_> = found.filter(|it| it.join(LOCK).is_file()).collect();
    // A project's gateway lies beside its configuration.
    let records = folders.records().all().unwrap_or_default();
    let made = records.iter().flat_map(|it| it.record.made.keys());
    let locks = made.filter(|it| it.ends_with(LOCK) && it.is_file());
    found.extend(locks.filter_map(|it| it.parent().map(Path::to_owned)));
    found.sort();
    found.dedup();
    found
}

/// Checks the lock of a gateway against its index, and the packages of its servers.
fn check_gateway(
    folder: &Path,
    operator: &Operator,
    findings: &mut Findings,
    session: &mut CommandSession,
) -> Result<(), Failure> {
    let name = folder.display().to_string();
    let file = |name: &str| Input::File(folder.join(name));
    let again = format!("run `agent resolve` in `{name}`");
    let documents = (session.lock(&file(LOCK))?, session.index(&file(INDEX))?);
    let (Some(lock), Some(index)) = documents else {
        findings.problem(&name, "its lock or its index can't be read", again);
        return Ok(());
    };
    let drifts = call!(session.engine, lockfile.lock.verify(lock, index, None))?;
    match drifts.len() {
        0 => findings.fine(&name, "its lock matches its index"),
        _ => findings.problem(&name, "its lock does not match its index", again),
    }
    let selections = call!(session.engine, lockfile.lock.selections(lock))?;
    let store = Packages::usual();
    for selection in selections {
        let starts = operator.servers.get(&selection.id);
        let is_package = starts.is_none_or(|it| it.command.is_empty());
        let package = Package::parse(&selection.endpoint).ok();
        let (Some(package), Some(store), true) = (package, &store, is_package) else {
            continue;
        };
        let install = format!("run `agent install {}`", selection.endpoint);
        match store.installed(&package) {
            Ok(Some(_)) => findings.fine(&name, format!("{package} is installed")),
            Ok(None) => findings.problem(&name, format!("{package} is not installed"), install),
            Err(error) => {
                let help = error.help().map_or(install, str::to_owned);
                findings.problem(&name, error.to_string(), help);
            }
        }
    }
    Ok(())
}

fn logins(findings: &mut Findings) {
    let Some(store) = Logins::usual() else {
        return;
    };
    let logins = match store.logins() {
        Ok(logins) => logins,
        Err(error) => return findings.problem("logins", error, "run `agent logout`, then log in"),
    };
    let now = unix_time().as_secs();
    for login in logins {
        let endpoint = &login.endpoint;
        let is_over = login.expires.is_some_and(|it| it <= now) && !login.is_renewable;
        match is_over {
            false => findings.fine("logins", format!("logged in to {endpoint}")),
            true => findings.problem(
                "logins",
                format!("the login to {endpoint} has expired"),
                format!("run `agent login {endpoint}`"),
            ),
        }
    }
}

/// Lists the backups of adoptions, and those that have secrets.
fn backups(
    folders: &Folders,
    findings: &mut Findings,
    session: &mut CommandSession,
) -> Result<(), Failure> {
    for kept in folders.records().all()? {
        let before = kept.before()?;
        let servers = call!(session.engine, clients.installed(&before))?;
        let has_secrets = match secrets(servers.unwrap_or_default().iter()).is_empty() {
            true => "has no secret",
            false => "has secrets; `agent adopt --forget` removes it",
        };
        let (folder, file) = (kept.folder.display(), kept.record.file.display());
        findings.fine("backups", format!("`{folder}` of {file} {has_secrets}"));
    }
    Ok(())
}

/// Finds gateways whose client has ended: their parent is the first process.
fn left_processes(findings: &mut Findings) {
    let Ok(own) = env::current_exe() else {
        return;
    };
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    for process in processes.map(|it| it.path()) {
        let is_own = fs::read_link(process.join("exe")).is_ok_and(|exe| exe == own);
        let read = |name: &str| fs::read_to_string(process.join(name)).unwrap_or_default();
        if !is_own || read("cmdline").split('\0').nth(1) != Some("serve") {
            continue;
        }
        // Its name, in brackets, may have anything in it.
        let status = read("stat");
        let parent = status
            .rsplit(") ")
            .next()
            .and_then(|it| it.split(' ').nth(1));
        let is_http = read("cmdline")
            .split('\0')
            .any(|it| it.starts_with("--http"));
        if parent == Some("1") && !is_http {
            let number = process.file_name().unwrap_or_default().to_string_lossy();
            findings.problem(
                "processes",
                format!("the gateway of process {number} has no client"),
                format!("end it: `kill {number}`"),
            );
        }
    }
}

fn text(findings: &Findings) -> Vec<StyledSpan> {
    let mut text = String::new();
    for it in &findings.0 {
        let mark = if it.help.is_none() { "✓" } else { "✗" };
        let (about, what) = (output::visible(&it.about), it.what.replace('\n', "\n    "));
        text.push_str(&format!("{mark} {about}: {}\n", output::visible(&what)));
        if let Some(help) = &it.help {
            text.push_str(&format!("    help: {}\n", output::visible(help)));
        }
    }
    vec![StyledSpan {
        style: Style::Plain,
        text,
    }]
}

fn json(findings: &Findings) -> String {
    let mut w = Writer::pretty();
    w.object(|w| {
        w.key("findings").array(|w| {
            for it in &findings.0 {
                w.object(|w| {
                    w.key("about").string(&it.about);
                    if let Some(help) = &it.help {
                        w.key("help").string(help);
                    }
                    w.key("problem").bool(it.help.is_some());
                    w.key("what").string(&it.what);
                });
            }
        });
    });
    w.finish()
}
