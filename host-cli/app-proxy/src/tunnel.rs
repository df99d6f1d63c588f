//! Bytes between both sides of a WebSocket.

use crate::app::App;
use crate::pool::Place;
use crate::stream::Link;
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use std::pin::pin;
use std::time::Duration;
use tokio::io::copy_bidirectional;
use tokio::time::timeout;

/// A WebSocket that begins when the client has its response.
pub(crate) struct Tunnel {
    pub(crate) client: OnUpgrade,
    pub(crate) to: OnUpgrade,
    pub(crate) _app: App,
    pub(crate) _place: Place,
}

impl Tunnel {
    /// Moves bytes until both directions have ended, one has failed, or nothing was sent for too long.
    pub(crate) async fn run(self, link: &Link, silence: Duration) {
        let (Ok(client), Ok(to)) = (self.client.await, self.to.await) else {
            return;
        };
        let (mut client, mut to) = (TokioIo::new(client), TokioIo::new(to));
        let mut copying = pin!(copy_bidirectional(&mut client, &mut to));
        while timeout(silence, &mut copying).await.is_err() && link.has_moved() {}
    }
}
