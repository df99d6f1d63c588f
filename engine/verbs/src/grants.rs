//! What the policy gives an application: files, a way out, secrets \[2, 5\].

use super::action::{Granted, PolicyFile, SourceFile};
use super::failure::{ErrorCode, Failure};
use super::httpcheck::contains;
use super::policy::{FilesystemPolicy, Policy};
use agent_record::{Secret, forms_of};

/// What an application gets.
#[derive(Debug, Clone)]
pub(crate) struct Grants {
    /// Whether it may only read its files.
    pub(crate) is_readonly: bool,
    /// Each `host:port` that it may connect to.
    pub(crate) egress: Vec<String>,
    /// Its secrets.
    pub(crate) secrets: Vec<Granted>,
}

/// Returns what a policy gives an application that may deny its own egress.
pub(crate) fn granted(policy: &Policy, denies_egress: bool, secrets: Vec<Secret>) -> Grants {
    let secrets = secrets.into_iter().map(|secret| Granted {
        forms: forms_of(&secret.value),
        secret,
    });
    Grants {
        is_readonly: policy.filesystem == FilesystemPolicy::Readonly,
        egress: match denies_egress {
            true => Vec::new(),
            false => policy.egress.clone(),
        },
        secrets: secrets.collect(),
    }
}

impl Policy {
    /// Reads the policy file; the strictest policy without one.
    pub(crate) fn of_file(file: PolicyFile) -> Result<Self, Failure> {
        let Some(text) = file.text else {
            return Ok(Self::default());
        };
        let mut policy = Self::read(&text).map_err(|refusal| Failure {
            message: format!("{}: {}", file.path, refusal.message),
            ..refusal
        })?;
        policy.copied = file.may_be_copied.then_some(file.path);
        Ok(policy)
    }

    /// Returns the names of the secrets that applications get. A repository may come with a folder of tasks, and a
    /// clone makes no private files.
    pub(crate) fn revealed(&self) -> Result<Vec<String>, Failure> {
        match &self.copied {
            Some(path) if !self.secrets.is_empty() => {
                let message =
                    format!("others can read `{path}`, which gives secrets: it may be a copy");
                let hint = format!(
                    "if the policy is yours, run `chmod 600 {path}`; or start the daemon with `--policy-file`"
                );
                Err(Failure::new(ErrorCode::Policy, message).hint(hint))
            }
            _ => Ok(self.secrets.clone()),
        }
    }
}

impl Grants {
    /// Refuses files that contain a secret: they would be read by planners, exported and recorded.
    pub(crate) fn refuse_in(&self, files: &[SourceFile]) -> Result<(), Failure> {
        for file in files {
            let holds = |it: &&Granted| {
                let mut forms = it.forms.iter().chain([&it.secret.value]);
                forms.any(|form| !form.is_empty() && contains(&file.content, form.as_bytes()))
            };
            if let Some(Granted { secret, .. }) = self.secrets.iter().find(holds) {
                let name = &secret.name;
                let message = format!("`{}` contains the secret `{name}`", file.path);
                let hint = format!(
                    "read the variable `{name}` instead, and remove the value from the file"
                );
                return Err(Failure::new(ErrorCode::Policy, message).hint(hint));
            }
        }
        Ok(())
    }
}
