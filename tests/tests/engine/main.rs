//! What a layer of the engine does, beyond what shows in a whole answer.

mod call;
mod captures;
mod expansion;
mod grounding;
mod import;
mod plan;
mod policy;
mod random;
mod schema;
