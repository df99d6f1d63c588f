//! The functions for programs in JavaScript.
//!
//! Values cross as plain JavaScript objects. A wrong argument is an exception; a problem of an input is
//! a diagnostic.

use crate::inputs::Inputs;
use crate::texts;
use agent_api::answer::{self, DocumentKind, Verdict};
use agent_api::render;
use agent_worker_protocol::Texts;
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
    /// The evaluation context, for TypeScript.
    #[wasm_bindgen(typescript_type = "EvaluationContext | null")]
    pub type JsEvaluationContext;
    /// [`Verdict`] with the explanation, for TypeScript.
    #[wasm_bindgen(typescript_type = "Resolution")]
    pub type JsResolution;
    /// Diagnostics, for TypeScript.
    #[wasm_bindgen(typescript_type = "Diagnostic[]")]
    pub type JsDiagnostics;
    /// Explanations, for TypeScript.
    #[wasm_bindgen(typescript_type = "Explanation[] | null")]
    pub type JsExplanations;
}

fn object(value: &impl Serialize) -> Result<JsValue, JsError> {
    Ok(value.serialize(&Serializer::json_compatible())?)
}

/// The version of the engine.
#[wasm_bindgen]
pub fn version() -> String {
    answer::link();
    agent_api::VERSION.to_owned()
}

/// Returns every problem of the given texts, those of the manifest first, by place.
///
/// # Errors
/// When an argument has anything but texts by these names; never because of their content.
#[wasm_bindgen]
pub fn validate(inputs: JsInputs) -> Result<JsDiagnostics, JsError> {
    let mut read = Inputs::default();
    read.read(texts::read(&inputs, &texts::INPUTS)?);
    Ok(object(&read.problems())?.into())
}

/// The texts of a question.
fn texts(
    manifest: String,
    index: String,
    lock: Option<String>,
    evaluation_context: Option<JsEvaluationContext>,
) -> Result<Texts, JsError> {
    let context = match evaluation_context {
        Some(given) => texts::read(&given, texts::EVALUATION_CONTEXT)?,
        None => Texts::default(),
    };
    Ok(context
        .with(DocumentKind::Manifest, manifest)
        .with(DocumentKind::Index, index)
        .with(DocumentKind::Lock, lock.unwrap_or_default()))
}

/// Resolves a manifest against an index. An existing `agents.lock` is compared; capability requirements
/// are decided in the evaluation context.
///
/// # Errors
/// When the evaluation context has anything but texts by their names, or the explanation exceeds 256 MiB;
/// never because of the texts.
#[wasm_bindgen]
pub fn resolve(
    manifest: String,
    index: String,
    lock: Option<String>,
    evaluation_context: Option<JsEvaluationContext>,
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
        verdict: inputs.verdict(resolution.as_ref()),
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

/// Explains a server (`id` or `id@version`) for each category requirement and its tools for each
/// capability requirement, or one tool (with `/tool` after the name). Null if the index has no such
/// server or tool, nothing is required, or an input has errors, which `validate` reports.
///
/// # Errors
/// When the evaluation context has anything but texts by their names; never because of the texts.
#[wasm_bindgen]
pub fn why(
    manifest: String,
    index: String,
    server: &str,
    evaluation_context: Option<JsEvaluationContext>,
) -> Result<JsExplanations, JsError> {
    let mut inputs = Inputs::default();
    inputs.read(texts(manifest, index, None, evaluation_context)?);
    let explanations = inputs
        .resolve()
        .map(|resolution| answer::explanations(&resolution, server))
        .filter(|explanations| !explanations.is_empty());
    Ok(object(&explanations)?.into())
}
