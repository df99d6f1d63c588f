//! The schemas of the project, with the core of MOVA that they refer to \[3, 2\].

use super::budget::{Budget, OverBudget};
use super::keyword::text;
use super::pointer::child;
use super::schema_error::Refused;
use super::set::{NamedText, SchemaSet};
use super::violation::Violation;
use agent_syntax::json::{Reader, parse_strict, parse_value};
use agent_syntax::{Node, canonical};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::OnceLock;

macro_rules! schemas {
    ($folder:literal: $($name:literal)*) => {
        &[$((
            $name,
            include_str!(concat!("../../../schemas/", $folder, $name, ".schema.json")),
        ),)*]
    };
}

/// The schemas of the project by name, sorted.
const PROJECT: &[(&str, &str)] = schemas!("":
    "agents.lock"
    "agents.resolution"
    "ds.mova_agent_run_summary_v1"
    "ds.mova_agent_step_v1"
    "ds.mova_agent_tool_pool_v1"
    "ds.mova_agent_validation_report_v1"
    "env.mova_agent_plan_v1"
    "env.mova_agent_request_v1"
    "match"
);

/// The project's equivalents of MOVA's core schemas by name, sorted.
pub const MOVA: &[(&str, &str)] = schemas!("mova/":
    "ds.connector_core_v1"
    "ds.instruction_profile_core_v1"
    "ds.mova_episode_core_v1"
    "ds.mova_schema_core_v1"
    "ds.runtime_binding_core_v1"
    "ds.security_event_episode_core_v1"
    "ds.ui_text_bundle_core_v1"
    "env.instruction_profile_publish_v1"
    "env.security_event_store_v1"
);

/// The catalogues of MOVA's core by name, sorted.
pub const CATALOGUES: [&str; 4] = [
    "global.episode_type_catalog_v1",
    "global.layers_and_namespaces_v1",
    "global.security_catalog_v1",
    "global.text_channel_catalog_v1",
];

/// The base URI of the project's schemas.
const PROJECT_BASE: &str = "https://agent-engine.github.io/agent/schemas/";

/// The base URI of MOVA's schemas.
const MOVA_BASE: &str = "https://mova.dev/schemas/";

/// The suffix of the files of schemas.
const SUFFIX: &str = ".schema.json";

/// Definitions in schemas that are compiled separately.
const DEFINITIONS: [&str; 5] = [
    "ds.mova_agent_tool_pool_v1#/$defs/http_input",
    "ds.mova_agent_tool_pool_v1#/$defs/http_output",
    "ds.mova_agent_tool_pool_v1#/$defs/restricted_shell_input",
    "ds.mova_agent_tool_pool_v1#/$defs/restricted_shell_output",
    "ds.mova_agent_run_summary_v1#/$defs/caps",
];

/// All schemas of the project, over its own equivalents of MOVA's core or over the real ones.
#[derive(Debug)]
pub struct Library {
    set: SchemaSet,
    /// The catalogues of a given core by name.
    catalogues: BTreeMap<&'static str, String>,
}

/// The reason why a library can't be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LibraryError {
    /// A document of the core is missing.
    Missing(&'static str),
    /// A document is not JSON.
    NotJson(&'static str),
    /// A schema can't be used with this core.
    Refused(&'static str, Refused),
}

impl fmt::Display for LibraryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = |name| match CATALOGUES.contains(name) {
            true => "catalogue",
            false => "schema",
        };
        match self {
            Self::Missing(name) => write!(f, "the {} `{name}` is missing", kind(name)),
            Self::NotJson(name) => write!(f, "the {} `{name}` is not JSON", kind(name)),
            Self::Refused(name, Refused::OverBudget(over)) => {
                write!(f, "the schema `{name}` can't be used: {}", over.reason())
            }
            Self::Refused(name, Refused::Invalid(errors)) => {
                let first = errors.first().map(|error| error.message());
                let first = first.unwrap_or_default();
                write!(f, "the schema `{name}` can't be used: {first}")
            }
        }
    }
}

/// A schema of a library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LibrarySchema {
    /// Its name.
    pub name: &'static str,
    /// Its `description`.
    pub description: String,
    /// Whether it belongs to MOVA's core.
    pub of_mova: bool,
}

impl Library {
    /// Returns the library with the project's own equivalents of MOVA's core.
    pub fn own() -> &'static Self {
        static OWN: OnceLock<Library> = OnceLock::new();
        OWN.get_or_init(|| {
            let core = MOVA.iter();
            Self::over(core.map(|(name, text)| (*name, Cow::Borrowed(*text))))
        })
    }

    /// Returns the library with another core: texts of schemas by name, without `.schema.json`, and of
    /// catalogues by name, without `.json`. Others are ignored.
    ///
    /// # Errors
    /// A schema or a catalogue is missing, is not JSON, or can't be used.
    pub fn with_core(core: Vec<(String, Vec<u8>)>) -> Result<Self, Vec<LibraryError>> {
        let mut errors = Vec::new();
        let mut texts = Vec::new();
        let mut core: BTreeMap<_, _> = core.into_iter().collect();
        for (name, _) in MOVA {
            let Some(bytes) = core.remove(*name) else {
                errors.push(LibraryError::Missing(name));
                continue;
            };
            match String::from_utf8(bytes) {
                Ok(text) if canonical(&text).is_some() => texts.push((*name, Cow::Owned(text))),
                _ => errors.push(LibraryError::NotJson(name)),
            }
        }
        let mut catalogues = BTreeMap::new();
        for name in CATALOGUES {
            let text = core.remove(name).map(String::from_utf8);
            match text {
                None => errors.push(LibraryError::Missing(name)),
                Some(Ok(text)) if parse_strict(&text).is_some() => {
                    catalogues.insert(name, text);
                }
                Some(_) => errors.push(LibraryError::NotJson(name)),
            }
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        let library = Self {
            catalogues,
            ..Self::over(texts.into_iter())
        };
        for (number, (name, _)) in PROJECT.iter().chain(MOVA).enumerate() {
            if let Err(refused) = library.set.compile(number, &mut Budget::new()) {
                errors.push(LibraryError::Refused(name, refused));
            }
        }
        if errors.is_empty() {
            Ok(library)
        } else {
            Err(errors)
        }
    }

    /// Returns a catalogue of the given core. The project's own equivalents of the core have no
    /// catalogues here.
    pub fn catalogue(&self, name: &str) -> Option<&str> {
        self.catalogues.get(name).map(String::as_str)
    }

    fn over(core: impl Iterator<Item = (&'static str, Cow<'static, str>)>) -> Self {
        let project = PROJECT
            .iter()
            .map(|(name, text)| named(PROJECT_BASE, name, Cow::Borrowed(*text)));
        let documents: Vec<_> = project
            .chain(core.map(|(name, text)| named(MOVA_BASE, name, text)))
            .collect();
        let whole = documents.iter().map(|document| document.uri.clone());
        let parts = DEFINITIONS.iter().map(|part| {
            let (name, pointer) = part.split_once('#').unwrap_or((part, ""));
            format!("{PROJECT_BASE}{name}{SUFFIX}#{pointer}")
        });
        let roots = whole
            .chain(parts)
            .map(|uri| format!("{{\"$ref\": \"{uri}\"}}"))
            .collect();
        Self {
            set: SchemaSet::new(documents, roots),
            catalogues: BTreeMap::new(),
        }
    }

    /// Returns the documents, for references from other schemas.
    pub fn documents(&self) -> Vec<NamedText> {
        self.set.documents().to_vec()
    }

    /// Returns all violations of the schema of a name. Returns `None` if there is no such schema.
    ///
    /// # Errors
    /// The check exceeds the budget, or the schema can't be used. All schemas of [`Library::own`] and
    /// [`Library::with_core`] can be used.
    pub fn check(
        &self,
        name: &str,
        value: &Node<'_>,
        budget: &mut Budget,
    ) -> Option<Result<Vec<Violation>, OverBudget>> {
        let number = number(name)?;
        let checked = self.set.with(number, |schema| schema.check(value, budget));
        Some(checked.unwrap_or(Err(OverBudget::Steps)))
    }

    /// Returns the schemas of the project, then those of MOVA, each sorted by name.
    pub fn schemas(&self) -> impl Iterator<Item = LibrarySchema> {
        let names = PROJECT.iter().chain(MOVA).enumerate();
        names.map(|(number, (name, _))| LibrarySchema {
            name,
            description: self.description(number),
            of_mova: number >= PROJECT.len(),
        })
    }

    /// Returns the `description` of a document by its number.
    fn description(&self, number: usize) -> String {
        let document = self.set.documents().get(number);
        let root = document.and_then(|it| parse_value(&mut Reader::new(&it.text)).ok());
        let description = root.as_ref().and_then(|root| child(root, "description"));
        description.and_then(text).unwrap_or_default().to_owned()
    }

    /// Returns the text of the schema of a name.
    pub fn text(&self, name: &str) -> Option<&str> {
        let document = self.set.documents().get(number(name)?)?;
        Some(&document.text)
    }

    /// Returns the set of schemas, and the number of the schema of a URI.
    pub fn schema_at(&self, uri: &str) -> Option<(&SchemaSet, usize)> {
        let documents = self.set.documents();
        let number = documents.iter().position(|document| document.uri == uri)?;
        Some((&self.set, number))
    }

    /// Returns the set of schemas, and the number of the schema of a name.
    pub fn schema(&self, name: &str) -> Option<(&SchemaSet, usize)> {
        Some((&self.set, number(name)?))
    }
}

fn named(base: &str, name: &str, text: Cow<'static, str>) -> NamedText {
    NamedText {
        uri: format!("{base}{name}{SUFFIX}"),
        text,
    }
}

/// Returns the number of the schema of a name in a library.
fn number(name: &str) -> Option<usize> {
    let schemas = PROJECT.iter().chain(MOVA).map(|(known, _)| *known);
    schemas.chain(DEFINITIONS).position(|known| known == name)
}

#[cfg(test)]
mod tests {
    use super::{CATALOGUES, DEFINITIONS, Library, LibraryError, MOVA, PROJECT};
    use crate::Budget;

    #[test]
    fn every_schema_compiles() {
        let library = Library::own();
        for number in 0..PROJECT.len() + MOVA.len() + DEFINITIONS.len() {
            let mut budget = Budget::new();
            assert_eq!(library.set.compile(number, &mut budget), Ok(()), "{number}");
        }
    }

    #[test]
    fn a_core_has_to_be_whole_and_readable() {
        let texts = MOVA.iter().map(|(name, text)| (*name, *text));
        let catalogues = CATALOGUES.iter().map(|name| (*name, "{}"));
        let core: Vec<_> = texts
            .chain(catalogues)
            .map(|(name, text)| (name.to_owned(), text.as_bytes().to_vec()))
            .collect();
        assert!(Library::with_core(core.clone()).is_ok());
        let mut broken = core.clone();
        broken[0].1 = b"{".to_vec();
        broken[10].1 = b"[".to_vec();
        broken.retain(|(name, _)| name != "env.security_event_store_v1");
        broken.pop();
        assert_eq!(
            Library::with_core(broken).err(),
            Some(vec![
                LibraryError::NotJson("ds.connector_core_v1"),
                LibraryError::Missing("env.security_event_store_v1"),
                LibraryError::NotJson("global.layers_and_namespaces_v1"),
                LibraryError::Missing("global.text_channel_catalog_v1"),
            ])
        );
        let mut elsewhere = core;
        elsewhere[0].1 = b"{\"$ref\": \"https://elsewhere.example/\"}".to_vec();
        let Err(errors) = Library::with_core(elsewhere) else {
            panic!("a reference to nothing");
        };
        let refused = errors.iter().filter_map(|error| match error {
            LibraryError::Refused(name, _) => Some(*name),
            _ => None,
        });
        let refused: Vec<_> = refused.collect();
        assert_eq!(
            refused,
            ["ds.mova_agent_tool_pool_v1", "ds.connector_core_v1"]
        );
    }
}
