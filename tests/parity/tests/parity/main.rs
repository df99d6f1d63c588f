//! The component answers as the engine does on this machine.

mod names;
mod parity;
mod run;
