//! What a registry says of a package before anything of it is installed.

use crate::{Error, Network, Registry, Requirement, Requirements, Store, Version};
use agent_sandbox::Sandbox;

/// What a registry says of a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The exact version.
    pub version: String,
    /// Who published it.
    pub publisher: Option<String>,
    /// The day of its publication.
    pub published: Option<String>,
}

impl Store {
    /// Returns what a registry says of a package, in a version or in the newest one. Nothing is installed. Needs a tokio
    /// runtime with I/O.
    ///
    /// # Errors
    ///
    /// When the client fails, or the registry has no such package.
    pub async fn look_up(
        &self,
        registry: Registry,
        name: &str,
        version: Option<&str>,
        sandbox: &Sandbox,
        network: &Network,
    ) -> Result<Facts, Error> {
        let version = match version {
            Some(version) => Version::Exact(version.to_owned()),
            None => Version::Any,
        };
        let requirement = Requirement::new(name, version);
        let requirements = Requirements::new(registry, vec![requirement])?;
        let resolved = self.resolve(requirements, sandbox, network).await?;
        let found = resolved.closure().iter().find(|it| it.name() == name);
        let found = found.ok_or_else(|| Error::new(format!("there is no package `{name}`")))?;
        Ok(Facts {
            version: found.version.clone(),
            publisher: None,
            published: None,
        })
    }
}
