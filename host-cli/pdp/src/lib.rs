//! The decision point of a fleet: it answers whether a call of a locked tool is allowed, over HTTP on a Unix socket.
//!
//! It decides nothing. Each worker thread has an instance of the engine, which decides by the documents alone. Requests of
//! the AuthZEN Authorization API are other spellings of the same question.
//!
//! | module | content |
//! |---|---|
//! | `args`, `files` | the command line, and the documents that it names |
//! | `basis` | what decides: documents, and the bundle that they came in |
//! | `bundle` | bundles: made, verified, transferred, and followed |
//! | `network`, `callers` | the listener for other machines, and who may ask there |
//! | `own_files` | files that other users may not change or read |
//! | `fleet` | what the instances of a fleet decide by |
//! | `server` | the socket, the worker threads, and the end of the program |
//! | `service` | paths, methods and limits of requests |
//! | `decider` | the engine of a worker |
//! | `store` | what decides beside the documents, shared by the instances |
//! | `given` | members of JSON requests |
//! | `grpc` | the same question by gRPC |
//! | `question` | the request of `/v1/decide` |
//! | `authzen` | the requests of AuthZEN |
//! | `envoy` | the questions of Envoy's `ext_authz` |
//! | `answer` | decisions and refusals as JSON |

#![forbid(unsafe_code)]

mod answer;
mod args;
mod authzen;
mod basis;
mod bundle;
mod callers;
mod decider;
mod envoy;
mod files;
mod fleet;
mod given;
mod grpc;
mod network;
mod own_files;
mod question;
mod server;
mod service;
mod store;

use agent_host::{Failure, block_on, diagnostics, output};
use args::{Command, Program};
use clap::Parser as _;
use std::panic;
use std::process::exit;

/// The exit code if there is no answer. clap uses the same for wrong usage.
const UNANSWERED: u8 = 2;

/// Runs the program of the command line. Returns the exit code.
#[must_use]
pub fn main() -> u8 {
    // A worker that panics would leave its connections to nobody.
    panic::set_hook(Box::new(|panic| {
        let failure = Failure::internal(panic);
        output::note_drawn(&diagnostics::draw_failure(&failure));
        exit(UNANSWERED.into())
    }));
    let program = Program::parse();
    let answered = match &program.command {
        Some(Command::Bundle(command)) => block_on(bundle::run(command)),
        Some(Command::Fleet(command)) => block_on(fleet::run(command)),
        None => block_on(server::run(&program.serve)),
    };
    match answered {
        Ok(true) => 0,
        Ok(false) => 1,
        Err(failure) => {
            output::note_drawn(&diagnostics::draw_failure(&failure));
            UNANSWERED
        }
    }
}
