//! Bundles: made, verified, transferred, and followed by a decision point.

mod acceptance;
mod follow;
mod registry;
mod sequences;

pub(crate) use acceptance::{BUNDLE_MAX, Judge};
pub(crate) use follow::Source;
pub(crate) use sequences::Sequences;

use super::args::{Bundle, Make, Verify};
use super::files;
use acceptance::{Keys, read_bundle};
use agent_evidence::SigningKey;
use agent_host::atomic_write::StagedFile;
use agent_host::contract::bundles::{BundleLabel, HighestBundle};
use agent_host::{Engine, Failure, call, output};
use agent_operator::SecretSource;
use std::sync::atomic::AtomicBool;

/// Runs a command about bundles. Returns whether the answer is yes.
///
/// # Errors
///
/// When a file can't be read or written, a registry does not answer, or the engine fails.
pub(crate) async fn run(command: &Bundle) -> Result<bool, Failure> {
    match command {
        Bundle::Make(args) => make(args),
        Bundle::Verify(args) => verify(args),
        Bundle::Push(args) => registry::push(args).await,
        Bundle::Pull(args) => registry::pull(args).await,
    }
}

fn make(args: &Make) -> Result<bool, Failure> {
    let key = signing_key(args)?;
    let mut instance = Engine::embedded()?.instantiate()?;
    let (documents, findings) = files::read(&args.files, None, &mut instance)?;
    let label = BundleLabel {
        name: args.name.clone(),
        sequence: args.sequence,
        not_after: args.not_after.clone(),
    };
    let made = call!(instance, bundles.draft.make(&documents, &label))?;
    let signed = match made {
        Ok(draft) => {
            let signature = key.sign(&call!(instance, bundles.draft.to_sign(draft))?);
            call!(instance, bundles.draft.signed(draft, &key.id(), &signature))?
        }
        Err(problems) => Err(problems),
    };
    match signed {
        Ok(text) => match &args.out {
            None => output::print_data(&text)?,
            Some(path) => StagedFile::new(path, text.as_bytes())?.commit()?,
        },
        Err(problems) => {
            output::note_drawn(&findings.draw(&problems, instance.catalogue()?));
            return Ok(false);
        }
    }
    Ok(true)
}

/// Gets the key of the command line.
fn signing_key(args: &Make) -> Result<SigningKey, Failure> {
    if let Some(path) = &args.key {
        return SigningKey::read(path);
    }
    let source = SecretSource::Command(args.key_command.clone());
    let key = source.value(&AtomicBool::new(false));
    let key = key.map_err(|unavailable| {
        Failure::new(format_args!("the key can't be had: {unavailable}"))
            .help("name a program that prints it with `--key-command`, or a file with `--key`")
    })?;
    SigningKey::parse(key.expose().as_bytes(), "the output of `--key-command`")
}

fn verify(args: &Verify) -> Result<bool, Failure> {
    let keys = Keys::read(&args.keys)?;
    let bundle = read_bundle(&args.bundle)?;
    let highest = args.min_sequence.map(|sequence| HighestBundle {
        sequence,
        digest: None,
    });
    let judge = Judge {
        engine: Engine::embedded()?,
        name: args.name.clone(),
        health: None,
    };
    match judge.accept((&keys, &bundle), highest.as_ref())? {
        Ok(basis) => {
            if let Some(standing) = &basis.bundle {
                output::print_data(&format!("{standing}\n"))?;
            }
            Ok(true)
        }
        Err(refused) => {
            output::note_drawn(refused.drawn());
            Ok(false)
        }
    }
}
