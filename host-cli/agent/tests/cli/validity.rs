//! Validation by the crate `jsonschema`, which shares nothing with the engine.

use jsonschema::{Retrieve, Uri, Validator};
use serde_json::Value;
use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::Path;

/// The schemas of the project and its equivalents of MOVA's core, by `$id`.
#[derive(Clone)]
struct Schemas(BTreeMap<String, Value>);

impl Retrieve for Schemas {
    fn retrieve(&self, uri: &Uri<String>) -> Result<Value, Box<dyn Error + Send + Sync>> {
        let found = self.0.get(uri.as_str().trim_end_matches('#'));
        Ok(found.ok_or_else(|| format!("no schema {uri}"))?.clone())
    }
}

/// Validators by the name of the schema.
pub(crate) struct Validity(BTreeMap<String, Validator>);

impl Validity {
    /// Reads the schemas of the repository.
    pub(crate) fn of_the_project() -> Self {
        let mut schemas = Schemas(BTreeMap::new());
        let mut names = Vec::new();
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas");
        for folder in [root.clone(), root.join("mova")] {
            for entry in fs::read_dir(folder).expect("schemas") {
                let path = entry.unwrap().path();
                let name = path.file_name().unwrap().to_str().unwrap().to_owned();
                let Some(name) = name.strip_suffix(".schema.json") else {
                    continue;
                };
                let schema = fs::read_to_string(&path).expect("a schema");
                let schema: Value = serde_json::from_str(&schema).expect("JSON");
                let Some(id) = schema["$id"].as_str().map(str::to_owned) else {
                    continue;
                };
                names.push((name.to_owned(), schema.clone()));
                schemas.0.insert(id, schema);
            }
        }
        let validators = names.into_iter().filter(|(name, _)| name.contains("_v1"));
        let validators = validators.map(|(name, schema)| {
            let options = jsonschema::options().with_retriever(schemas.clone());
            let validator = options.build(&schema);
            let validator = validator.unwrap_or_else(|e| panic!("{name}: {e}"));
            (name, validator)
        });
        Self(validators.collect())
    }

    /// Asserts that a document fits a schema.
    #[track_caller]
    pub(crate) fn assert(&self, schema: &str, document: &Value) {
        let validator = self
            .0
            .get(schema)
            .unwrap_or_else(|| panic!("no schema {schema}"));
        let problems: Vec<_> = validator
            .iter_errors(document)
            .map(|it| format!("{}: {it}", it.instance_path()))
            .collect();
        assert!(
            problems.is_empty(),
            "{schema}: {problems:#?} in {document:#}"
        );
    }
}
