//! The program in which a user logs in.

use agent_operator::{Oauth, Value};
use agent_way_out::{Target, WayOut};
use std::borrow::Cow;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

/// The target of a URL with the path and the query, when it is found; or the reason why there is none.
pub type FindTarget<'t> = Pin<Box<dyn Future<Output = Result<(Target, String), String>> + 't>>;

/// The network of a program, and its operator's configuration.
pub trait Environment {
    /// Returns the way out.
    fn way_out(&self) -> Arc<WayOut>;

    /// Returns where a URL is reached, at an address that the engine authorised. Addresses that are not public must
    /// be the hosts of `trusted` URLs.
    fn find_target<'t>(
        &'t self,
        url: &'t str,
        trusted: &'t [&'t str],
        time: Duration,
    ) -> FindTarget<'t>;

    /// Returns the operator's settings of logins to a server.
    fn oauth(&self, id: &str) -> Option<&Oauth>;

    /// Returns a value of the operator's configuration.
    ///
    /// # Errors
    ///
    /// The reason why its secret can't be had.
    fn value<'v>(&'v self, value: &'v Value) -> Result<Cow<'v, str>, String>;
}
