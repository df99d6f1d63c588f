//! Landlock: which files a command reaches in the tier without namespaces.

use std::os::fd::OwnedFd;
use std::path::Path;

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd,
    Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError, Scope,
};

use super::private::PrivateFolder;
use super::readable;
use crate::Command;

/// The version whose rights are handled; an older kernel handles fewer.
const NEWEST: ABI = ABI::V7;

/// The version since which signals and abstract `AF_UNIX` addresses stay inside.
pub(super) const VERSION_WITH_SCOPES: u32 = 6;
/// The version since which devices take no requests.
pub(super) const VERSION_WITH_DEVICES: u32 = 5;
/// The version since which files can't be cut.
pub(super) const VERSION_WITH_TRUNCATION: u32 = 3;

/// Returns the kernel's version of Landlock; `None` if it has none or has it switched off.
pub(super) fn version() -> Option<u32> {
    /// `LANDLOCK_CREATE_RULESET_VERSION`.
    const VERSION: libc::c_uint = 1;
    #[expect(unsafe_code, reason = "a system call without a safe function")]
    // SAFETY: with this flag, the call takes a null pointer and the size 0 and returns a number.
    let version = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            std::ptr::null::<libc::c_void>(),
            0usize,
            VERSION,
        )
    };
    u32::try_from(version).ok().filter(|version| *version > 0)
}

/// Makes the rules for a command with its private folder.
pub(super) fn rules(command: &Command, private: &PrivateFolder) -> Result<OwnedFd, String> {
    let rules =
        create(command, private).map_err(|error| format!("Landlock refused the rules: {error}"))?;
    Option::<OwnedFd>::from(rules).ok_or_else(|| "the kernel has no Landlock".to_owned())
}

fn create(command: &Command, private: &PrivateFolder) -> Result<RulesetCreated, RulesetError> {
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(NEWEST))?
        .scope(Scope::from_all(NEWEST))?;
    // Without a rule for a port, no port can be bound or reached.
    if command.network.is_own() {
        rules = rules.handle_access(AccessNet::from_all(NEWEST))?;
    }
    let mut rules = rules.create()?;

    let read = AccessFs::from_read(NEWEST);
    let change = AccessFs::from_all(NEWEST)
        & !(AccessFs::MakeBlock | AccessFs::MakeChar | AccessFs::IoctlDev);
    let device = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate;

    let network = match command.network.is_own() {
        true => &[][..],
        false => &readable::ETC_OF_NETWORK,
    };
    let parts = [
        &readable::FOLDERS[..],
        &readable::ETC,
        &readable::ETC_OF_USERS,
        &readable::PROC,
        network,
    ];
    for path in parts.into_iter().flatten() {
        rules = allow_existing(rules, Path::new(path), read)?;
    }
    for path in readable::DEVICES {
        rules = allow_existing(rules, Path::new(path), device)?;
    }
    for path in &command.read {
        rules = allow(rules, path, read)?;
    }
    for path in command.folders_to_write() {
        rules = allow(rules, path, change)?;
    }
    // The home also where another one was given: it stays empty.
    for path in [private.home(), private.temporary()] {
        rules = allow(rules, &path, change)?;
    }
    Ok(rules)
}

/// Adds a rule for a path that may be missing.
fn allow_existing(
    rules: RulesetCreated,
    path: &Path,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, RulesetError> {
    match path.exists() {
        true => allow(rules, path, access),
        false => Ok(rules),
    }
}

/// Adds a rule. A path that can't be opened gives no access, and needs none.
fn allow(
    rules: RulesetCreated,
    path: &Path,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, RulesetError> {
    let Ok(opened) = PathFd::new(path) else {
        return Ok(rules);
    };
    // Other rights are for folders only.
    let access = match path.is_dir() {
        true => access,
        false => access & AccessFs::from_file(NEWEST),
    };
    rules.add_rule(PathBeneath::new(opened, access))
}
