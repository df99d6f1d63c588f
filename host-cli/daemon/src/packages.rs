//! The dependency step: packages are resolved, decided on as a whole, and installed apart from the app \[2, 5\].

use super::daemon::Daemon;
use super::planning::name;
use super::refusal::{Answered, refused};
use super::task::Task;
use agent_effects::{Resolver, proxy};
use agent_host::call;
use agent_host::contract::daemon::{
    DependencyStep, ErrorCode, Failure as Refusal, Language, Requirement, ResolvedPackage,
    StartContent,
};
use agent_packages::{AppPackages, Error, Network, Registry, Requirements, Resolved, Store};
use agent_sandbox::Sandbox;
use std::rc::Rc;

impl Daemon {
    /// Installs the packages that the plan of a task and a command line ask for; `None` if they ask for none. They are
    /// the same ones at each start.
    pub(crate) async fn packages(
        &self,
        task: &Rc<Task>,
        content: &StartContent,
    ) -> Answered<Option<AppPackages>> {
        let wanted = wanted(task, content)?;
        let Some(language) = wanted.first().map(|it| it.language) else {
            return Ok(None);
        };
        let names: Vec<_> = wanted.iter().map(|it| it.name.clone()).collect();
        let allowlist = task.deps_allowlist.as_deref();
        self.admit_names(language, &names, allowlist)?;
        let registry = match language {
            Language::Python => Registry::PyPi,
            Language::Node => Registry::Npm,
            Language::Go | Language::Rust => {
                let message = format!("this daemon installs no packages of {}", name(language));
                let hint = "use the standard library of the language";
                return Err(refused(ErrorCode::Build, message, hint));
            }
        };
        if let Some(requirement) = wanted.iter().find(|it| !it.extras.is_empty()) {
            let message = format!("the extras of `{}` can't be installed", requirement.name);
            let hint = "ask for the packages of the extras by their names";
            return Err(refused(ErrorCode::Build, message, hint));
        }
        let locked = task.locked.borrow().clone();
        let wanted = self
            .decider
            .ask(|engine| call!(engine, daemon.call_pinned(&wanted, &locked)))?;
        let texts: Vec<_> = wanted.iter().map(text).collect();
        let requirements = Requirements::parse(registry, texts.iter().map(|it| &**it));
        let requirements = requirements.map_err(failed)?;
        let sandbox = Sandbox::best().await;
        let sandbox = sandbox.map_err(|none| {
            let hint = "run `agent sandbox check` for what is missing";
            refused(ErrorCode::Runtime, none.to_string(), hint)
        })?;
        let store = Store::usual().ok_or_else(|| {
            let message = "this user has no folder for packages";
            refused(ErrorCode::Build, message, "set `HOME`")
        })?;
        let network = self.registries();
        let resolved = store.resolve(requirements, &sandbox, &network).await;
        let resolved = resolved.map_err(failed)?;
        let closure = closure(&resolved);
        self.by_policy(|engine, policy| {
            if let Err(refusal) = call!(engine, daemon.call_check_resolution(&wanted, &closure))? {
                return Ok(Err(refusal));
            }
            call!(
                engine,
                daemon
                    .task_policy
                    .call_admit_closure(policy, language, &closure, allowlist)
            )
        })?;
        let installed = store.install_resolved(resolved, &sandbox, &network).await;
        let installed = installed.map_err(failed)?;
        task.locked.replace(closure);
        Ok(Some(installed))
    }

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

/// Returns the packages of a plan and of a command line, each once.
fn wanted(task: &Task, content: &StartContent) -> Answered<Vec<Requirement>> {
    let mut wanted: Vec<Requirement> = task.requirements.borrow().clone();
    for step in &content.steps.dependencies {
        match step {
            DependencyStep::Install(packages) => {
                for package in packages {
                    let is_same = |it: &&Requirement| it.normal_name == package.normal_name;
                    match wanted.iter().find(is_same) {
                        Some(known)
                            if package.version.is_none() || known.version == package.version => {}
                        Some(_) => {
                            let message = format!("`{}` is wanted in two versions", package.name);
                            let hint = "name one version of each package";
                            return Err(refused(ErrorCode::Plan, message, hint));
                        }
                        None => wanted.push(package.clone()),
                    }
                }
            }
            // The app gets its packages without these files.
            DependencyStep::InitPackage | DependencyStep::InitModule(_) => {}
            DependencyStep::InstallDeclared(declared) => {
                let message = format!(
                    "this daemon installs nothing that files of {} declare",
                    name(declared.language)
                );
                let hint = "name the packages, as in `npm install express && node index.js`";
                return Err(refused(ErrorCode::Build, message, hint));
            }
        }
    }
    let language = wanted.first().map(|it| it.language);
    if let Some(other) = wanted.iter().find(|it| Some(it.language) != language) {
        let message = format!("`{}` is a package of another language", other.name);
        let hint = "use packages of one language";
        return Err(refused(ErrorCode::Plan, message, hint));
    }
    Ok(wanted)
}

/// Returns a requirement as the clients of registries have it.
pub(crate) fn text(requirement: &Requirement) -> String {
    match &requirement.version {
        Some(version) => format!("{}@{version}", requirement.name),
        None => requirement.name.clone(),
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
    refused(ErrorCode::Build, error.to_string(), hint)
}
