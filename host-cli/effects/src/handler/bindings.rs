//! The worlds of `wit/handler` as Rust code. The host has one world with all imports; what a handler
//! is linked with depends on its kind.

#![allow(
    missing_docs,
    unreachable_pub,
    unused_qualifications,
    clippy::all,
    reason = "generated"
)]

wasmtime::component::bindgen!({
    inline: "
        package agent:effects;
        world handlers {
            import agent:handler/log@0.1.0;
            import agent:handler/request@0.1.0;
            import agent:handler/program@0.1.0;
            import agent:handler/tool@0.1.0;
            export agent:handler/handler@0.1.0;
        }
    ",
    path: "../../wit/handler",
    world: "agent:effects/handlers",
    imports: { default: async | trappable },
    exports: { default: async },
});
