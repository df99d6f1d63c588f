//! Texts from JavaScript objects.
//!
//! They are read by hand: the code that serde derives would be a large part of the module.

use agent_api::answer::DocumentKind;
use agent_worker_protocol::Texts;
use wasm_bindgen::prelude::{JsError, JsValue, wasm_bindgen};

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(catch, js_namespace = Reflect)]
    fn get(object: &JsValue, name: &str) -> Result<JsValue, JsValue>;
    #[wasm_bindgen(catch, js_namespace = Reflect, js_name = ownKeys)]
    fn names(object: &JsValue) -> Result<Vec<JsValue>, JsValue>;
}

/// The texts and their numbers, by the names that they have in JavaScript.
pub(crate) const INPUTS: [(&str, u32); 9] = [
    ("manifest", DocumentKind::Manifest as u32),
    ("index", DocumentKind::Index as u32),
    ("lock", DocumentKind::Lock as u32),
    ("task", DocumentKind::Task as u32),
    ("tenant", DocumentKind::Tenant as u32),
    ("tenantId", Texts::TENANT_ID),
    ("health", DocumentKind::Health as u32),
    ("policy", DocumentKind::Policy as u32),
    ("context", DocumentKind::Context as u32),
];

/// The texts of the evaluation context.
pub(crate) const EVALUATION_CONTEXT: &[(&str, u32)] = INPUTS.split_at(3).1;

/// Reads texts, and refuses unknown names.
pub(crate) fn read(value: &JsValue, known: &[(&str, u32)]) -> Result<Texts, JsError> {
    texts(value, known).map_err(|problem| JsError::new(&problem))
}

fn texts(value: &JsValue, known: &[(&str, u32)]) -> Result<Texts, String> {
    let no_object = |_| "the argument is not an object".to_owned();
    let mut texts = Texts::default();
    for (name, number) in known {
        let text = get(value, name).map_err(no_object)?;
        if text.is_null() || text.is_undefined() {
            continue;
        }
        let text = text.as_string();
        texts.set(
            *number,
            text.ok_or_else(|| format!("{name} is not a string"))?,
        );
    }
    for other in names(value).map_err(no_object)? {
        let other = other.as_string().unwrap_or_default();
        if !known.iter().any(|(name, _)| *name == other) {
            let known: Vec<_> = known.iter().map(|(name, _)| *name).collect();
            return Err(format!(
                "unknown text {other}; the texts are {}",
                known.join(", ")
            ));
        }
    }
    Ok(texts)
}

#[cfg(all(test, target_arch = "wasm32"))]
mod tests {
    use super::{EVALUATION_CONTEXT, INPUTS, Texts, texts};
    use serde::Serialize;
    use serde_wasm_bindgen::Serializer;
    use std::collections::BTreeMap;
    use wasm_bindgen::JsValue;
    use wasm_bindgen_test::wasm_bindgen_test;

    fn object<T: Serialize>(fields: &[(&str, T)]) -> JsValue {
        let fields: BTreeMap<_, _> = fields.iter().map(|(name, value)| (*name, value)).collect();
        let object = fields.serialize(&Serializer::json_compatible());
        object.unwrap()
    }

    #[wasm_bindgen_test]
    fn each_text_is_read_by_its_name() {
        let text = |name: &str| format!("{name}: 𝄞");
        let given = INPUTS.map(|(name, _)| (name, text(name)));
        let read = INPUTS.map(|(name, number)| (number, text(name)));
        assert_eq!(texts(&object(&given), &INPUTS), Ok(Texts(read.into())));
        let none = object(&[("manifest", None::<&str>)]);
        assert_eq!(texts(&none, &INPUTS), Ok(Texts::default()));
    }

    #[wasm_bindgen_test]
    fn errors_name_the_wrong_value() {
        for (value, expected) in [
            (JsValue::NULL, "the argument is not an object"),
            (JsValue::from("text"), "the argument is not an object"),
            (object(&[("tenantId", 7)]), "tenantId is not a string"),
            (
                object(&[("manifst", "")]),
                "unknown text manifst; the texts are manifest, index, lock, task, tenant, \
                 tenantId, health, policy, context",
            ),
        ] {
            assert_eq!(texts(&value, &INPUTS), Err(expected.to_owned()));
        }
        assert_eq!(
            texts(&object(&[("lock", "")]), EVALUATION_CONTEXT),
            Err(
                "unknown text lock; the texts are task, tenant, tenantId, health, policy, \
                 context"
                    .to_owned()
            )
        );
    }
}
