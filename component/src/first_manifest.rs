//! `agent:engine/first-manifest`

use crate::Component;
use crate::bindings::exports::agent::engine::first_manifest::{Draft, Guest, Offer, Refusal};
use crate::convert::all;
use crate::inputs::Index;
use agent_api::documents::{self, NoFirstManifest};
use agent_api::first_manifest;

impl Guest for Component {
    fn make(name: String, existing: Vec<u8>, offer: Offer<'_>) -> Result<Draft, Refusal> {
        let made = match offer {
            Offer::Index(index) => {
                let index = &index.get::<Index>().value;
                first_manifest(&name, existing, documents::Offer::Index(index))
            }
            Offer::Client(text) => first_manifest(&name, existing, documents::Offer::Client(text)),
        };
        match made {
            Ok(made) => Ok(Draft {
                text: made.text,
                assumptions: made.assumptions,
            }),
            Err(NoFirstManifest::HasFrontmatter) => Err(Refusal::HasFrontmatter),
            Err(NoFirstManifest::NothingOffered) => Err(Refusal::NothingOffered),
            Err(NoFirstManifest::Unreadable(problems)) => Err(Refusal::Unreadable(all(problems))),
        }
    }
}
