//! The page of the playground.

fn main() {}
