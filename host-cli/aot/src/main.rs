//! Compiles a component ahead of time: `agent-aot --target TRIPLE [--handler] [--quick] IN.wasm OUT.cwasm`.
//!
//! Called by the build scripts of `host-cli`. With `--handler`, the code is that of a handler. With `--quick`, it
//! is compiled quickly, and runs slower.

#![expect(
    clippy::print_stderr,
    reason = "standard error is where a program says why it failed"
)]

use std::env;
use std::error::Error;
use std::ffi::OsString;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;
use wasmtime::Config;

const USAGE: &str = "usage: agent-aot --target TRIPLE [--handler] [--quick] IN.wasm OUT.cwasm";

fn main() -> ExitCode {
    let arguments: Vec<OsString> = env::args_os().skip(1).collect();
    let Some((config, target, [wasm, cwasm])) = parse(&arguments) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match compile(config, target, wasm.as_ref(), cwasm.as_ref()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("agent-aot: {}: {error}", Path::new(wasm).display());
            ExitCode::FAILURE
        }
    }
}

/// Returns the configuration, the target and the two files.
fn parse(arguments: &[OsString]) -> Option<(Config, &str, &[OsString; 2])> {
    let (flags, files) = arguments.split_last_chunk()?;
    let [target_flag, target, flags @ ..] = flags else {
        return None;
    };
    let (is_handler, is_quick) = match flags {
        [] => (false, false),
        [one] => (one == "--handler", one == "--quick"),
        [one, two] => (one == "--handler", two == "--quick"),
        _ => return None,
    };
    let named = usize::from(is_handler) + usize::from(is_quick);
    if target_flag != "--target" || named != flags.len() {
        return None;
    }
    let mut config = match is_handler {
        true => agent_aot::handler_config(),
        false => agent_aot::config(),
    };
    if is_quick {
        agent_aot::compile_quickly(&mut config);
    }
    Some((config, target.to_str()?, files))
}

fn compile(config: Config, target: &str, wasm: &Path, cwasm: &Path) -> Result<(), Box<dyn Error>> {
    let code = agent_aot::precompile(config, &fs::read(wasm)?, target)?;
    // Written beside the target and renamed, so that no reader finds a part of it.
    let beside = cwasm.with_added_extension(format!("{}.tmp", std::process::id()));
    let mut file = fs::File::create(&beside)?;
    file.write_all(&code)?;
    file.sync_all()?;
    fs::rename(&beside, cwasm)?;
    Ok(())
}
