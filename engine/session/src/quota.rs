//! The calls of tools with `rate_limited`, counted for each client and server \[4\].

use super::client::Key;
use super::limits::{QUOTA_WINDOW_MS, QUOTAS_MAX};
use agent_syntax::Node;
use agent_syntax::json::Writer;
use agent_syntax::members::{items, member, number, string};
use std::collections::BTreeMap;

/// The counted calls. A window begins with its first call.
#[derive(Debug, Clone, Default)]
pub(crate) struct Quotas {
    /// By client and server: the start of the window in milliseconds since 1970, and the calls in it.
    pub(crate) windows: BTreeMap<(Key, Key), (u64, u32)>,
}

/// Why a call may not be made now.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum OverQuota {
    /// The window has all its calls; a next one begins in so many milliseconds.
    Exceeded(u64),
    /// The calls of too many clients are counted.
    TooMany,
}

impl Quotas {
    /// Returns whether a call may be made now, of so many in a window.
    pub(crate) fn check(
        &self,
        client: &Key,
        server: &Key,
        limit: u32,
        now_ms: u64,
    ) -> Result<(), OverQuota> {
        let key = (client.clone(), server.clone());
        match self.windows.get(&key).filter(|it| is_open(it.0, now_ms)) {
            Some((start, calls)) if *calls >= limit => {
                Err(OverQuota::Exceeded(start + QUOTA_WINDOW_MS - now_ms))
            }
            Some(_) => Ok(()),
            None if limit == 0 => Err(OverQuota::Exceeded(QUOTA_WINDOW_MS)),
            None => {
                let open = self.windows.values();
                match open.filter(|it| is_open(it.0, now_ms)).count() >= QUOTAS_MAX {
                    true => Err(OverQuota::TooMany),
                    false => Ok(()),
                }
            }
        }
    }

    /// Counts a call that passed [`Quotas::check`].
    pub(crate) fn count(&mut self, client: &Key, server: &Key, now_ms: u64) {
        self.windows.retain(|_, (start, _)| is_open(*start, now_ms));
        let key = (client.clone(), server.clone());
        let (_, calls) = self.windows.entry(key).or_insert((now_ms, 0));
        *calls = calls.saturating_add(1);
    }

    /// Writes the counted calls.
    pub(crate) fn write(&self, w: &mut Writer) {
        w.array(|w| {
            for ((client, server), (start, calls)) in &self.windows {
                w.object(|w| {
                    w.key("calls").json(&calls.to_string());
                    w.key("client").string(client.as_str());
                    w.key("server").string(server.as_str());
                    w.key("start").json(&start.to_string());
                });
            }
        });
    }

    /// Reads what [`Quotas::write`] writes.
    pub(crate) fn read(node: &Node<'_>) -> Option<Self> {
        let window = |node: &Node<'_>| {
            let key = |name| Key::read(string(member(node, name)?)?);
            let start = number(member(node, "start")?)?;
            let calls = number(member(node, "calls")?)?;
            Some((
                (key("client")?, key("server")?),
                (start, u32::try_from(calls).ok()?),
            ))
        };
        let windows = items(node)?.iter().map(window);
        Some(Self {
            windows: windows.collect::<Option<_>>()?,
        })
    }
}

/// Returns whether a window goes on. One that begins later ended with a clock that was set back.
fn is_open(start_ms: u64, now_ms: u64) -> bool {
    now_ms
        .checked_sub(start_ms)
        .is_some_and(|passed| passed < QUOTA_WINDOW_MS)
}
