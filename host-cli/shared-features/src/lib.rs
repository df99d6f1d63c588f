//! Nothing: the manifest of this package unites features.
