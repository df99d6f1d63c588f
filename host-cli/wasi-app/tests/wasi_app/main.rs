//! Apps that are components: their requests, and requests that they send.

mod reach;
mod served;
mod support;
