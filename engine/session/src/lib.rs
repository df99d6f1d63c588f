//! An agent's session with its servers, as a state machine without input and output \[4, 6 and 7.3\].
//!
//! A [`Session`] makes one explained decision for listing, expanding and calling: what the lock does not
//! have is on no surface, and every refusal says why and what may be done instead. It is fed raw bytes
//! as they come, each with a reading of the host's clock, and returns what to do and what to record. A
//! host enforces; it decides nothing.
//!
//! | module | content |
//! |---|---|
//! | `session`, `messages` | the session as its host sees it, and what it returns |
//! | `calling`, `approving`, `effects` | calls, the answers of humans, and the results of calls |
//! | `documents`, `basis` | the documents, and what is derived from them once |
//! | `options`, `limits` | what a host decides before a session, and the limits |
//! | `client`, `request` | who asks, and for what |
//! | `method`, `requesting`, `responding` | requests for resources and prompts, and their results |
//! | `entries`, `uri` | live lists of resources and prompts, and the URIs in them |
//! | `served`, `contents` | the resources and prompts that a client sees, and the checks of their contents |
//! | `destination` | where servers are reached, and at which addresses |
//! | `live` | live lists of tools against the lock: drift and quarantine |
//! | `offered` | tools that no lock has, in a session that only observes |
//! | `surface`, `names`, `fallback` | the tools that a client sees, under which names, and when |
//! | `decision`, `stub` | the one decision on a call, and the operations of a stub |
//! | `decision_point` | the same decision without a session, by documents alone |
//! | `kept` | the same decision after what a store keeps of the client |
//! | `enforcing` | messages between a client and one server, decided without a session |
//! | `health` | the rules of health, as a pure function |
//! | `history` | what an agent and a client did, as policies see it |
//! | `quota`, `approval`, `continuation`, `calls`, `expanded` | what outlives a message |
//! | `elicitation` | the question to a human that a client asks, and its answer |
//! | `refusal`, `delivery` | the results that a client gets instead of a server's, and the checks of a server's |
//! | `ruling`, `redacting` | what a policy decides about results, and takes out of them |
//! | `audit`, `records` | records, hash-chained, and their content |
//! | `audit_log` | a log of records: verified, and its calls decided again |
//! | `state` | the exported state |
//! | `status` | the session for people and programs |

#![forbid(unsafe_code)]

mod approval;
mod approving;
mod audit;
pub mod audit_log;
mod basis;
mod calling;
mod calls;
mod client;
mod contents;
mod continuation;
mod decision;
mod decision_point;
mod delivery;
mod destination;
mod documents;
mod effects;
mod elicitation;
mod enforcing;
mod entries;
mod expanded;
mod fallback;
pub mod health;
mod history;
mod kept;
pub mod limits;
mod live;
mod messages;
mod method;
mod names;
mod offered;
mod options;
mod quota;
mod records;
mod redacting;
mod refusal;
mod request;
mod requesting;
mod responding;
mod ruling;
mod served;
mod session;
mod state;
mod status;
mod stub;
mod surface;
mod uri;

pub use agent_api::diagnostic::{Code, Diagnostic};
pub use agent_api::explain::CallReason;
pub use agent_record::{Clock, Secret};

pub use audit::Record;
pub use basis::Digests;
pub use client::{Client, Generation};
pub use decision_point::{AskedCall, CallDecision, CallSubject, DecisionPoint};
pub use destination::Destination;
pub use documents::Documents;
pub use enforcing::{AskedRequest, Enforced, ReceivedResult};
pub use entries::WithheldEntry;
pub use history::records_in;
pub use kept::{AskedApproval, KeptApproval, KeptAt, KeptDecision, KeptEnforced};
pub use live::{Deviation, Drifted, Withheld};
pub use messages::{
    Approved, CallAction, Called, Delivered, Failure, Forwarded, ForwardedRequest, Listed,
    LockedServer, Observed, ObservedEntries, Reloaded, Transition,
};
pub use method::{ListKind, Method};
pub use options::{ApprovalMode, Expansion, Ignoring, ObservedServer, Options};
pub use refusal::{EFFECT_KEY, ERROR_KEY, OBSERVED_KEY, REFUSAL_KEY};
pub use session::Session;
pub use state::ExportedState;
