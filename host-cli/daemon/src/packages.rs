//! The dependency step: packages are resolved, decided on as a whole, and installed apart from the app \[2, 5\].

use super::daemon::Daemon;
use super::refusal::{Answered, Trouble, refused};
use super::task::Task;
use agent_effects::{Resolver, proxy};
use agent_host::call;
use agent_host::contract::daemon::{
    DeclaringFile, DependencyStep, ErrorCode, Failure as Refusal, Language, Requirement,
    ResolvedPackage, StartContent,
};
use agent_packages::{
    AppPackages, Error, Network, Registry, Requirements, Resolved, Store, Version,
};
use agent_sandbox::Sandbox;
use agent_tasks::SourcePath;
use std::rc::Rc;

impl Daemon {
    /// Installs the packages that the plan of a task, a command line and the files of the app ask for; `None` if they
    /// ask for none. They are the same ones at each start.
    pub(crate) async fn packages(
        &self,
        task: &Rc<Task>,
        content: &StartContent,
    ) -> Answered<Option<AppPackages>> {
        let Wanted {
            packages: wanted,
            lock,
            manifest,
            is_new_module,
        } = self.wanted(task, content).await?;
        let language = wanted.first().map(|it| it.language);
        // A module that has no file yet needs one, even if it needs no other module.
        let Some(language) = language.or(is_new_module.then_some(Language::Go)) else {
            return Ok(None);
        };
        let names: Vec<_> = wanted.iter().map(|it| it.name.clone()).collect();
        let allowlist = task.deps_allowlist.as_deref();
        if !names.is_empty() {
            self.admit_names(language, &names, allowlist)?;
        }
        let registry = match language {
            Language::Python => Registry::PyPi,
            Language::Node => Registry::Npm,
            Language::Rust => Registry::CratesIo,
            Language::Go => Registry::Go,
        };
        let locked = task.locked.borrow().clone();
        let wanted = self
            .decider
            .ask(|engine| call!(engine, daemon.call_pinned(&wanted, &locked)))?;
        let list = wanted.iter().map(requirement).collect();
        let requirements = Requirements::new(registry, list).map_err(failed)?;
        let requirements = requirements.with_lock(lock).with_manifest(manifest);
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
            if closure.is_empty() {
                return Ok(Ok(()));
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

    /// Returns what a plan, a command line and the files of the app ask for.
    async fn wanted(&self, task: &Rc<Task>, content: &StartContent) -> Answered<Wanted> {
        let mut packages: Vec<Requirement> = task.requirements.borrow().clone();
        let (mut lock, mut manifest, mut module) = (None, None, None);
        for step in &content.steps.dependencies {
            match step {
                DependencyStep::Install(named) => packages.extend(named.iter().cloned()),
                // The app gets its packages without this file.
                DependencyStep::InitPackage => {}
                DependencyStep::InitModule(name) => module = Some(format!("module {name}\n")),
                DependencyStep::InstallDeclared(declared) => {
                    let paths = declared.files.clone();
                    let files =
                        self.with_folder(task, ErrorCode::Fs, move |task| declaring(task, &paths));
                    let files = files.await?;
                    let declaration = self.decider.decide(|engine| {
                        call!(engine, daemon.call_read_declared(declared, &files))
                    })?;
                    packages.extend(declaration.requirements);
                    lock = declaration.lock.or(lock);
                    manifest = declaration.manifest.or(manifest);
                }
            }
        }
        let packages = self
            .decider
            .decide(|engine| call!(engine, daemon.call_merge(&packages)))?;
        Ok(Wanted {
            packages,
            lock,
            is_new_module: manifest.is_none() && module.is_some(),
            manifest: manifest.or(module),
        })
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

/// What an app asks for.
struct Wanted {
    /// The packages, each once.
    packages: Vec<Requirement>,
    /// The lock file of the app.
    lock: Option<String>,
    /// The directives by which a module of Go is compiled.
    manifest: Option<String>,
    /// Whether that module has no file yet.
    is_new_module: bool,
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

/// Returns the files that exist of those that declare dependencies.
fn declaring(task: &agent_tasks::Task, paths: &[String]) -> Result<Vec<DeclaringFile>, Trouble> {
    let source = task.source()?;
    let mut files = Vec::new();
    for path in paths {
        let Some(version) = source.read(&SourcePath::parse(path)?)? else {
            continue;
        };
        files.push(DeclaringFile {
            path: path.clone(),
            content: version.content()?,
        });
    }
    Ok(files)
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
