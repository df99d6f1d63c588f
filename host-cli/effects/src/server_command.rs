//! How a server is started: by the operator's entry, or from its installed package.

use super::secrets::Secrets;
use agent_host::contract::run::Server;
use agent_operator::{Network, Server as Entry};
use agent_packages::{Package, Store};
use agent_sandbox::{Command, Network as Reach};
use std::env;
use std::path::{Path, PathBuf};
use tokio::task;

/// The command of a server.
pub(crate) struct Launch {
    pub(crate) command: Command,
    /// `host:port` of all that the server may reach, if its network is limited to hosts.
    pub(crate) hosts: Option<Vec<String>>,
    /// The digest of the closure of the package that the server starts from.
    pub(crate) package: Option<String>,
}

/// Returns the command that starts a server: that of the operator's entry, or else the program of the
/// installed package.
pub(crate) async fn launch(
    server: &Server,
    entry: &Entry,
    secrets: &Secrets,
) -> Result<Launch, String> {
    check_origin(entry, &server.endpoint)?;
    let text = |value| secrets.value(value).map(|(text, _)| text.into_owned());
    let arguments = entry.command.iter().skip(1).chain(&entry.arguments);
    let arguments = arguments.map(|it| text(it).map(Into::into));
    let arguments = arguments.collect::<Result<Vec<_>, _>>()?;
    let (mut command, package) = match entry.command.first() {
        Some(program) => (Command::new(find(&text(program)?)?), None),
        None => {
            let (command, digest) = installed(server).await?;
            (command, Some(digest))
        }
    };
    command.arguments.extend(arguments);
    for (name, value) in &entry.env {
        command.env.insert(name.into(), text(value)?.into());
    }
    command.cwd.clone_from(&entry.workdir);
    command.read.extend(entry.read.iter().cloned());
    command.write.clone_from(&entry.write);
    let mut hosts = None;
    command.network = match &entry.network {
        Network::None => Reach::None,
        Network::Host => Reach::Host,
        Network::Hosts(_) if entry.unfenced => {
            return Err(format!(
                "`{}` has `sandbox: none`, without which its network can't be limited to hosts",
                server.id
            ));
        }
        Network::Hosts(listed) => {
            let listed = listed.iter().map(|(host, port)| format!("{host}:{port}"));
            hosts = Some(listed.collect());
            Reach::Proxy
        }
    };
    Ok(Launch {
        command,
        hosts,
        package,
    })
}

/// Checks that a package is the one that the operator's entry is for. A foreign lock may give its id to another one,
/// which would get its secrets.
fn check_origin(entry: &Entry, endpoint: &str) -> Result<(), String> {
    let Some(origin) = entry.origin.as_deref().filter(|it| it.starts_with("pkg:")) else {
        return Ok(());
    };
    match endpoint.strip_prefix(origin) {
        Some(rest) if rest.is_empty() || rest.starts_with('@') => Ok(()),
        _ => Err(format!(
            "its `origin` in `servers.local.yaml` is {origin}, and the lock names {endpoint}"
        )),
    }
}

/// Returns the command of an installed package, and the digest of its closure.
async fn installed(server: &Server) -> Result<(Command, String), String> {
    let (id, endpoint) = (&server.id, &server.endpoint);
    let package = Package::parse(&server.endpoint).map_err(|error| {
        format!("`servers.local.yaml` has no `command` for `{id}`, and {error}")
    })?;
    let store = Store::usual().ok_or("this user has no folder for packages")?;
    let name = package.to_string();
    // Every file is read and compared with the record.
    let found = task::spawn_blocking(move || store.installed(&package)).await;
    let found = found.map_err(|error| error.to_string())?;
    let found = found.map_err(|error| match error.help() {
        Some(help) => format!("{error}; {help}"),
        None => error.to_string(),
    })?;
    let installed = found.ok_or_else(|| {
        format!("the package `{name}` is not installed: run `agent install {endpoint}`")
    })?;
    let [program, start] = installed.command;
    let mut command = Command::new(program);
    command.arguments = vec![start.into()];
    command.env = installed.env;
    command.read = installed.read;
    Ok((command, installed.digest))
}

/// Returns the path of a program, which is searched in the folders of `PATH` if it is a bare name.
fn find(program: &str) -> Result<PathBuf, String> {
    if program.contains('/') {
        return Ok(PathBuf::from(program));
    }
    let folders = env::var_os("PATH").unwrap_or_default();
    let found = env::split_paths(&folders)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(program));
    let found = found.into_iter().find(|path| Path::is_file(path));
    found.ok_or_else(|| format!("there is no program `{program}`"))
}

#[cfg(test)]
mod tests {
    use super::{Entry, check_origin};

    #[test]
    fn an_entry_is_for_its_package_alone() {
        let check = |origin: &str, endpoint: &str| {
            let entry = Entry {
                origin: Some(origin.to_owned()),
                ..Entry::default()
            };
            check_origin(&entry, endpoint).is_ok()
        };
        assert!(check("pkg:npm/acme", "pkg:npm/acme@1.0.0"));
        assert!(check("https://acme.example", "pkg:npm/acme@1.0.0"));
        for other in [
            "pkg:npm/acme-evil@1.0.0",
            "pkg:pypi/acme@1.0.0",
            "pkg:npm/%40evil/acme@1.0.0",
            "https://acme.example",
        ] {
            assert!(!check("pkg:npm/acme", other), "{other}");
        }
        assert!(check_origin(&Entry::default(), "pkg:npm/acme@1.0.0").is_ok());
    }
}
