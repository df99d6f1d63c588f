//! The documents of a session with servers, in the files that options name.

use super::contract::capability::Notation;
use super::contract::diagnostic::DocumentKind;
use super::contract::session::Documents;
use super::failure::Failure;
use super::input::{INDEX_MAX, Input, TEXT_MAX};

/// The usual path of the lock.
pub const LOCK: &str = "agents.lock";

/// The usual path of the index.
pub const INDEX: &str = "mcp.index.json";

/// The name of the file of definitions, beside the lock.
pub const DEFINITIONS: &str = "agents.definitions.json";

/// The files of a session but its policy.
#[derive(Clone, Copy, Debug)]
pub struct SessionFiles<'f> {
    /// The lock. The definitions are beside it.
    pub lock: &'f Input,
    /// The index.
    pub index: &'f Input,
    /// The task.
    pub task: Option<&'f Input>,
    /// The policy's context.
    pub policy_context: Option<&'f Input>,
    /// The configuration of tenants.
    pub tenant: Option<&'f Input>,
    /// The tenant, if the configuration has several.
    pub tenant_id: Option<&'f str>,
    /// The snapshot of health.
    pub health: Option<&'f Input>,
}

impl SessionFiles<'_> {
    /// Reads the documents. `read` gets the kind, the input and its maximum size in bytes.
    ///
    /// # Errors
    ///
    /// When there is no lock or no index, or a file can't be read.
    pub fn read(
        &self,
        policy: Option<Vec<u8>>,
        mut read: impl FnMut(DocumentKind, &Input, u64) -> Result<Vec<u8>, Failure>,
    ) -> Result<Documents, Failure> {
        let definitions = beside(self.lock, DEFINITIONS);
        let definitions = definitions.filter(|beside| !beside.is_missing());
        let required = |document: Option<Vec<u8>>, usual: &str| {
            let missing = || {
                Failure::new(format_args!("there is no `{usual}` here"))
                    .help("run `agent adopt` or `agent resolve` first, or name the files with `--lock` and `--index`")
            };
            document.ok_or_else(missing)
        };
        let mut text = |kind, input: Option<&Input>, limit| {
            input.map(|input| read(kind, input, limit)).transpose()
        };
        let lock = text(DocumentKind::Lock, present(self.lock, LOCK), TEXT_MAX)?;
        let index = present(self.index, INDEX);
        Ok(Documents {
            lock: Some(required(lock, LOCK)?),
            index: Some(required(
                text(DocumentKind::Index, index, INDEX_MAX)?,
                INDEX,
            )?),
            definitions: text(DocumentKind::Document, definitions.as_ref(), INDEX_MAX)?,
            policy,
            policy_context: text(DocumentKind::Context, self.policy_context, TEXT_MAX)?,
            tenant: text(DocumentKind::Tenant, self.tenant, TEXT_MAX)?,
            tenant_id: self.tenant_id.map(str::to_owned),
            task: text(DocumentKind::Task, self.task, TEXT_MAX)?,
            health: text(DocumentKind::Health, self.health, TEXT_MAX)?,
        })
    }
}

/// Returns a file that another one names, in the folder of that one.
#[must_use]
pub fn beside(input: &Input, name: &str) -> Option<Input> {
    match input {
        Input::File(path) => Some(Input::File(path.with_file_name(name))),
        Input::Stdin => None,
    }
}

/// Returns the notation in which a file of this name is read.
#[must_use]
pub fn notation(input: &Input) -> Notation {
    let is_json = match input {
        Input::File(path) => path.as_os_str().as_encoded_bytes().ends_with(b".json"),
        Input::Stdin => false,
    };
    if is_json {
        Notation::Json
    } else {
        Notation::ByContent
    }
}

/// Returns an input unless it is the usual one and absent.
#[must_use]
pub fn present<'i>(input: &'i Input, usual: &str) -> Option<&'i Input> {
    let is_absent = input.to_string() == usual && input.is_missing();
    (!is_absent).then_some(input)
}
