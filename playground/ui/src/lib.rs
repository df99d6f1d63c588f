//! The user interface that all pages of the playground share.
//!
//! Each page is a separate module, which the browser loads when it first shows one of the page's
//! areas. This crate holds what every page has: the frame with editors, examples, help and notices,
//! the connection to the worker, and the way to show problems and fixes. A page implements
//! [`content::Content`] and adds its answers. This crate decides nothing.
//!
//! | module | content |
//! |---|---|
//! | `app`, `state` | the frame with editors, examples, help and notices; the state of a page except the texts |
//! | `worker` | the `WorkerClient`: one request at a time, the latest wins, a new worker after a failure |
//! | `problems` | places and fixes |
//! | `saved`, `keeping`, `recent`, `link` | all inputs in one form: kept for each tab, the last ones, links that hold them |
//! | `editor` | the one module that calls the text editor |

pub mod answer;
pub mod app;
pub mod areas;
pub mod browser;
mod code_page;
pub mod content;
pub mod dialog;
mod difference;
pub mod editor;
pub mod example;
pub mod examples;
mod files;
mod header;
mod inputs;
pub mod keeping;
mod link;
pub mod markdown;
mod menu;
pub mod names;
pub mod notice;
pub mod page;
pub mod problems;
mod recent;
pub mod saved;
mod share;
mod splitter;
pub mod state;
mod theme;
pub mod tour;
pub mod words;
pub mod worker;
