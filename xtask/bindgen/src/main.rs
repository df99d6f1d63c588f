//! Writes the JavaScript of a module for browsers: `xtask-bindgen MODULE NAME FOLDER`.
//!
//! It does what `wasm-bindgen --target web` does. That program is built with a server and a client of HTTP for its
//! test runner, which takes four times as long. The names of imports are shorter here: both files have each of some
//! 200, with a digest that does not compress.

use anyhow::{Result, bail};
use std::path::Path;
use std::{env, fs, mem};
use wasm_bindgen_cli_support::{Bindgen, Output};

fn main() -> Result<()> {
    let arguments: Vec<_> = env::args().skip(1).collect();
    let [module, name, folder] = &arguments[..] else {
        bail!("usage: xtask-bindgen MODULE NAME FOLDER");
    };
    let mut bindgen = Bindgen::new();
    bindgen.input_path(module).out_name(name).typescript(true);
    // The module is next to its script unless a caller names another place.
    bindgen.omit_default_module_path(false);
    let mut output = bindgen.web(true)?.generate_output()?;
    let names = shorten_imports(&mut output, &format!("./{name}_bg.js"));
    output.emit(folder)?;
    let file = Path::new(folder).join(name).with_extension("js");
    let script = names
        .iter()
        .try_fold(fs::read_to_string(&file)?, |script, (from, to)| {
            with_member(&script, from, to)
        })?;
    Ok(fs::write(file, script)?)
}

/// Shortens the names that a module imports from its script. Returns the names before and after: those of the script's
/// members, and last the name of the object.
fn shorten_imports(output: &mut Output, object: &str) -> Vec<(String, String)> {
    let imports = output.wasm_mut().imports.iter_mut();
    let imports = imports.filter(|import| import.module == object);
    let names = imports.enumerate().map(|(number, import)| {
        "i".clone_into(&mut import.module);
        let name = format!("i{number}");
        (mem::replace(&mut import.name, name.clone()), name)
    });
    let mut names: Vec<_> = names.collect();
    names.push((format!("\"{object}\""), "i".to_owned()));
    names
}

/// Returns a script with another name for the member of an object. Only one object has such a member.
fn with_member(script: &str, from: &str, to: &str) -> Result<String> {
    let (from, to) = (format!(" {from}: "), format!(" {to}: "));
    let count = script.matches(&from).count();
    if count != 1 {
        bail!("the script has {count} members `{from}`");
    }
    Ok(script.replacen(&from, &to, 1))
}

#[cfg(test)]
mod tests {
    use super::with_member;

    #[test]
    fn a_member_gets_another_name_where_there_is_one() {
        let script = "{\n    __wbg_new_1: new_1,\n    __wbg_new_12: new_2,\n}";
        assert_eq!(
            with_member(script, "__wbg_new_1", "i0").unwrap(),
            "{\n    i0: new_1,\n    __wbg_new_12: new_2,\n}"
        );
        assert!(with_member(script, "__wbg_new", "i0").is_err());
        assert!(with_member("{ a: 1, a: 2 }", "a", "i0").is_err());
    }
}
