//! Schemas that are compiled once for many checks.

use super::arena::Schema;
use super::budget::Budget;
use super::documents::Documents;
use super::json::{Look, compile, compiled};
use super::schema_error::Refused;
use agent_syntax::Node;
use agent_syntax::json::{Reader, SyntaxError, parse_value};
use core::fmt;
use core::sync::atomic::{AtomicU64, Ordering};
use self_cell::self_cell;
use std::sync::{Arc, OnceLock};

/// Steps of compiling all schemas that share a [`SchemaRoom`]. A step leaves at most some 400 bytes: the tree of eight bytes of
/// text, a subschema, or states of a pattern.
const ROOM_STEPS: u64 = 100_000;

/// The room for compiled schemas. When none is left, others are compiled for each check.
#[derive(Debug, Clone)]
pub struct SchemaRoom(Arc<AtomicU64>);

impl Default for SchemaRoom {
    fn default() -> Self {
        Self(Arc::new(AtomicU64::new(ROOM_STEPS)))
    }
}

impl SchemaRoom {
    fn take(&self, steps: u64) -> bool {
        let left = |left: u64| left.checked_sub(steps);
        let taken = self
            .0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, left);
        taken.is_ok()
    }
}

/// The text of a schema, which is compiled at its first use and kept where there is room.
#[derive(Debug, Clone)]
pub struct KeptSchema(Arc<Kept>);

#[derive(Debug)]
struct Kept {
    text: Arc<str>,
    room: SchemaRoom,
    /// `None` if it is compiled for each check.
    compiled: OnceLock<Option<Compiled>>,
}

/// A tree with the documents that its schema may refer to.
struct Source<'t> {
    root: Node<'t>,
    documents: Documents<'t>,
}

/// A schema or its errors, and the steps of compiling it.
struct Steps<'s> {
    schema: Result<Schema<'s>, Refused>,
    steps: u64,
}

self_cell!(
    struct Read {
        owner: Arc<str>,
        #[covariant]
        dependent: Source,
    }
);

self_cell!(
    struct Compiled {
        owner: Read,
        #[not_covariant]
        dependent: Steps,
    }
);

impl KeptSchema {
    /// Returns a schema that is not compiled yet.
    pub fn new(text: &str, room: &SchemaRoom) -> Self {
        Self(Arc::new(Kept {
            text: Arc::from(text),
            room: room.clone(),
            compiled: OnceLock::new(),
        }))
    }

    /// Returns the JSON text.
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// Calls a function with the schema, after the steps that compiling it takes.
    pub(super) fn with(&self, budget: &mut Budget, look: &mut Look<'_>) {
        let Kept {
            text,
            room,
            compiled: kept,
        } = &*self.0;
        match kept.get_or_init(|| Compiled::of(text, room)) {
            Some(kept) => kept.with_dependent(|_, it| {
                let charged = budget.charge(it.steps).map_err(Refused::OverBudget);
                let schema = charged.and_then(|()| it.schema.as_ref().map_err(Clone::clone));
                look(schema, budget);
            }),
            None => compiled(text, budget, look),
        }
    }
}

impl Compiled {
    /// Returns `None` for a text that is not JSON, and for a schema that has no room or refers to a metaschema: it would keep a
    /// copy of all of them.
    fn of(text: &Arc<str>, room: &SchemaRoom) -> Option<Self> {
        let read = Read::try_new(Arc::clone(text), |text| {
            let root = parse_value(&mut Reader::new(text))?;
            let documents = Documents::new();
            Ok::<_, Box<SyntaxError>>(Source { root, documents })
        });
        let compiled = Self::new(read.ok()?, |read| {
            let mut budget = Budget::new();
            let Source { root, documents } = read.borrow_dependent();
            let schema = match budget.read(read.borrow_owner()) {
                Ok(()) => compile(root, documents, &mut budget),
                Err(over) => Err(Refused::OverBudget(over)),
            };
            Steps {
                schema,
                steps: budget.spent(),
            }
        });
        let is_kept = compiled.with_dependent(|read, it| {
            !read.borrow_dependent().documents.has_metaschemas() && room.take(it.steps)
        });
        is_kept.then_some(compiled)
    }
}

impl fmt::Debug for Compiled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Compiled")
    }
}

#[cfg(test)]
mod tests {
    use super::{Budget, KeptSchema, ROOM_STEPS, SchemaRoom};
    use crate::budget::STEP_LIMIT;
    use crate::json::JsonText;
    use crate::tool_schema::ToolSchema;

    const SCHEMAS: [&str; 6] = [
        r#"{"type":"object","properties":{"a":{"type":"string","pattern":"^x+$"}},"required":["a"]}"#,
        r##"{"definitions":{"n":{"exclusiveMinimum":true,"minimum":1}},"properties":{"a":{"$ref":"#/definitions/n"}}}"##,
        r#"{"type":"no type"}"#,
        r#"{"properties":{"a":{"$ref":"https://elsewhere.example/"}}}"#,
        "{",
        "true",
    ];

    /// Returns what a check says, and the steps that it takes.
    fn checked(schema: ToolSchema<'_>, steps: u64) -> (String, u64) {
        let value = JsonText::strict(r#"{"a":1}"#).expect("JSON");
        let mut budget = Budget::of(steps);
        let found = schema.with(&mut budget, |schema, budget| {
            let violations = schema.map(|it| it.check_json(value.root(), budget));
            format!("{violations:?}")
        });
        (format!("{found:?}"), budget.spent())
    }

    #[test]
    fn a_kept_schema_says_what_its_text_says_and_takes_as_many_steps() {
        for text in SCHEMAS {
            let kept = KeptSchema::new(text, &SchemaRoom::default());
            for steps in [STEP_LIMIT, STEP_LIMIT, 1_000, 40, 12, 1] {
                let expected = checked(ToolSchema::Text(text), steps);
                assert_eq!(checked(ToolSchema::Kept(&kept), steps), expected, "{text}");
            }
        }
    }

    #[test]
    fn schemas_are_kept_while_there_is_room() {
        let room = SchemaRoom::default();
        let kept = |text: &str| {
            let kept = KeptSchema::new(text, &room);
            checked(ToolSchema::Kept(&kept), STEP_LIMIT);
            kept.0.compiled.get().is_some_and(Option::is_some)
        };
        // It takes three quarters of the room.
        let large = format!(
            "{{{}}}",
            " ".repeat(2 * usize::try_from(ROOM_STEPS).expect("few"))
        );
        assert!(!kept(
            r#"{"$ref":"https://json-schema.org/draft/2020-12/schema"}"#
        ));
        assert!(kept(&large));
        assert!(!kept(&large));
        assert!(kept(SCHEMAS[0]));
    }
}
