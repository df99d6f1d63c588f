//! The dependency step: packages are resolved, decided on as a whole, and installed apart from the app \[2, 5\].

use super::daemon::Daemon;
use super::effects::Effects;
use super::refusal::{Answered, Refusal, broken, refused};
use agent_effects::{Resolver, proxy};
use agent_host::Failure;
use agent_host::contract::daemon::{ErrorCode, Language, Requirement, Resolution, ResolvedPackage};
use agent_packages::{Error, Network, Registry, Requirements, Resolved, Store, Version};
use agent_sandbox::Sandbox;

impl Effects<'_> {
    /// Resolves packages. What is found is kept for [`Self::install`].
    pub(crate) async fn resolve(
        &mut self,
        resolution: Resolution,
    ) -> Answered<Vec<ResolvedPackage>> {
        let registry = match resolution.language {
            Language::Python => Registry::PyPi,
            Language::Node => Registry::Npm,
            Language::Rust => Registry::CratesIo,
            Language::Go => Registry::Go,
        };
        let list = resolution.requirements.iter().map(requirement).collect();
        let requirements = Requirements::new(registry, list).map_err(failed)?;
        let requirements = requirements
            .with_lock(resolution.lock)
            .with_manifest(resolution.manifest);
        let (store, sandbox, network) = (store()?, sandbox().await?, self.daemon.registries());
        let resolved = store.resolve(requirements, &sandbox, &network).await;
        let resolved = resolved.map_err(failed)?;
        let closure = closure(&resolved);
        self.resolved = Some(resolved);
        Ok(closure)
    }

    /// Installs what was resolved.
    pub(crate) async fn install(&mut self) -> Answered<()> {
        let Some(resolved) = self.resolved.take() else {
            return Err(broken(Failure::internal("nothing was resolved")));
        };
        let (store, sandbox, network) = (store()?, sandbox().await?, self.daemon.registries());
        let installed = store.install_resolved(resolved, &sandbox, &network).await;
        self.packages = Some(installed.map_err(failed)?);
        Ok(())
    }
}

impl Daemon {
    /// Returns the network of the registries' clients: the registries, and nothing else.
    fn registries(&self) -> Network {
        let engine = self.decider.engine();
        Network::Registries {
            proxy: Box::new(move |hosts| {
                let made = proxy(&engine, hosts, Resolver::system());
                made.map_err(|failure| failure.message)
            }),
            resolver: Resolver::system(),
            more: Vec::new(),
        }
    }
}

async fn sandbox() -> Answered<Sandbox> {
    Sandbox::best().await.map_err(|none| {
        let hint = "run `agent sandbox` for what is missing";
        refused(ErrorCode::Runtime, none.to_string(), hint)
    })
}

fn store() -> Answered<Store> {
    Store::usual().ok_or_else(|| {
        let message = "this user has no folder for packages";
        refused(ErrorCode::Build, message, "set `HOME`")
    })
}

/// Returns a requirement as the clients of registries have it.
fn requirement(wanted: &Requirement) -> agent_packages::Requirement {
    let version = match (&wanted.version, &wanted.range) {
        (Some(version), _) => Version::Exact(version.clone()),
        (None, Some(range)) => Version::Range(range.clone()),
        (None, None) => Version::Any,
    };
    agent_packages::Requirement {
        name: wanted.name.clone(),
        extras: wanted.extras.clone(),
        default_features: wanted.default_features,
        version,
    }
}

fn closure(resolved: &Resolved) -> Vec<ResolvedPackage> {
    let items = resolved.closure().iter();
    let packages = items.map(|item| ResolvedPackage {
        name: item.name().to_owned(),
        version: item.version.clone(),
        required_by: Vec::new(),
    });
    packages.collect()
}

fn failed(error: Error) -> Refusal {
    let hint = error.help().unwrap_or("check the names and the versions");
    let code = match error.is_unreachable() {
        true => ErrorCode::Network,
        false => ErrorCode::Build,
    };
    refused(code, error.to_string(), hint)
}
