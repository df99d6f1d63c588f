//! Encoding of a module as a component, and the checks on it.

use crate::digest::sha256;
use crate::{Error, Result};
use wasmparser::{BinaryReader, Parser, Payload, Validator};
use wit_component::ComponentEncoder;

/// A component that is valid and imports nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Component {
    bytes: Vec<u8>,
    sha256: String,
}

impl Component {
    /// Encodes a core module with an embedded WIT world, the output of `wit-bindgen`.
    ///
    /// # Errors
    ///
    /// As [`Component::from_bytes`], and when the module does not fit its world.
    pub fn from_module(module: &[u8]) -> Result<Self> {
        Self::with_imports(module, &[])
    }

    /// As [`Component::from_module`], for a world that imports the interfaces in `allowed`.
    ///
    /// # Errors
    ///
    /// As [`Component::from_module`]; imports in `allowed` are no error.
    pub fn with_imports(module: &[u8], allowed: &[&str]) -> Result<Self> {
        let encode = || ComponentEncoder::default().module(module)?.encode();
        // The alternate form contains the causes, which name the problem.
        let encoded = encode().map_err(|error| Error::Invalid(format!("{error:#}")))?;
        Self::checked(without_custom_sections(&encoded)?, allowed)
    }

    /// Checks the bytes of a component.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] when they are not a valid component, and [`Error::Imports`] with all
    /// names when it imports anything.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self> {
        Self::checked(bytes, &[])
    }

    /// Checks the bytes of a component made of others, for which imports in `allowed` are no error, and leaves
    /// out its custom sections.
    ///
    /// # Errors
    ///
    /// As [`Component::from_bytes`].
    pub fn composed(bytes: &[u8], allowed: &[&str]) -> Result<Self> {
        Self::checked(without_custom_sections(bytes)?, allowed)
    }

    fn checked(bytes: Vec<u8>, allowed: &[&str]) -> Result<Self> {
        if !Parser::is_component(&bytes) {
            return Err(Error::Invalid("it is not a component".to_owned()));
        }
        Validator::new().validate_all(&bytes).map_err(invalid)?;
        let mut imports = imports(&bytes)?;
        imports.retain(|name| !allowed.contains(&&**name));
        if !imports.is_empty() {
            return Err(Error::Imports(imports));
        }
        let sha256 = sha256(&bytes);
        Ok(Self { bytes, sha256 })
    }

    /// Returns the component in binary form.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the SHA-256 of [`Component::bytes`], 64 lower-case hexadecimal digits.
    #[must_use]
    pub fn sha256(&self) -> &str {
        &self.sha256
    }
}

/// Returns a component without its custom sections, which no host reads.
fn without_custom_sections(component: &[u8]) -> Result<Vec<u8>> {
    const PREAMBLE: usize = 8;
    const CUSTOM: u8 = 0;
    let (preamble, sections) = component.split_at(PREAMBLE.min(component.len()));
    let mut kept = preamble.to_vec();
    let mut reader = BinaryReader::new(sections, 0);
    while !reader.eof() {
        let start = reader.current_position();
        let id = reader.read_u8().map_err(invalid)?;
        let len = reader.read_var_u32().map_err(invalid)?;
        reader.read_bytes(len as usize).map_err(invalid)?;
        if id != CUSTOM {
            kept.extend_from_slice(&sections[start..reader.current_position()]);
        }
    }
    Ok(kept)
}

/// Returns the names that a component imports. Imports of its inner modules and components do not
/// count: they can't come from outside.
fn imports(bytes: &[u8]) -> Result<Vec<String>> {
    let mut names = Vec::new();
    let mut depth = 0_usize;
    for payload in Parser::new(0).parse_all(bytes) {
        match payload.map_err(invalid)? {
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
            Payload::End(_) => depth = depth.saturating_sub(1),
            Payload::ComponentImportSection(section) if depth == 0 => {
                for import in section {
                    names.push(import.map_err(invalid)?.name.name.to_owned());
                }
            }
            _ => {}
        }
    }
    Ok(names)
}

fn invalid(error: wasmparser::BinaryReaderError) -> Error {
    Error::Invalid(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::Component;
    use wit_component::StringEncoding;
    use wit_parser::Resolve;

    /// Returns a module like the output of `wit-bindgen`: `code` with the embedded world of `wit`.
    fn module(wit: &str, code: &str) -> Vec<u8> {
        let mut resolve = Resolve::default();
        let package = resolve.push_str("test.wit", wit).unwrap();
        let world = resolve.select_world(&[package], None).unwrap();
        let mut module = wat::parse_str(code).unwrap();
        wit_component::embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8)
            .unwrap();
        module
    }

    const PURE: &str = "package test:pure; world w { export answer: func() -> u32; }";
    const ANSWER: &str = r#"(module (func (export "answer") (result i32) i32.const 42))"#;

    #[test]
    fn a_world_without_imports_is_packed_and_always_to_the_same_bytes() {
        let component = Component::from_module(&module(PURE, ANSWER)).unwrap();
        assert_eq!(component.sha256().len(), 64);
        assert_eq!(
            Component::from_module(&module(PURE, ANSWER)).unwrap(),
            component
        );
    }

    #[test]
    fn an_import_is_refused_by_name() {
        let wit = "package test:impure;
            interface clock { now: func() -> u32; }
            world w { import clock; export answer: func() -> u32; }";
        let code = r#"(module
            (import "test:impure/clock" "now" (func $now (result i32)))
            (func (export "answer") (result i32) call $now))"#;
        assert_eq!(
            Component::from_module(&module(wit, code))
                .unwrap_err()
                .to_string(),
            "the component must import nothing, but it imports test:impure/clock"
        );
    }

    #[test]
    fn all_imports_are_named() {
        let component = wat::parse_str(
            r#"(component (import "clock" (func)) (import "test:impure/dice" (instance)))"#,
        );
        assert_eq!(
            Component::from_bytes(component.unwrap())
                .unwrap_err()
                .to_string(),
            "the component must import nothing, but it imports clock, test:impure/dice"
        );
    }

    #[test]
    fn an_import_that_no_world_knows_is_refused_by_name() {
        let code = r#"(module
            (import "__wbindgen_placeholder__" "random" (func $random (result i32)))
            (func (export "answer") (result i32) call $random))"#;
        let error = Component::from_module(&module(PURE, code))
            .unwrap_err()
            .to_string();
        assert!(error.contains("__wbindgen_placeholder__"), "{error}");
    }

    #[test]
    fn imports_between_inner_parts_do_not_count() {
        let component = wat::parse_str(
            r#"(component
                (component $inner (import "x" (func)))
                (core module (import "env" "f" (func))))"#,
        );
        Component::from_bytes(component.unwrap()).unwrap();
    }

    #[test]
    fn a_module_is_not_a_component() {
        let module = wat::parse_str(ANSWER).unwrap();
        assert_eq!(
            Component::from_bytes(module).unwrap_err().to_string(),
            "the component is not valid: it is not a component"
        );
    }
}
