//! Runners: built-in ones, foreign ones, and the test of both.

mod built_in;
mod conformance;
mod session;
mod support;
