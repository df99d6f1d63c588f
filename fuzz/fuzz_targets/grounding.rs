//! A summary, a line `=====`, a payload: found evidence is in the payload, and a second run agrees.
#![no_main]

use agent_decide as decide;
use agent_explain as explain;
use agent_lower as lower;
use agent_render as render;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((summary, payload)) = agent_fuzz::two_texts(bytes) else {
        return;
    };
    let own = |text: &str| text.as_bytes().to_vec();
    let summary = agent_fuzz::checked(summary.as_bytes(), lower::summary(own(summary)));
    let payload = agent_fuzz::checked(payload.as_bytes(), lower::payload(own(payload)));
    let (Some(summary), Some(payload)) = (summary, payload) else {
        return;
    };
    let grounding = decide::ground(&summary, &payload);
    let json = render::grounding_json(&grounding);
    let again = render::grounding_json(&decide::ground(&summary, &payload));
    assert_eq!(json, again);
    let problems = explain::ungrounded(&grounding);
    assert_eq!(problems.is_empty(), json.contains("\"grounded\": true"));
});
