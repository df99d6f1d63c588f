//! What the engine decides, writes and refuses: as a whole, and what a layer of it does beyond what
//! shows in a whole answer.

mod architecture;
mod audit;
mod broken;
mod call;
mod captures;
mod compact;
mod corpus;
mod definitions;
mod documentation;
mod documents;
mod edits;
mod expansion;
mod first_manifest;
mod formats;
mod grounding;
mod hostile;
mod import;
mod json_test_suite;
mod locked_policy;
mod mova;
mod mutation;
mod plan;
mod policy;
mod properties;
mod random;
mod recovery;
mod repairs;
mod run;
mod sarif;
mod schema;
mod schemas;
mod situations;
mod specification;
mod summaries;
mod tool_list;
