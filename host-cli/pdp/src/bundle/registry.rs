//! Bundles in a registry of OCI artifacts. A registry is trusted with nothing: what comes from it decides once it is accepted.

use super::acceptance::{BUNDLE_MAX, read_bundle};
use crate::args::{Pull, Push, Registry};
use crate::network::is_loopback;
use agent_host::atomic_write::StagedFile;
use agent_host::input::{Input, TEXT_MAX};
use agent_host::{Engine, Failure, call, output};
use oci_client::client::{
    Certificate, CertificateEncoding, ClientConfig, ClientProtocol, Config, ImageLayer,
};
use oci_client::errors::OciDistributionError;
use oci_client::manifest::OciImageManifest;
use oci_client::secrets::RegistryAuth;
use oci_client::{Client, Reference};
use rustls::crypto::ring;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::AsyncWrite;
use tokio::time::timeout;

/// The type of a bundle in a registry.
const BUNDLE: &str = "application/vnd.agent-engine.bundle.v1+json";

/// The type of a configuration without content.
const EMPTY: &str = "application/vnd.oci.empty.v1+json";

/// Maximum time until a registry accepts a connection.
const CONNECT_TIME: Duration = Duration::from_secs(10);

/// Maximum time in which a registry says something.
const READ_TIME: Duration = Duration::from_secs(30);

/// Maximum time of a whole transfer.
const TIME: Duration = Duration::from_secs(300);

/// A repository with its client.
struct Repository {
    reference: Reference,
    client: Client,
    auth: RegistryAuth,
}

/// Sends a bundle to a registry.
///
/// # Errors
///
/// When the file can't be read, or the registry does not take it.
pub(super) async fn push(args: &Push) -> Result<bool, Failure> {
    let bundle = read_bundle(&args.bundle)?;
    if !is_bundle(&bundle)? {
        return Ok(false);
    }
    let repository = Repository::open(&args.registry)?;
    let layers = [ImageLayer::new(bundle, BUNDLE.to_owned(), None)];
    let config = Config::new(&b"{}"[..], EMPTY.to_owned(), None);
    let manifest = OciImageManifest {
        artifact_type: Some(BUNDLE.to_owned()),
        ..OciImageManifest::build(&layers, &config, None)
    };
    let Repository {
        reference,
        client,
        auth,
    } = &repository;
    let pushed = client.push(reference, &layers, config, auth, Some(manifest));
    repository.within(pushed).await?;
    output::note(format_args!("pushed {reference}"));
    Ok(true)
}

/// Fetches a bundle of a registry.
///
/// # Errors
///
/// When the registry has none at the reference, or the file can't be written.
pub(super) async fn pull(args: &Pull) -> Result<bool, Failure> {
    let repository = Repository::open(&args.registry)?;
    let Repository {
        reference,
        client,
        auth,
    } = &repository;
    let (manifest, _) = repository
        .within(client.pull_image_manifest(reference, auth))
        .await?;
    let [layer] = &manifest.layers[..] else {
        return Err(repository.failure("there is something else than a bundle"));
    };
    if layer.media_type != BUNDLE {
        return Err(repository.failure("there is something else than a bundle"));
    }
    let mut bundle = Bounded(Vec::new());
    repository
        .within(client.pull_blob(reference, layer, &mut bundle))
        .await?;
    if !is_bundle(&bundle.0)? {
        return Ok(false);
    }
    StagedFile::new(&args.out, &bundle.0)?.commit()?;
    Ok(true)
}

/// Returns whether bytes are a bundle. Says why not.
fn is_bundle(bytes: &[u8]) -> Result<bool, Failure> {
    let mut instance = Engine::embedded()?.instantiate()?;
    let read = call!(instance, bundles.bundle.read(bytes))?;
    if let Err(problems) = &read {
        let findings = agent_host::diagnostics::Findings::default();
        output::note_drawn(&findings.draw(problems, instance.catalogue()?));
    }
    Ok(read.is_ok())
}

impl Repository {
    /// Prepares a client for the registry of the command line.
    fn open(args: &Registry) -> Result<Self, Failure> {
        let wrong = |why: String| {
            let name = &args.reference;
            Failure::new(format_args!(
                "`{name}` does not name a bundle in a registry: {why}"
            ))
            .help("write it as `REGISTRY/NAME:TAG`")
        };
        let reference: Reference = args
            .reference
            .parse()
            .map_err(|error| wrong(format!("{error}")))?;
        let registry = reference.resolve_registry().to_owned();
        let host = registry
            .rsplit_once(':')
            .map_or(&*registry, |(host, _)| host);
        let protocol = match is_loopback(host) {
            true => ClientProtocol::Http,
            false => ClientProtocol::Https,
        };
        let mut roots = Vec::new();
        if let Some(path) = &args.ca {
            roots.push(Certificate {
                encoding: CertificateEncoding::Pem,
                data: Input::File(path.clone()).read(TEXT_MAX)?,
            });
        }
        let auth = match (&args.user, &args.password_file) {
            (Some(user), Some(path)) => {
                let password = Input::File(path.clone()).read(TEXT_MAX)?;
                let password = String::from_utf8(password)
                    .map_err(|_| Failure::new("the password is not UTF-8"))?;
                let password = password.trim_end_matches(['\n', '\r']);
                RegistryAuth::Basic(user.clone(), password.to_owned())
            }
            _ => RegistryAuth::Anonymous,
        };
        // Another part of the program may have chosen it already.
        let _ = ring::default_provider().install_default();
        let config = ClientConfig {
            protocol,
            extra_root_certificates: roots,
            connect_timeout: Some(CONNECT_TIME),
            read_timeout: Some(READ_TIME),
            platform_resolver: None,
            user_agent: concat!("agent-pdp/", env!("CARGO_PKG_VERSION")),
            ..ClientConfig::default()
        };
        let client = Client::try_from(config)
            .map_err(|error| Failure::new(format_args!("the registry can't be asked: {error}")))?;
        Ok(Self {
            reference,
            client,
            auth,
        })
    }

    /// Awaits what the registry does, for a time.
    async fn within<T>(
        &self,
        work: impl Future<Output = Result<T, OciDistributionError>>,
    ) -> Result<T, Failure> {
        match timeout(TIME, work).await {
            Ok(Ok(done)) => Ok(done),
            Ok(Err(error)) => Err(self.failure(&told(&error))),
            Err(_) => {
                let seconds = TIME.as_secs();
                Err(self.failure(&format!("no answer within {seconds} s")))
            }
        }
    }

    fn failure(&self, why: &str) -> Failure {
        let reference = &self.reference;
        Failure::new(format_args!("`{reference}`: {why}"))
    }
}

/// Returns an error with its causes.
fn told(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        next = cause.source();
    }
    output::visible(&text).into_owned()
}

/// Bytes up to the size of a bundle.
struct Bounded(Vec<u8>);

impl AsyncWrite for Bounded {
    fn poll_write(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.0.len() + bytes.len() > BUNDLE_MAX {
            let limit = format!("it is larger than {} MiB", BUNDLE_MAX >> 20);
            return Poll::Ready(Err(io::Error::other(limit)));
        }
        self.0.extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
