//! Sentences about the network of a program.

use super::input::listed;
use agent_decide::{AuthorityError, NetworkDenial};
use agent_diagnostic::Code;
use agent_text::visible;

/// Returns the code and the sentence of a denied connection.
pub fn network_denial(denial: &NetworkDenial) -> (Code, String) {
    let message = match denial {
        NetworkDenial::Invalid(error) => {
            format!(
                "the wanted destination is not `host:port`: {}",
                reason(*error)
            )
        }
        NetworkDenial::InvalidEntry { entry, error } => {
            format!(
                "the entry `{}` is not `host:port`: {}",
                visible(entry),
                reason(*error)
            )
        }
        NetworkDenial::NotAllowed { wanted, allowed } => format!(
            "`{wanted}` is not an allowed destination; the allowed ones: {}",
            listed(allowed)
        ),
        NetworkDenial::NoAddress(wanted) => format!("`{wanted}` has no address"),
        NetworkDenial::NonPublic { wanted, address } => {
            let host = match address.is_ipv6() {
                true => format!("[{address}]"),
                false => address.to_string(),
            };
            let port = wanted.port();
            format!(
                "`{wanted}` leads to {address}, which is not a public address; allow `{host}:{port}` to \
                 connect to it"
            )
        }
    };
    (Code::MovaDestinationDenied, message)
}

fn reason(error: AuthorityError) -> String {
    match error {
        AuthorityError::Port => "it does not end in a port from 1 to 65535".to_owned(),
        AuthorityError::Host(error) => error.to_string(),
    }
}
