//! A bundle and keys, brought before the engine. Signatures are verified here, and nothing is decided.

use crate::basis::{Basis, Standing};
use agent_evidence::is_signed_by;
use agent_host::contract::bundles::HighestBundle;
use agent_host::contract::diagnostic::{Code, Diagnostic, DocumentKind};
use agent_host::contract::session::Documents;
use agent_host::diagnostics::{Document, Findings};
use agent_host::input::{Input, TEXT_MAX};
use agent_host::{Engine, Failure, Instance, Zone, call, clock};
use agent_ownership::refuse_foreign;
use std::path::Path;
use std::time::Duration;

/// Maximum time of each question to the engine about a bundle.
const JUDGE_TIME: Duration = Duration::from_secs(30);

/// Maximum number of bytes of a bundle.
pub(crate) const BUNDLE_MAX: usize = 128 << 20;

/// Reads a bundle, or one byte more than a bundle may have.
///
/// # Errors
///
/// When it can't be read.
pub(crate) fn read_bundle(path: &Path) -> Result<Vec<u8>, Failure> {
    Input::File(path.to_owned()).read(BUNDLE_MAX as u64)
}

/// The text of the file of keys.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Keys {
    /// The path as the user gave it.
    name: String,
    text: Vec<u8>,
}

impl Keys {
    /// Reads the keys of a file that no other user can change.
    ///
    /// # Errors
    ///
    /// When it can't be read, or another user can change it.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let name = path.display().to_string();
        let text = Input::File(path.to_owned()).read(TEXT_MAX)?;
        refuse_foreign(path).map_err(|foreign| {
            Failure::new(format_args!(
                "the keys in `{name}` can't be trusted: {foreign}"
            ))
            .help("put the file where only this user can change it")
        })?;
        Ok(Self { name, text })
    }

    /// Draws the reasons against them, or against a bundle.
    fn refused(
        &self,
        problems: Vec<Diagnostic>,
        engine: &mut Instance,
    ) -> Result<Refused, Failure> {
        let mut findings = Findings::default();
        findings.add_document(Document {
            source: DocumentKind::Document,
            number: 0,
            name: self.name.clone(),
            text: self.text.clone(),
        });
        Ok(Refused {
            drawn: findings.draw(&problems, engine.catalogue()?),
            problems,
        })
    }
}

/// Why a bundle is not accepted.
pub(crate) struct Refused {
    problems: Vec<Diagnostic>,
    /// The same as people read it, with the place of each reason.
    drawn: String,
}

impl Refused {
    /// Returns the reasons as people read them.
    pub(crate) fn drawn(&self) -> &str {
        &self.drawn
    }

    /// Returns the code of the first reason.
    pub(crate) fn code(&self) -> Option<Code> {
        self.problems.first().map(|it| it.code)
    }

    /// Returns the texts of all reasons.
    pub(crate) fn texts(&self) -> String {
        let texts: Vec<_> = self.problems.iter().map(|it| &*it.message).collect();
        texts.join("; ")
    }
}

/// Which bundles decide.
pub(crate) struct Judge {
    pub(crate) engine: Engine,
    /// The name of the bundles.
    pub(crate) name: String,
    /// The snapshot of health, which is in no bundle.
    pub(crate) health: Option<Vec<u8>>,
}

impl Judge {
    /// Lets the engine accept a bundle now, and obey its documents. The inner error says why it does not.
    ///
    /// # Errors
    ///
    /// When the engine fails.
    pub(crate) fn accept(
        &self,
        (keys, bundle): (&Keys, &[u8]),
        highest: Option<&HighestBundle>,
    ) -> Result<Result<Basis, Refused>, Failure> {
        let mut instance = self.engine.instantiate()?;
        instance.limit_time(JUDGE_TIME);
        match self.judge(&mut instance, keys, bundle, highest)? {
            Ok(basis) => Ok(Ok(basis)),
            Err(problems) => keys.refused(problems, &mut instance).map(Err),
        }
    }

    /// Returns why keys can't be read, if they can't.
    ///
    /// # Errors
    ///
    /// When the engine fails.
    pub(crate) fn refuse_keys(&self, keys: &Keys) -> Result<Option<Refused>, Failure> {
        let mut instance = self.engine.instantiate()?;
        match call!(instance, bundles.trusted_keys.read(&keys.text))? {
            Ok(_) => Ok(None),
            Err(problems) => keys.refused(problems, &mut instance).map(Some),
        }
    }

    fn judge(
        &self,
        engine: &mut Instance,
        keys: &Keys,
        bundle: &[u8],
        highest: Option<&HighestBundle>,
    ) -> Result<Result<Basis, Vec<Diagnostic>>, Failure> {
        let keys = match call!(engine, bundles.trusted_keys.read(&keys.text))? {
            Ok(keys) => keys,
            Err(problems) => return Ok(Err(problems)),
        };
        let bundle = match call!(engine, bundles.bundle.read(bundle))? {
            Ok(bundle) => bundle,
            Err(problems) => return Ok(Err(problems)),
        };
        let label = call!(engine, bundles.bundle.label(bundle))?;
        let signed = call!(engine, bundles.bundle.signed_bytes(bundle))?;
        let checks = call!(engine, bundles.bundle.checks(bundle, keys))?;
        let checks = checks.iter();
        let verified = checks.map(|it| is_signed_by(&it.public_key, &signed, &it.signature));
        let verified: Vec<_> = verified.collect();
        let (name, now) = (&*self.name, clock(&Zone::default()));
        let accepted = call!(
            engine,
            bundles
                .bundle
                .accept(bundle, keys, &verified, name, highest, now)
        )?;
        let accepted = match accepted {
            Ok(accepted) => accepted,
            Err(problems) => return Ok(Err(problems)),
        };
        let documents = Documents {
            health: self.health.clone(),
            ..accepted.documents
        };
        let opened = call!(engine, decision_point.point.open(&documents))?;
        Ok(opened.map(|_| Basis {
            documents,
            bundle: Some(Standing {
                name: label.name,
                sequence: label.sequence,
                digest: accepted.digest,
                until_ms: accepted.until_unix_ms,
                until: accepted.until,
                is_withdrawn: false,
            }),
        }))
    }
}
