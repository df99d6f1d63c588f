//! What the policy gives an app: files, a way out, secrets \[2, 5\].

use super::daemon::Daemon;
use super::refusal::{Answered, refused};
use agent_effects::named_secrets;
use agent_host::call;
use agent_host::contract::daemon::{ErrorCode, FilesystemPolicy, ScannedFile};
use agent_tasks::Secret;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// The permissions of other users.
const OTHERS: u32 = 0o077;

/// What an app gets.
pub(crate) struct Grants {
    /// Whether it may only read its files.
    pub(crate) readonly: bool,
    /// Each `host:port` that it may connect to.
    pub(crate) egress: Vec<String>,
    /// Its secrets, by their names.
    pub(crate) secrets: BTreeMap<String, Secret>,
}

impl Daemon {
    /// Returns what the policy gives an app. `denies_egress` takes its network away.
    pub(crate) async fn grants(&self, denies_egress: bool) -> Answered<Grants> {
        let tools = self.by_policy(|engine, policy| {
            call!(engine, daemon.task_policy.call_tools(policy)).map(Ok)
        })?;
        if !tools.secrets.is_empty() {
            self.refuse_cloned_policy()?;
        }
        let found = named_secrets(tools.secrets).await;
        let found = found.map_err(|why| {
            let hint = "name the source of the secret in `servers.local.yaml`, or remove it from \
                        `tools.secrets` of the policy";
            refused(ErrorCode::Policy, why, hint)
        })?;
        let secrets = self.decider.ask(|engine| {
            let secrets = found.into_iter().map(|secret| {
                let forms = call!(engine, daemon.call_secret_forms(&secret.value))?;
                let value = secret.value;
                Ok((secret.name, Secret { value, forms }))
            });
            secrets.collect()
        })?;
        Ok(Grants {
            readonly: tools.filesystem == FilesystemPolicy::Readonly,
            egress: match denies_egress {
                true => Vec::new(),
                false => tools.egress,
            },
            secrets,
        })
    }
}

impl Daemon {
    /// Refuses that a policy in the folder of tasks gives secrets, unless it is private. A repository may come with such
    /// a folder, and a clone makes no private files.
    fn refuse_cloned_policy(&self) -> Answered<()> {
        let is_private = || {
            let mode = fs::metadata(&self.policy).ok()?.permissions().mode();
            (mode & OTHERS == 0).then_some(())
        };
        if !is_below(&self.policy, &self.root) || is_private().is_some() {
            return Ok(());
        }
        let policy = self.policy.display();
        let message = format!("others can read `{policy}`, which gives secrets: it may be a copy");
        let hint = format!(
            "if the policy is yours, run `chmod 600 {policy}`; or start the daemon with `--policy-file`"
        );
        Err(refused(ErrorCode::Policy, message, hint))
    }
}

impl Grants {
    /// Refuses files that contain a secret: they would be read by planners, exported and recorded.
    pub(crate) fn refuse_in_files(&self, files: &[ScannedFile]) -> Answered<()> {
        for file in files {
            let holds = |secret: &Secret| {
                let mut forms = secret.forms.iter().chain([&secret.value]);
                forms.any(|form| contains(&file.content, form.as_bytes()))
            };
            if let Some((name, _)) = self.secrets.iter().find(|(_, secret)| holds(secret)) {
                let message = format!("`{}` contains the secret `{name}`", file.path);
                let hint = format!(
                    "read the variable `{name}` instead, and remove the value from the file"
                );
                return Err(refused(ErrorCode::Policy, message, hint));
            }
        }
        Ok(())
    }
}

/// Returns whether a file is below a folder, whatever their paths look like. One that can't be found out counts as such.
fn is_below(file: &Path, folder: &Path) -> bool {
    let (file, folder) = (file.canonicalize(), folder.canonicalize());
    match (file, folder) {
        (Ok(file), Ok(folder)) => file.starts_with(folder),
        _ => true,
    }
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    let Some((first, rest)) = part.split_first() else {
        return false;
    };
    let mut begins = text.iter().enumerate().filter(|(_, byte)| *byte == first);
    begins.any(|(at, _)| text[at + 1..].starts_with(rest))
}

#[cfg(test)]
mod tests {
    use super::contains;

    #[test]
    fn a_part_is_found_anywhere() {
        for (text, part, found) in [
            ("aab", "ab", true),
            ("aab", "aab", true),
            ("aab", "b", true),
            ("aab", "aabb", false),
            ("aab", "c", false),
            ("", "a", false),
        ] {
            assert_eq!(contains(text.as_bytes(), part.as_bytes()), found, "{part}");
        }
    }
}
