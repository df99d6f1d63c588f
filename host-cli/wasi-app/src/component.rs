//! From what a compiler wrote to a component that answers requests.

use wasmparser::{Parser, Payload, Validator, WasmFeatures};
use wit_component::ComponentEncoder;

/// The export through which a component answers requests, without its version.
const HANDLER: &str = "wasi:http/incoming-handler";

/// Returns a component that answers requests over HTTP. A module is encoded as one: it says itself what it imports
/// and exports, as modules of `wit-bindgen` do.
///
/// # Errors
///
/// The reason, without a subject: `exports no …`.
pub fn component(wasm: Vec<u8>) -> Result<Vec<u8>, String> {
    let component = match Parser::is_component(&wasm) {
        true => wasm,
        false => encoded(&wasm)?,
    };
    let mut validator = Validator::new_with_features(WasmFeatures::default());
    let valid = validator.validate_all(&component);
    valid.map_err(|error| format!("is not a valid component: {error}"))?;
    let exports = exports(&component);
    let exports = exports.map_err(|error| format!("can't be read: {error}"))?;
    let is_handler = |name: &String| name.split('@').next() == Some(HANDLER);
    match exports.iter().any(is_handler) {
        true => Ok(component),
        false => Err(format!("exports no `{HANDLER}`")),
    }
}

fn encoded(module: &[u8]) -> Result<Vec<u8>, String> {
    if !Parser::is_core_wasm(module) {
        return Err("is not WebAssembly".to_owned());
    }
    let encode = || ComponentEncoder::default().module(module)?.encode();
    encode().map_err(|error| format!("can't become a component: {error:#}"))
}

/// Returns the names that a component exports. Those of components within it do not count.
fn exports(component: &[u8]) -> wasmparser::Result<Vec<String>> {
    let mut names = Vec::new();
    let mut depth = 0_usize;
    for payload in Parser::new(0).parse_all(component) {
        match payload? {
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
            Payload::End(_) => depth = depth.saturating_sub(1),
            Payload::ComponentExportSection(section) if depth == 0 => {
                for export in section {
                    names.push(export?.name.name.to_owned());
                }
            }
            _ => {}
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::component;

    #[test]
    fn only_components_that_answer_requests_are_apps() {
        let refused = |text: &str| component(wat::parse_str(text).unwrap()).unwrap_err();
        assert_eq!(
            refused("(component)"),
            "exports no `wasi:http/incoming-handler`"
        );
        // A component within another one answers nothing.
        let inner = r#"(component (component $inner
            (instance $it)
            (export "wasi:http/incoming-handler@0.2.0" (instance $it))))"#;
        assert_eq!(refused(inner), "exports no `wasi:http/incoming-handler`");
        assert_eq!(
            component(b"#!/bin/sh".to_vec()).unwrap_err(),
            "is not WebAssembly"
        );
        assert!(
            component(b"\0asm\x0d\0\x01\0x".to_vec())
                .unwrap_err()
                .starts_with("is not a valid component")
        );
        // A command of WASI's first preview, as other compilers write it.
        let command = r#"(module
            (import "wasi_snapshot_preview1" "fd_write" (func (param i32 i32 i32 i32) (result i32)))
            (func (export "_start")))"#;
        assert!(refused(command).starts_with("can't become a component"));
        let outer = r#"(component
            (instance $it)
            (export "wasi:http/incoming-handler@0.2.0" (instance $it)))"#;
        let bytes = wat::parse_str(outer).unwrap();
        assert_eq!(component(bytes.clone()), Ok(bytes));
    }
}
