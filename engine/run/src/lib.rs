//! A run of an authorized plan, as a state machine without input and output \[3, 4.2\].
//!
//! [`Run::start`] takes the documents as bytes: reading and validating them is the first state, so
//! that a failure there leaves evidence too. [`Run::next_action`] returns an [`Action`], one effect;
//! [`Run::complete`] takes its [`Outcome`] and a reading of the clock. A host can't reorder steps,
//! skip a check or choose an address, and it stores evidence as it gets it.
//!
//! | module | content |
//! |---|---|
//! | `lifecycle` | the states of a run, in order, as straight code |
//! | `step` | the states of a step |
//! | `turns` | the turns of run and host, by `agent-turns` |
//! | `action` | the actions and their outcomes |
//! | `call` | the decisions on a query and its one call |
//! | `options` | what a host decides before a run |
//! | `documents` | the documents of a run |
//! | `evidence`, `episode`, `record`, `summary` | the files that a run leaves |
//! | `text` | the run for people |
//! | `listing` | the live list of a server's tools, as evidence keeps it |
//! | `progress`, `words` | how far a run has come, and its actions in words |
//! | `decided` | the decision on the plan, made again |
//! | `hidden` | how no secret reaches a diagnostic; `agent_record` redacts evidence |
//! | `stop` | why a run ends early |

#![forbid(unsafe_code)]

mod action;
mod answer;
mod ask;
mod call;
mod catalogue;
mod decided;
mod documents;
mod effects;
mod episode;
mod evidence;
mod hidden;
mod lifecycle;
mod listing;
mod one_step;
mod options;
mod planning;
mod preview;
mod progress;
mod record;
mod run;
mod step;
mod stop;
mod styled;
mod summary;
mod text;
mod turns;
mod words;

pub use agent_api::model::DriverKind;

pub use action::{
    Aborted, Action, Approval, Connection, Exited, Failure, FailureKind, Finished, Handled,
    HandlerCall, HandlerEvent, HandlerRequest, Header, HeaderValue, Opened, Outcome, PlannerTask,
    Planning, Program, Reply, Request, Resolve, Response, Server, Status, Store, StoreMode,
    ToolCall,
};
pub use agent_record::{Clock, MARKER, Redactor, Secret, is_presence, mark_in, unredacted};
pub use agent_turns::OutOfTurn;
pub use call::CallBasis;
pub use decided::{Decided, accept_goal_again, decide_again, decide_call_again};
pub use documents::{Documents, Goal};
pub use evidence::index_line;
pub use options::{Handler, InvalidRunId, Mode, Options};
pub use progress::{Progress, Stage, StageOutcome, StepStage};
pub use run::Run;
pub use summary::{is_summary_digest, summary_digest};
pub use words::ActionWords;
