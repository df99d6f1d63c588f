//! A one-call plan, or a catalogue, by the first byte: accepted or refused with places.
#![no_main]

use agent_lower as lower;
use agent_model::Planned;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((kind, text)) = bytes.split_first() else {
        return;
    };
    if kind & 1 == 0 {
        let plan = agent_fuzz::checked(text, lower::call_plan(text.to_vec()));
        if let Some(plan) = plan
            && let Planned::Call(call) = &plan.planned
        {
            let args = call.args.of(plan.text.as_str());
            assert!(args.starts_with('{') && args.ends_with('}'));
        }
    } else {
        let catalogue = agent_fuzz::checked(text, lower::tools_snapshot(text.to_vec()));
        if let Some(catalogue) = catalogue {
            assert!(catalogue.servers.is_sorted_by(|a, b| a.id < b.id));
            for server in &catalogue.servers {
                assert!(server.tools.is_sorted_by(|a, b| a.name < b.name));
            }
        }
    }
});
