//! The tokens of this user: a file for each issuer, which only this user can read.

use super::client::{Authentication, OauthClient};
use super::document::Document;
use agent_host::atomic_write::StagedFile;
use agent_host::contract::run::Secret;
use agent_host::{Failure, hex};
use agent_mcp_protocol::Json;
use agent_operator::SECRET_MIN_BYTES;
use agent_ownership::{UserFolder, create_private, refuse_foreign};
use agent_syntax::json::Writer;
use sha2::{Digest, Sha256};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// Maximum size of a file, in bytes.
const FILE_BYTES: u64 = 1 << 20;

/// Maximum number of issuers.
const ISSUERS: usize = 256;

/// Maximum time to wait for another program that changes the tokens: a request, and some more.
const LOCK: Duration = Duration::from_secs(45);

/// Time between two looks whether it has ended.
const LOCK_POLL: Duration = Duration::from_millis(50);

/// The folder of this user's tokens.
#[derive(Debug, Clone)]
pub struct Store {
    root: PathBuf,
}

/// A login to a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptLogin {
    /// The endpoint of the server.
    pub endpoint: String,
    /// When the token expires, in seconds since 1970.
    pub expires: Option<u64>,
    /// Whether it is renewed without the user.
    pub is_renewable: bool,
}

/// The folder while no other program changes it. Dropping it lets others do so.
pub(super) struct Locked<'s> {
    store: &'s Store,
    /// Closing it ends the lock.
    _file: File,
}

/// The access to one server.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Grant {
    /// The issuer of the tokens.
    pub(super) issuer: String,
    /// The endpoint of the server, to which alone the token is sent.
    pub(super) endpoint: String,
    /// The identifier of the server as a resource.
    pub(super) resource: String,
    pub(super) client: OauthClient,
    pub(super) token_endpoint: String,
    pub(super) access_token: String,
    pub(super) refresh_token: Option<String>,
    /// When the access token expires, in seconds since 1970.
    pub(super) expires: Option<u64>,
    pub(super) scopes: Vec<String>,
}

impl Store {
    /// Returns the usual folder: `$XDG_STATE_HOME/agent/credentials`, or below `~/.local/state`.
    #[must_use]
    pub fn usual() -> Option<Self> {
        let folder = UserFolder::State.path()?;
        Some(Self {
            root: folder.join("agent/credentials"),
        })
    }

    /// Returns the access to a server.
    pub(super) fn find(&self, endpoint: &str) -> Result<Option<Grant>, String> {
        let Ok(files) = fs::read_dir(&self.root) else {
            return Ok(None);
        };
        for file in files.take(ISSUERS).flatten() {
            let grants = read(&file.path())?;
            if let Some(found) = grants.into_iter().find(|it| it.endpoint == endpoint) {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// Returns every login, without its tokens. A file that can't be read is an error.
    ///
    /// # Errors
    ///
    /// When a file of tokens can't be read.
    pub fn logins(&self) -> Result<Vec<KeptLogin>, String> {
        let files = fs::read_dir(&self.root).into_iter().flatten().flatten();
        let mut logins = Vec::new();
        for file in files.take(ISSUERS) {
            let grants = read(&file.path())?.into_iter();
            logins.extend(grants.map(|grant| KeptLogin {
                is_renewable: grant.refresh_token.is_some(),
                endpoint: grant.endpoint,
                expires: grant.expires,
            }));
        }
        logins.sort_by(|a, b| a.endpoint.cmp(&b.endpoint));
        Ok(logins)
    }

    /// Returns every token as a secret. A file that can't be read is an error where its token is needed.
    #[must_use]
    pub fn tokens(&self) -> Vec<Secret> {
        let files = fs::read_dir(&self.root).into_iter().flatten().flatten();
        let grants = files
            .take(ISSUERS)
            .filter_map(|file| read(&file.path()).ok());
        let secrets = grants.flatten().flat_map(|grant| {
            let name = format!("the login to {}", grant.endpoint);
            let values = [
                Some(grant.access_token),
                grant.refresh_token,
                grant.client.secret,
            ];
            let values = values.into_iter().flatten();
            // A shorter one would be found in innocent texts.
            let values = values.filter(|value| value.len() >= SECRET_MIN_BYTES);
            values.map(move |value| Secret {
                name: name.clone(),
                value,
            })
        });
        secrets.collect()
    }

    /// Waits until no other program of this user changes the tokens.
    ///
    /// # Errors
    ///
    /// When another one takes longer than a renewal may, or the folder can't be written.
    pub(super) async fn lock(&self) -> Result<Locked<'_>, Failure> {
        create_private(&self.root).map_err(|error| self.unwritable(&error))?;
        refuse_foreign(&self.root).map_err(Failure::new)?;
        let mut options = OpenOptions::new();
        options.append(true).create(true).mode(0o600);
        // It is beside the folder, all of whose files hold tokens.
        let file = options.open(self.root.with_extension("lock"));
        let file = file.map_err(|error| self.unwritable(&error))?;
        let end = Instant::now() + LOCK;
        loop {
            match file.try_lock() {
                Ok(()) => {
                    return Ok(Locked {
                        store: self,
                        _file: file,
                    });
                }
                Err(TryLockError::WouldBlock) if Instant::now() < end => sleep(LOCK_POLL).await,
                Err(TryLockError::WouldBlock) => {
                    let message = "another program holds the tokens of this user";
                    return Err(Failure::new(message));
                }
                Err(TryLockError::Error(error)) => return Err(self.unwritable(&error)),
            }
        }
    }

    /// Forgets the access to a server by its endpoint, or to all servers. Returns the endpoints.
    ///
    /// # Errors
    ///
    /// When a file can't be read or written. Other programs may then have tokens still.
    pub async fn forget(&self, endpoint: Option<&str>) -> Result<Vec<String>, Failure> {
        if !self.root.exists() {
            return Ok(Vec::new());
        }
        let locked = self.lock().await?;
        locked.forget(endpoint)
    }

    fn unwritable(&self, error: &std::io::Error) -> Failure {
        let root = self.root.display();
        Failure::new(format_args!("can't write `{root}`: {error}"))
    }
}

impl Locked<'_> {
    /// Keeps the access to a server, instead of an earlier one.
    pub(super) fn keep(&self, grant: &Grant) -> Result<(), Failure> {
        let root = &self.store.root;
        // A server that changed its issuer has no token of the former one.
        self.forget(Some(&grant.endpoint))?;
        let digest = Sha256::digest(grant.issuer.as_bytes());
        let path = root.join(format!("{}.json", hex(&digest[..16])));
        let mut grants = match path.exists() {
            true => read(&path).map_err(Failure::new)?,
            false => Vec::new(),
        };
        grants.push(grant.clone());
        write(&path, &grants)
    }

    /// Forgets the access to a server by its endpoint, or to all servers. Returns the endpoints.
    fn forget(&self, endpoint: Option<&str>) -> Result<Vec<String>, Failure> {
        let unwritable = |error: std::io::Error| self.store.unwritable(&error);
        let files = fs::read_dir(&self.store.root).map_err(unwritable)?;
        let mut forgotten = Vec::new();
        for file in files.take(ISSUERS).flatten() {
            let path = file.path();
            let is_meant = |it: &Grant| endpoint.is_none_or(|endpoint| it.endpoint == endpoint);
            let grants = read(&path).map_err(Failure::new)?;
            let (gone, kept): (Vec<_>, Vec<_>) = grants.into_iter().partition(is_meant);
            match (gone.is_empty(), kept.is_empty()) {
                (true, _) => {}
                (false, true) => fs::remove_file(&path).map_err(unwritable)?,
                (false, false) => write(&path, &kept)?,
            }
            forgotten.extend(gone.into_iter().map(|it| it.endpoint));
        }
        forgotten.sort_unstable();
        Ok(forgotten)
    }
}

/// Reads the file of an issuer.
fn read(path: &Path) -> Result<Vec<Grant>, String> {
    refuse_foreign(path).map_err(|error| error.to_string())?;
    let shown = path.display();
    let mut text = String::new();
    let file = File::open(path).and_then(|file| file.take(FILE_BYTES).read_to_string(&mut text));
    file.map_err(|error| format!("can't read `{shown}`: {error}"))?;
    let damaged = || format!("`{shown}` is damaged; delete it and log in again");
    if text.is_empty() {
        return Ok(Vec::new());
    }
    let root = Json::new(text).map_err(|_| damaged())?;
    let grants = root.elements().ok_or_else(damaged)?.map(|item| {
        let document = Document::new(item.bytes(), "it").ok()?;
        Some(Grant {
            issuer: document.string("issuer")?,
            endpoint: document.string("endpoint")?,
            resource: document.string("resource")?,
            client: OauthClient {
                id: document.string("clientId")?,
                secret: document.string("clientSecret"),
                authentication: match document.string("clientAuthentication") {
                    None => Authentication::None,
                    Some(name) => Authentication::named(&name)?,
                },
            },
            token_endpoint: document.string("tokenEndpoint")?,
            access_token: document.string("accessToken")?,
            refresh_token: document.string("refreshToken"),
            expires: document.number("expires"),
            scopes: document.strings("scopes")?,
        })
    });
    grants.collect::<Option<_>>().ok_or_else(damaged)
}

/// Replaces the file of an issuer. It is readable by this user alone before it has a token.
fn write(path: &Path, grants: &[Grant]) -> Result<(), Failure> {
    let mut w = Writer::pretty();
    w.array(|w| {
        for grant in grants {
            w.object(|w| {
                w.key("accessToken").string(&grant.access_token);
                let client = &grant.client;
                w.key("clientAuthentication")
                    .string(client.authentication.name());
                w.key("clientId").string(&client.id);
                if let Some(secret) = &client.secret {
                    w.key("clientSecret").string(secret);
                }
                w.key("endpoint").string(&grant.endpoint);
                if let Some(expires) = grant.expires {
                    w.key("expires").json(&expires.to_string());
                }
                w.key("issuer").string(&grant.issuer);
                if let Some(token) = &grant.refresh_token {
                    w.key("refreshToken").string(token);
                }
                w.key("resource").string(&grant.resource);
                w.key("scopes")
                    .strings(grant.scopes.iter().map(String::as_str));
                w.key("tokenEndpoint").string(&grant.token_endpoint);
            });
        }
    });
    if !path.exists() {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600);
        let made = options.open(path);
        made.map_err(|error| {
            Failure::new(format_args!("can't write `{}`: {error}", path.display()))
        })?;
    }
    StagedFile::new(path, w.finish().as_bytes())?.commit()
}
