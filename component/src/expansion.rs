//! `agent:engine/expansion`

use crate::Component;
use crate::bindings::exports::agent::engine::expansion::{
    Answer, Diagnostic, EvaluationContextBorrow, Exposed, Guest, IndexBorrow, LockBorrow, Refusal,
};
use crate::capability::EvaluationContext;
use crate::convert::all;
use crate::inputs::Index;
use crate::lockfile::Lock;
use agent_api::decide::Expand;
use agent_api::{self as api, render};

impl Guest for Component {
    fn expose(lock: LockBorrow<'_>, index: IndexBorrow<'_>) -> Result<Exposed, Vec<Diagnostic>> {
        let (lock, index) = (&lock.get::<Lock>().0, &index.get::<Index>().value);
        let exposed = api::expose(lock, index).map_err(all)?;
        Ok(Exposed {
            tools_list: render::exposed_json(&exposed),
            text: all(render::exposed(&exposed)),
            tokens: exposed.tokens(),
            stub_tokens: exposed.stub_tokens(),
        })
    }

    fn services(
        lock: LockBorrow<'_>,
        index: IndexBorrow<'_>,
        server: String,
    ) -> Result<Answer, Refusal> {
        let (lock, index) = (&lock.get::<Lock>().0, &index.get::<Index>().value);
        let services = api::services(lock, index, &server)?;
        Ok(Answer {
            json: render::services_json(&services),
            text: all(render::services(&services)),
        })
    }

    fn expand(
        lock: LockBorrow<'_>,
        index: IndexBorrow<'_>,
        evaluation_context: EvaluationContextBorrow<'_>,
        server: String,
        tools: Vec<String>,
        used: u64,
        budget: Option<u64>,
    ) -> Result<Answer, Refusal> {
        let (lock, index) = (&lock.get::<Lock>().0, &index.get::<Index>().value);
        let asked = Expand {
            server: &server,
            tools: &tools,
            used,
            budget,
        };
        let evaluation_context = &evaluation_context.get::<EvaluationContext>().0;
        let expanded = api::expand(lock, index, evaluation_context, asked)?;
        Ok(Answer {
            json: render::expanded_json(&expanded),
            text: all(render::expanded(&expanded)),
        })
    }
}

impl From<api::Refusal> for Refusal {
    fn from(refused: api::Refusal) -> Self {
        Self {
            json: refused.json,
            diagnostics: all(refused.diagnostics),
        }
    }
}
