//! The program as a whole: its socket, its requests and its answers.

#![cfg(target_os = "linux")]

mod authzen;
mod bundle;
mod decide;
mod envoy;
mod envoy_of_others;
mod ext_proc;
mod grpc;
mod network;
mod openapi;
mod recorded;
mod registry_of_others;
mod socket;
mod store_of_others;
mod support;
