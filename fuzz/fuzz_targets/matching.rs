//! A task, a line `=====` and an index: every tool in one place, with one reason for each failed
//! check, and each fix verified.
#![no_main]

use agent_decide::{EvaluationContext, Matching};
use agent_lower as lower;
use agent_lower::Notation;
use agent_render as render;
use libfuzzer_sys::fuzz_target;
use std::sync::Arc;

const BETWEEN: &[u8] = b"\n=====\n";

fuzz_target!(|bytes: &[u8]| {
    let Some(at) = bytes.windows(BETWEEN.len()).position(|it| it == BETWEEN) else {
        return;
    };
    let Ok(task) = lower::task(bytes[..at].to_vec(), Notation::ByContent) else {
        return;
    };
    let Ok(index) = lower::index(bytes[at + BETWEEN.len()..].to_vec()) else {
        return;
    };
    let evaluation_context = EvaluationContext {
        task: Some(Arc::new(task.value)),
        ..EvaluationContext::default()
    };
    let matching = Matching::new(None, Arc::new(index.value), evaluation_context);
    for number in 0..matching.len() {
        let (eligible, rejected) = (matching.eligible(number), matching.rejected(number));
        assert_eq!(
            eligible.count() + rejected.count(),
            matching.index().tool_count()
        );
        for tool in matching.index().tools() {
            let codes: Vec<_> = matching
                .reasons(number, tool)
                .iter()
                .map(|reason| reason.code())
                .collect();
            assert_eq!(
                codes,
                matching.failures(number, tool).codes().collect::<Vec<_>>()
            );
            assert_eq!(lower::definition_digest(tool).len(), "sha256-".len() + 44);
        }
        assert_eq!(
            matching.funnel(number).health as usize,
            matching.eligible(number).count()
        );
    }
    render::match_summary(&matching);
    let text = render::matching(&matching).expect("it is small");
    serde_json::from_str::<serde_json::Value>(&text).expect("an explanation is JSON");
});
