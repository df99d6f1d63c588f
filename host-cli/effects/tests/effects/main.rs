//! Effects of runs, on this machine.

mod changing_dns;
mod third_party;
