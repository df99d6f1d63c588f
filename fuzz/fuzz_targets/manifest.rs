//! `agents.md`: accepted or refused with places.
#![no_main]

use agent_lower as lower;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Some(manifest) = agent_fuzz::checked(bytes, lower::manifest(bytes.to_vec())) {
        assert!(!manifest.requirements.is_empty() || !manifest.capabilities.is_empty());
        for requirement in &manifest.requirements {
            let permissions = &requirement.permissions;
            assert!(permissions.is_sorted_by(|a, b| a.value < b.value));
        }
    }
});
