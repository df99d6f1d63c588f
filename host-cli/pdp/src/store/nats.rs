//! A key-value bucket of NATS JetStream.

use super::{Entry, Unavailable, Values};
use crate::args::StoreArgs;
use crate::network::is_loopback;
use crate::own_files::{private, unusable};
use agent_host::{Failure, output, unix_ms};
use agent_syntax::json::parse_strict;
use agent_syntax::members::{member, string};
use async_nats::connection::State;
use async_nats::datetime::parse_rfc3339;
use async_nats::jetstream::ErrorCode;
use async_nats::jetstream::kv::{self, Operation, UpdateError, UpdateErrorKind};
use async_nats::jetstream::stream::{DiscardPolicy, StorageType};
use async_nats::{Client, ConnectOptions, Event, ServerAddr, jetstream};
use std::error::Error as _;
use std::future::{Ready, ready};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tokio::time::{sleep, timeout};

/// Maximum time until the store accepts a connection.
const CONNECT_TIME: Duration = Duration::from_secs(5);

/// Maximum time of one reading or writing.
const TIME: Duration = Duration::from_secs(2);

/// Time between two looks at the clock of the store.
const CLOCK_INTERVAL: Duration = Duration::from_secs(10);

/// Maximum difference of two clocks, in milliseconds. A window of calls may end earlier by it.
const CLOCK_MS: u64 = 2_000;

/// A connection to a bucket.
pub(crate) struct Nats {
    client: Client,
    bucket: kv::Store,
    /// The subject that says what the bucket is, and what time it is there.
    info: String,
    /// For how long a value is kept, if not for ever.
    max_age: Option<Duration>,
    /// By how many milliseconds the clock of the store differs.
    difference_ms: AtomicU64,
}

impl Nats {
    /// Connects to the bucket of the command line.
    ///
    /// # Errors
    ///
    /// When the store can't be reached, is on another machine without TLS, has no such bucket, or one that may lose values; or when
    /// its clock differs.
    pub(crate) async fn open(args: &StoreArgs, url: &str) -> Result<Self, Failure> {
        let address: ServerAddr = url.parse().map_err(|_| {
            Failure::new("`--store` has no address").help("write `nats://HOST:PORT`")
        })?;
        if address.has_user_pass() {
            let message = "the address of the store holds a secret";
            let help = "put it into a file, and name that with `--store-credentials`";
            return Err(Failure::new(message).help(help));
        }
        let failed = |why: String| Failure::new(format_args!("the store `{url}`: {why}"));
        let mut options = ConnectOptions::new()
            .name(concat!("agent-pdp/", env!("CARGO_PKG_VERSION")))
            .connection_timeout(CONNECT_TIME)
            .request_timeout(Some(TIME))
            .event_callback(said());
        // A server says which others there are, and these may be on other machines.
        options = match is_loopback(address.host()) {
            true => options.ignore_discovered_servers(),
            false => options.require_tls(true),
        };
        if let Some(path) = &args.store_ca {
            options = options.add_root_certificates(path.clone());
        }
        if let Some(path) = &args.store_credentials {
            let credentials = String::from_utf8(private(path)?).ok();
            let with_them = credentials.and_then(|it| options.credentials(&it).ok());
            let why = "it has no credentials of NATS";
            options = with_them.ok_or_else(|| unusable(path, why))?;
        }
        let client = options.connect(address).await;
        let client =
            client.map_err(|error| failed(output::visible(&error.to_string()).into_owned()))?;
        let context = jetstream::new(client.clone());
        let name = &args.store_bucket;
        let bucket = context.get_key_value(name).await.map_err(|error| {
            let why = output::visible(&error.to_string()).into_owned();
            failed(format!("the bucket `{name}` can't be used: {why}"))
                .help("make it: `nats kv add NAME --storage=file --history=1`, with replicas")
        })?;
        let config = &bucket.stream.cached_info().config;
        let lossy = match config {
            it if it.storage != StorageType::File => Some("it is kept in memory"),
            it if it.discard != DiscardPolicy::New => {
                Some("it discards old values when it is full")
            }
            it if it.mirror.is_some() => Some("it is a mirror"),
            _ => None,
        };
        if let Some(why) = lossy {
            return Err(failed(format!(
                "the bucket `{name}` may lose values: {why}"
            )));
        }
        let max_age = Some(config.max_age).filter(|it| !it.is_zero());
        let nats = Self {
            info: format!("$JS.API.STREAM.INFO.KV_{name}"),
            client,
            bucket,
            max_age,
            difference_ms: AtomicU64::new(0),
        };
        nats.compare_clocks()
            .await
            .map_err(|Unavailable(why)| failed(why))?;
        nats.agrees().map_err(|Unavailable(why)| failed(why))?;
        Ok(nats)
    }

    /// Compares the clocks again and again, for ever.
    pub(crate) async fn watch_clock(&self) {
        loop {
            sleep(CLOCK_INTERVAL).await;
            let before = self.agrees();
            // Without an answer, nothing can be written either.
            if self.compare_clocks().await.is_err() {
                continue;
            }
            if let (Ok(()), Err(Unavailable(why))) = (before, self.agrees()) {
                output::note(format_args!("{why}: calls that need the store are refused"));
            }
        }
    }

    /// Returns whether the store is connected.
    pub(crate) fn is_connected(&self) -> bool {
        self.client.connection_state() == State::Connected
    }

    /// Returns whether values have no limit of age.
    pub(crate) fn forgets_nothing(&self) -> bool {
        self.max_age.is_none()
    }

    /// Refuses what is to be kept for longer than the bucket keeps it.
    ///
    /// # Errors
    ///
    /// It does not keep it for that long.
    pub(crate) fn keeps_for(&self, lifetime_ms: u64) -> Result<(), Unavailable> {
        match self.max_age {
            Some(max_age) if max_age < Duration::from_millis(lifetime_ms) => {
                Err(Unavailable(format!(
                    "the bucket forgets after {} s, and {} s are needed",
                    max_age.as_secs(),
                    lifetime_ms / 1_000
                )))
            }
            _ => Ok(()),
        }
    }

    /// Asks for the time of the store.
    async fn compare_clocks(&self) -> Result<(), Unavailable> {
        let before_ms = unix_ms();
        let answer = self
            .client
            .request(self.info.clone(), Vec::new().into())
            .await;
        let answer = answer.map_err(|error| unavailable(&error))?;
        let after_ms = unix_ms();
        let text = str::from_utf8(&answer.payload).ok();
        let root = text.and_then(parse_strict);
        let time = root.as_ref().and_then(|it| member(it, "ts"));
        let time = time.and_then(string).and_then(|it| parse_rfc3339(it).ok());
        let time = time.and_then(|it| u64::try_from(it.unix_timestamp_nanos() / 1_000_000).ok());
        let time = time.ok_or_else(|| Unavailable("the store does not say its time".to_owned()))?;
        let behind = before_ms.saturating_sub(time);
        let ahead = time.saturating_sub(after_ms);
        self.difference_ms
            .store(behind.max(ahead), Ordering::Relaxed);
        Ok(())
    }

    /// Refuses everything while the clocks differ.
    fn agrees(&self) -> Result<(), Unavailable> {
        match self.difference_ms.load(Ordering::Relaxed) {
            0..=CLOCK_MS => Ok(()),
            difference => Err(Unavailable(format!(
                "the clocks of this host and of the store differ by {difference} ms"
            ))),
        }
    }

    fn is_usable(&self) -> Result<(), Unavailable> {
        self.agrees()?;
        match self.is_connected() {
            true => Ok(()),
            false => Err(Unavailable("the store is gone".to_owned())),
        }
    }
}

impl Values for Nats {
    async fn read(&self, key: &str) -> Result<Entry, Unavailable> {
        self.is_usable()?;
        let entry = timeout(TIME, self.bucket.entry(key)).await;
        let entry = entry.map_err(|_| silent())?;
        let entry = entry.map_err(|error| unavailable(&error))?;
        Ok(entry.map_or_else(Entry::default, |entry| Entry {
            value: (entry.operation == Operation::Put).then_some(entry.value),
            revision: entry.revision,
        }))
    }

    async fn write(&self, key: &str, value: Vec<u8>, revision: u64) -> Result<bool, Unavailable> {
        self.is_usable()?;
        let written = timeout(TIME, self.bucket.update(key, value.into(), revision)).await;
        match written.map_err(|_| silent())? {
            Ok(_) => Ok(true),
            Err(error) if is_outdated(&error) => Ok(false),
            Err(error) => Err(unavailable(&error)),
        }
    }
}

/// Returns what says that the store is gone, and that it answers again.
fn said() -> impl Fn(Event) -> Ready<()> {
    let is_gone = AtomicBool::new(false);
    move |event| {
        match event {
            Event::Disconnected if !is_gone.swap(true, Ordering::Relaxed) => {
                output::note("the store is gone: calls that need it are refused");
            }
            Event::Connected if is_gone.swap(false, Ordering::Relaxed) => {
                output::note("the store answers again");
            }
            _ => {}
        }
        ready(())
    }
}

/// Returns whether another value was written meanwhile. Newer servers have another code for it.
fn is_outdated(error: &UpdateError) -> bool {
    if error.kind() == UpdateErrorKind::WrongLastRevision {
        return true;
    }
    let mut cause = error.source();
    while let Some(error) = cause {
        if let Some(said) = error.downcast_ref::<jetstream::Error>() {
            return said.error_code() == ErrorCode::STREAM_WRONG_LAST_SEQUENCE_CONSTANT;
        }
        cause = error.source();
    }
    false
}

fn silent() -> Unavailable {
    let seconds = TIME.as_secs();
    Unavailable(format!("the store did not answer within {seconds} s"))
}

fn unavailable(error: &dyn std::error::Error) -> Unavailable {
    let why = output::visible(&error.to_string()).into_owned();
    Unavailable(format!("the store does not answer: {why}"))
}
