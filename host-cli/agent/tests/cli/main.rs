//! The program as a whole: its answers, its streams and its files.
//!
//! The tests of the engine cover its wording. Tests here check words only to recognise the message
//! and its place.

// The tests make the program fail by means that other systems do not have.
#![cfg(target_os = "linux")]

mod action;
mod adopt;
mod attacks;
mod audit;
mod canary;
mod capabilities;
mod clients;
mod codes;
mod command_line;
mod decision_point;
mod engines;
mod faults;
mod fix;
mod ground;

mod how_to_run;
mod index;
mod init;
mod inputs;
mod interrupts;
mod locks;
mod login;
mod other_clients;
mod output;
mod pages;
mod plan;
mod planned;
mod playground;
mod processes;
mod project;
mod quality;
mod real_servers;
mod rerun;
mod resolve;
mod run_plan;
mod sandbox;
mod serve;
mod share;
mod terminal;
mod test_runner;
mod tutorial_serve;
mod validity;
mod writing;
