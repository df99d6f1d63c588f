//! A task, a tenant, a snapshot of health or a context, by the first byte: it is accepted or
//! refused with places.
#![no_main]

use agent_lower as lower;
use agent_lower::Notation;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((kind, text)) = bytes.split_first() else {
        return;
    };
    let notation = if kind & 4 == 0 {
        Notation::ByContent
    } else {
        Notation::Json
    };
    let owned = || text.to_vec();
    match kind & 3 {
        0 => {
            if let Some(task) = agent_fuzz::checked(text, lower::task(owned(), notation)) {
                assert!(!task.required.is_empty());
                for requirement in &task.required {
                    let tags = &requirement.capability.constraints;
                    assert!(tags.is_sorted_by(|a, b| a < b));
                    assert_eq!(tags.len(), requirement.constraints.len());
                }
            }
        }
        1 => {
            if let Some(tenant) = agent_fuzz::checked(text, lower::tenant(owned(), notation, None))
            {
                is_json(&tenant.json);
            }
        }
        2 => {
            agent_fuzz::checked(text, lower::health(owned(), notation));
        }
        _ => {
            if let Some(context) = agent_fuzz::checked(text, lower::context(owned(), notation)) {
                is_json(&context.json);
            }
        }
    }
});

/// Checks that the context of a policy is JSON.
fn is_json(text: &str) {
    serde_json::from_str::<serde_json::Value>(text).expect("JSON");
}
