//! What the module exports for programs in JavaScript.
//!
//! Values cross as plain JavaScript objects. What a call is given wrongly is an exception that
//! says so; what an input says wrongly is a diagnostic.

use crate::inputs::Inputs;
use crate::view::{tell, tell_tool};
use crate::{convert, texts, verdict};
use agent_api::{explain, render};
use agent_protocol::{Explanation, Texts, Verdict};
use serde::Serialize;
use serde_wasm_bindgen::Serializer;
use wasm_bindgen::prelude::{JsError, JsValue, wasm_bindgen};

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = r#"
/** The answer of `resolve`. */
export interface Resolution extends Verdict {
    /** The text of `agents.resolution.json`. Null: an input has errors, and nothing was decided. */
    resolution: string | null;
}
"#;

#[wasm_bindgen]
extern "C" {
    /// The texts to look at, for TypeScript.
    #[wasm_bindgen(typescript_type = "Inputs")]
    pub type JsInputs;
    /// The texts that capabilities are decided under, for TypeScript.
    #[wasm_bindgen(typescript_type = "EvaluationContext | null")]
    pub type JsCircumstances;
    /// [`Verdict`] with the explanation, for TypeScript.
    #[wasm_bindgen(typescript_type = "Resolution")]
    pub type JsResolution;
    /// Diagnostics, for TypeScript.
    #[wasm_bindgen(typescript_type = "Diagnostic[]")]
    pub type JsDiagnostics;
    /// Stories, for TypeScript.
    #[wasm_bindgen(typescript_type = "Explanation[] | null")]
    pub type JsStories;
}

fn object(value: &impl Serialize) -> Result<JsValue, JsError> {
    Ok(value.serialize(&Serializer::json_compatible())?)
}

/// The version of the engine.
#[wasm_bindgen]
pub fn version() -> String {
    agent_protocol::link();
    agent_api::VERSION.to_owned()
}

/// Every problem of the texts that are given, those of the manifest first, by place.
///
/// # Errors
/// When it is given anything but texts by these names; never because of what they hold.
#[wasm_bindgen]
pub fn validate(inputs: JsInputs) -> Result<JsDiagnostics, JsError> {
    let mut read = Inputs::default();
    read.read(texts::read(&inputs, &texts::INPUTS)?);
    Ok(object(&convert::diagnostics(read.problems()))?.into())
}

/// The texts of a question.
fn texts(
    manifest: String,
    index: String,
    lock: Option<String>,
    evaluation_context: Option<JsCircumstances>,
) -> Result<Texts, JsError> {
    let evaluation_context = match evaluation_context {
        Some(given) => texts::read(&given, &texts::EVALUATION_CONTEXT)?,
        None => Texts::default(),
    };
    Ok(Texts {
        manifest: Some(manifest),
        index: Some(index),
        lock,
        ..evaluation_context
    })
}

/// Which servers and tools the agent gets, and why. An existing `agents.lock` is compared if it is
/// given; capabilities are decided in the given evaluation context.
///
/// # Errors
/// When the evaluation context are anything but texts by their names; never because of the texts. The explanation may not be larger than 256 MiB.
#[wasm_bindgen]
pub fn resolve(
    manifest: String,
    index: String,
    lock: Option<String>,
    evaluation_context: Option<JsCircumstances>,
) -> Result<JsResolution, JsError> {
    #[derive(Serialize)]
    struct Resolution {
        #[serde(flatten)]
        verdict: Verdict,
        resolution: Option<String>,
    }
    let mut inputs = Inputs::default();
    inputs.read(texts(manifest, index, lock, evaluation_context)?);
    let resolution = inputs.resolve();
    let answer = Resolution {
        verdict: verdict::verdict(&inputs, resolution.as_ref()),
        resolution: match &resolution {
            Some(resolution) => {
                let text = render::resolution(resolution);
                Some(text.map_err(|problem| JsError::new(&problem.message))?)
            }
            None => None,
        },
    };
    Ok(object(&answer)?.into())
}

/// The whole story of a server (`id` or `id@version`) for each requirement of a category, and of
/// its tools for each requirement of a capability; or of a tool alone (with `/tool` behind it).
/// Null: the index has nothing of that name, nothing is required of it, or an input has errors,
/// which `validate` tells.
///
/// # Errors
/// When the evaluation context are anything but texts by their names; never because of the texts.
#[wasm_bindgen]
pub fn why(
    manifest: String,
    index: String,
    server: &str,
    evaluation_context: Option<JsCircumstances>,
) -> Result<JsStories, JsError> {
    let mut inputs = Inputs::default();
    inputs.read(texts(manifest, index, None, evaluation_context)?);
    let stories = inputs.resolve().and_then(|resolution| {
        let subject = explain::subject(&resolution, server)?;
        let of_servers = subject.servers.iter().flat_map(|server| {
            let requirements = 0..resolution.outcomes().len();
            requirements.map(|number| tell(&resolution, number, *server))
        });
        let servers = subject.servers.iter();
        let tools = servers.flat_map(|server| server.tools());
        let tools = tools.chain(subject.tools.iter().copied());
        let of_tools = tools.flat_map(|tool| {
            let requirements = 0..resolution.matching().len();
            let resolution = &resolution;
            requirements.map(move |number| tell_tool(resolution, number, tool))
        });
        let stories: Vec<Explanation> = of_servers.chain(of_tools).collect();
        (!stories.is_empty()).then_some(stories)
    });
    Ok(object(&stories)?.into())
}
