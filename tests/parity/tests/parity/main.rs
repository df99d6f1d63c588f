//! The component answers as the engine does on this machine.

mod parity;
mod run;
