//! Compiles a component ahead of time: `agent-aot --target TRIPLE [--metered] IN.wasm OUT.cwasm`.
//!
//! Called by the build scripts of `host-cli`. With `--metered`, each call of the code has a budget of fuel.

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

const USAGE: &str = "usage: agent-aot --target TRIPLE [--metered] IN.wasm OUT.cwasm";

fn main() -> ExitCode {
    let arguments: Vec<OsString> = env::args_os().skip(1).collect();
    let (config, target, wasm, cwasm) = match arguments.as_slice() {
        [flag, target, metered, wasm, cwasm] if flag == "--target" && metered == "--metered" => {
            (agent_aot::metered_config(), target, wasm, cwasm)
        }
        [flag, target, wasm, cwasm] if flag == "--target" => {
            (agent_aot::config(), target, wasm, cwasm)
        }
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    let Some(target) = target.to_str() else {
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
