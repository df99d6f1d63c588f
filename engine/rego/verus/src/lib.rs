//! The part of Verus that `regorus` needs to be compiled.
//!
//! `regorus` carries proofs about its numbers and depends on the verifier's library for them: six
//! crates with 178,000 lines, of which a build keeps nothing. Outside of the verifier every macro
//! returns its item as it was, or nothing; the macros here do the same.

#![no_std]
#![forbid(unsafe_code)]

/// The names that `regorus` imports.
pub mod prelude {
    pub use verus_macros::{proof, verus_spec, verus_verify};
}
