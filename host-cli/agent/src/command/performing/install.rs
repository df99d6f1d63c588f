//! `agent install`: the packages of locked servers.

use crate::args::{ClientNetwork, Install, Registries};
use crate::command::CommandAnswer;
use crate::command::session::CommandSession;
use agent_effects::{Resolver, proxy};
use agent_host::contract::view::{Style, StyledSpan};
use agent_host::{Failure, block_on, call};
use agent_packages::{Installed, Network, Package, Store};
use agent_sandbox::Sandbox;
use agent_syntax::json::Writer;
use std::collections::BTreeMap;

pub(super) fn run(args: &Install, session: &mut CommandSession) -> Result<CommandAnswer, Failure> {
    let is_url = |id: &String| id.starts_with("pkg:");
    let mut locked = BTreeMap::new();
    // Package URLs need no lock.
    if args.ids.is_empty() || !args.ids.iter().all(is_url) {
        let Some(lock) = session.lock(&args.lock)? else {
            return session.refuse();
        };
        let selections = call!(session.engine, lockfile.lock.selections(lock))?;
        locked.extend(selections.into_iter().map(|it| (it.id, it.endpoint)));
    }
    let urls = args.ids.iter().filter(|it| is_url(it));
    locked.extend(urls.map(|url| (url.clone(), url.clone())));
    let packages = packages(&args.ids, &locked)?;
    let store = store()?;
    let network = network(&args.registries, session);
    let installed = block_on(install(&store, packages, &network))?;
    session.show(|_| Ok(text(&installed)), |_| Ok(json(&installed)))?;
    if installed.is_empty() {
        session.note(format_args!(
            "no server of {} has a package of npm or PyPI",
            args.lock
        ));
    }
    Ok(CommandAnswer::Yes)
}

/// Returns the network of npm and pip.
pub(super) fn network(registries: &Registries, session: &CommandSession) -> Network {
    match registries.network {
        ClientNetwork::Host => Network::Host,
        ClientNetwork::Registries => {
            let engine = session.component();
            Network::Registries {
                proxy: Box::new(move |hosts| {
                    let made = proxy(&engine, hosts, Resolver::system());
                    made.map_err(|failure| failure.message)
                }),
                resolver: Resolver::system(),
                more: registries.allowed_hosts.clone(),
            }
        }
    }
}

/// Returns the store of packages.
pub(super) fn store() -> Result<Store, Failure> {
    Store::usual().ok_or_else(|| Failure::new("this user has no folder for packages"))
}

/// Returns the packages to install by the ids of their servers.
fn packages(
    ids: &[String],
    locked: &BTreeMap<String, String>,
) -> Result<Vec<(String, Package)>, Failure> {
    if ids.is_empty() {
        let registries = ["pkg:npm/", "pkg:pypi/"];
        let is_package = |url: &String| registries.iter().any(|it| url.starts_with(it));
        let started = locked.iter().filter(|(_, url)| is_package(url));
        let parsed = started.map(|(id, url)| Ok((id.clone(), Package::parse(url)?)));
        return parsed
            .collect::<Result<_, agent_packages::Error>>()
            .map_err(Failure::new);
    }
    let named = ids.iter().map(|id| {
        let url = locked
            .get(id)
            .ok_or_else(|| Failure::new(format_args!("the lock has no server `{id}`")))?;
        let package = Package::parse(url).map_err(Failure::new)?;
        Ok((id.clone(), package))
    });
    named.collect()
}

/// Returns the best sandbox of this machine.
pub(super) async fn sandbox() -> Result<Sandbox, Failure> {
    let best = Sandbox::best().await;
    best.map_err(|none| Failure::new(none).help("run `agent sandbox` for what is missing"))
}

async fn install(
    store: &Store,
    packages: Vec<(String, Package)>,
    network: &Network,
) -> Result<Vec<(String, Package, Installed)>, Failure> {
    let sandbox = sandbox().await?;
    let mut all = Vec::new();
    for (id, package) in packages {
        let installed = store.install(&package, &sandbox, network).await;
        let installed = installed.map_err(|error| match error.help() {
            Some(help) => Failure::new(&error).help(help),
            None => Failure::new(&error),
        })?;
        all.push((id, package, installed));
    }
    Ok(all)
}

fn text(all: &[(String, Package, Installed)]) -> Vec<StyledSpan> {
    let lines = all.iter().map(|(id, package, installed)| StyledSpan {
        style: Style::Plain,
        text: format!(
            "{id}  {package}  {} in all  {}\n",
            match installed.closure.len() {
                1 => "1 package".to_owned(),
                count => format!("{count} packages"),
            },
            installed.digest
        ),
    });
    lines.collect()
}

fn json(all: &[(String, Package, Installed)]) -> String {
    let mut w = Writer::pretty();
    w.object(|w| {
        w.key("installed").array(|w| {
            for (id, package, installed) in all {
                w.object(|w| {
                    w.key("closure").array(|w| {
                        for item in &installed.closure {
                            w.object(|w| {
                                w.key("integrity").string(&item.integrity);
                                w.key("path").string(&item.path);
                                w.key("version").string(&item.version);
                            });
                        }
                    });
                    w.key("digest").string(&installed.digest);
                    w.key("id").string(id);
                    w.key("package").string(&package.to_string());
                });
            }
        });
    });
    w.finish()
}
