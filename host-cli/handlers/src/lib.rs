//! The built-in handlers: for each kind of driver one component, which a feature chooses.
//!
//! A handler translates between the JSON of a step and the one function that its world imports.

macro_rules! handler {
    ($feature:literal $module:ident $world:literal) => {
        #[cfg(feature = $feature)]
        mod $module;

        #[cfg(feature = $feature)]
        #[allow(
            unsafe_code,
            missing_docs,
            clippy::all,
            unused_qualifications,
            unreachable_pub,
            reason = "generated"
        )]
        mod bindings {
            wit_bindgen::generate!({
                path: "../../wit/handler",
                world: $world,
            });

            export!(Handler);

            use super::$module::Handler;
        }
    };
}

#[cfg(not(any(feature = "http", feature = "mcp-proxy", feature = "restricted-shell")))]
handler!("noop" noop "noop");
handler!("http" http "http");
handler!("mcp-proxy" mcp_proxy "mcp-proxy");
handler!("restricted-shell" restricted_shell "restricted-shell");
