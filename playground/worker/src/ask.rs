//! What is asked, from JavaScript's values.
//!
//! By hand: what serde has for reading, the printing of doubles for its messages above all, would
//! be a good part of the module.

use agent_protocol::{
    Ask, Circumstances, Constraints, FallenAsk, Filter, Inputs, ListAsk, MatrixAsk, ServerName,
    StoryAsk, Texts, Wanted,
};
use wasm_bindgen::prelude::{JsError, JsValue, wasm_bindgen};

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(catch, js_namespace = Reflect)]
    fn get(object: &JsValue, name: &str) -> Result<JsValue, JsValue>;
    #[wasm_bindgen(catch, js_namespace = Reflect, js_name = ownKeys)]
    fn names(object: &JsValue) -> Result<Vec<JsValue>, JsValue>;
}

/// What can be read from a value, of which messages speak by a name.
pub(crate) trait Read: Sized {
    fn read(value: &JsValue, name: &str) -> Result<Self, String>;
}

/// Read what is asked.
pub(crate) fn read<T: Read>(value: &JsValue) -> Result<T, JsError> {
    T::read(value, "what is asked").map_err(|problem| JsError::new(&problem))
}

fn expected<T>(value: Option<T>, name: &str, what: &str) -> Result<T, String> {
    value.ok_or_else(|| format!("{name} is not {what}"))
}

impl Read for String {
    fn read(value: &JsValue, name: &str) -> Result<Self, String> {
        expected(value.as_string(), name, "a string")
    }
}

impl Read for bool {
    fn read(value: &JsValue, name: &str) -> Result<Self, String> {
        expected(value.as_bool(), name, "a boolean")
    }
}

impl Read for u32 {
    fn read(value: &JsValue, name: &str) -> Result<Self, String> {
        let number = value.as_f64();
        let whole = number.map(|number| number as u32);
        let same = whole.filter(|whole| number == Some(f64::from(*whole)));
        expected(same, name, "a whole number")
    }
}

impl Read for u16 {
    fn read(value: &JsValue, name: &str) -> Result<Self, String> {
        let small = u32::read(value, name)?.try_into().ok();
        expected(small, name, "a small number")
    }
}

impl Read for u8 {
    fn read(value: &JsValue, name: &str) -> Result<Self, String> {
        let small = u32::read(value, name)?.try_into().ok();
        expected(small, name, "a small number")
    }
}

impl<T: Read> Read for Option<T> {
    fn read(value: &JsValue, name: &str) -> Result<Self, String> {
        if value.is_null() || value.is_undefined() {
            return Ok(None);
        }
        T::read(value, name).map(Some)
    }
}

fn field<T: Read>(object: &JsValue, object_name: &str, name: &str) -> Result<T, String> {
    T::read(
        &expected(get(object, name).ok(), object_name, "an object")?,
        name,
    )
}

/// Objects, by the names that their fields have in JavaScript.
macro_rules! objects {
    ($($object:ident { $($field:ident: $field_name:literal),* })*) => {
        $(impl Read for $object {
            fn read(value: &JsValue, name: &str) -> Result<Self, String> {
                Ok(Self { $($field: field(value, name, $field_name)?),* })
            }
        })*
    };
}

objects! {
    Ask { revision: "revision", texts: "texts", wanted: "wanted" }
    Texts {
        manifest: "manifest",
        index: "index",
        lock: "lock",
        task: "task",
        tenant: "tenant",
        tenant_id: "tenantId",
        health: "health",
        policy: "policy",
        context: "context"
    }
    Wanted {
        matrix: "matrix",
        story: "story",
        fallen: "fallen",
        eligible: "eligible",
        supposed: "supposed",
        resolution: "resolution"
    }
    MatrixAsk { filter: "filter", offset: "offset", limit: "limit" }
    Filter { id: "id", tools: "tools", bits: "bits", requirement: "requirement" }
    StoryAsk { requirement: "requirement", server: "server", tool: "tool" }
    ServerName { id: "id", version: "version" }
    FallenAsk { requirement: "requirement", check: "check", limit: "limit" }
    ListAsk { requirement: "requirement", limit: "limit" }
    Constraints {
        residency: "residency",
        sensitivity: "sensitivity",
        require_signed: "requireSigned"
    }
}

/// The texts that requirements of capabilities are decided under.
const CIRCUMSTANCES: [&str; 6] = ["task", "tenant", "tenantId", "health", "policy", "context"];

/// Reads texts, of which there may be no others.
fn texts(value: &JsValue, name: &str, known: &[&str]) -> Result<Texts, String> {
    let texts = Read::read(value, name)?;
    for other in expected(names(value).ok(), name, "an object")? {
        let other = other.as_string().unwrap_or_default();
        if !known.contains(&other.as_str()) {
            return Err(format!(
                "{other} is none of the texts, which are {}",
                known.join(", ")
            ));
        }
    }
    Ok(texts)
}

impl Read for Inputs {
    fn read(value: &JsValue, name: &str) -> Result<Self, String> {
        let mut known = vec!["manifest", "index", "lock"];
        known.extend(CIRCUMSTANCES);
        let Texts {
            manifest,
            index,
            lock,
            task,
            tenant,
            tenant_id,
            health,
            policy,
            context,
        } = texts(value, name, &known)?;
        Ok(Self {
            manifest,
            index,
            lock,
            task,
            tenant,
            tenant_id,
            health,
            policy,
            context,
        })
    }
}

impl Read for Circumstances {
    fn read(value: &JsValue, name: &str) -> Result<Self, String> {
        let texts = texts(value, name, &CIRCUMSTANCES)?;
        Ok(Self {
            task: texts.task,
            tenant: texts.tenant,
            tenant_id: texts.tenant_id,
            health: texts.health,
            policy: texts.policy,
            context: texts.context,
        })
    }
}

#[cfg(all(test, target_arch = "wasm32"))]
mod tests {
    use super::*;
    use serde::Serialize;
    use serde_wasm_bindgen::{Serializer, to_value};
    use std::collections::BTreeMap;
    use wasm_bindgen_test::wasm_bindgen_test;

    fn ask() -> Ask {
        Ask {
            revision: u32::MAX,
            texts: Texts {
                manifest: Some("---\n---\n".to_owned()),
                index: Some(String::new()),
                tenant_id: Some("acme".to_owned()),
                ..Texts::default()
            },
            wanted: Wanted {
                matrix: Some(MatrixAsk {
                    filter: Filter {
                        id: "acme".to_owned(),
                        tools: true,
                        bits: 1 << 12,
                        requirement: Some(1),
                    },
                    offset: 2,
                    limit: 3,
                }),
                story: Some(StoryAsk {
                    requirement: 4,
                    server: ServerName {
                        id: "acme-crm".to_owned(),
                        version: "1.0.0".to_owned(),
                    },
                    tool: Some("search".to_owned()),
                }),
                fallen: Some(FallenAsk {
                    requirement: 5,
                    check: 4,
                    limit: 6,
                }),
                eligible: Some(ListAsk {
                    requirement: 7,
                    limit: 8,
                }),
                supposed: Some(Constraints {
                    residency: Some("us-only".to_owned()),
                    sensitivity: None,
                    require_signed: true,
                }),
                resolution: true,
            },
        }
    }

    fn problem<T: Read>(value: &JsValue) -> Option<String> {
        T::read(value, "what is asked").err()
    }

    #[wasm_bindgen_test]
    fn what_serde_writes_is_read() {
        for ask in [ask(), Ask::default()] {
            let value = to_value(&ask).unwrap();
            assert_eq!(Ask::read(&value, ""), Ok(ask));
        }
    }

    #[wasm_bindgen_test]
    fn what_is_wrong_is_said() {
        let problems = [
            (
                problem::<Ask>(&JsValue::NULL),
                "what is asked is not an object",
            ),
            (
                problem::<Ask>(&to_value(&[1]).unwrap()),
                "revision is not a whole number",
            ),
            (
                problem::<u32>(&JsValue::from(-1)),
                "what is asked is not a whole number",
            ),
            (
                problem::<u32>(&JsValue::from(0.5)),
                "what is asked is not a whole number",
            ),
            (
                problem::<u8>(&JsValue::from(256)),
                "what is asked is not a small number",
            ),
        ];
        for (problem, expected) in problems {
            assert_eq!(problem.as_deref(), Some(expected));
        }
        let misspelled = BTreeMap::from([("manifst", "")]);
        let misspelled = misspelled
            .serialize(&Serializer::json_compatible())
            .unwrap();
        assert_eq!(
            problem::<Inputs>(&misspelled).as_deref(),
            Some(
                "manifst is none of the texts, which are manifest, index, lock, task, tenant, \
                 tenantId, health, policy, context"
            )
        );
        assert_eq!(problem::<Texts>(&misspelled), None);
    }
}
