//! The engine as a component under wasmtime.

use crate::table::Table;
use crate::timing::shortest;
use crate::world::World;
use agent_host::bindings::EnginePre;
use agent_host::contract::inputs::{Index, Manifest};
use agent_host::contract::resolver::Resolution;
use agent_host::{COMPONENT, Engine, Failure, Instance, call};
use std::error::Error;
use wasmtime::component::{Component, Linker};
use wasmtime::{Result, Store};

/// The component's machine code, copied at each load. The library embeds the same code and loads it
/// once in a process.
pub(crate) struct MachineCode {
    engine: wasmtime::Engine,
    code: Vec<u8>,
}

impl MachineCode {
    pub(crate) fn compile() -> Result<Self> {
        let engine = agent_aot::engine()?;
        let code = engine.precompile_component(COMPONENT)?;
        Ok(Self { engine, code })
    }

    fn load_and_instantiate(&self) -> Result<impl Sized> {
        #[expect(unsafe_code, reason = "the code was compiled by `compile`")]
        // SAFETY: `deserialize` requires the unchanged output of a compilation.
        let component = unsafe { Component::deserialize(&self.engine, &self.code) }?;
        let instances = EnginePre::new(Linker::new(&self.engine).instantiate_pre(&component)?)?;
        let mut store = Store::new(&self.engine, ());
        store.set_epoch_deadline(1);
        let exports = instances.instantiate(&mut store)?;
        // The measured time excludes freeing them.
        Ok((store, exports))
    }
}

/// Adds the rows of the component to the table of a world.
pub(crate) fn measure(
    code: &MachineCode,
    world: &World,
    table: &mut Table,
) -> Result<(), Box<dyn Error>> {
    let start = shortest(|| code.load_and_instantiate().expect("loads and starts"));
    table.add("component: load and instantiate", start);

    let engine = Engine::embedded()?;
    let to_lock = shortest(|| {
        let mut instance = engine.instantiate().expect("starts");
        let (manifest, index) = inputs(&mut instance, world).expect("the inputs are valid");
        let resolution = resolve(&mut instance, manifest, index).expect("resolves");
        let lock = call!(instance, resolver.resolution.lock(resolution));
        lock.expect("renders")
            .expect("every requirement can be met")
    });
    table.add("component: bytes → lock", to_lock);
    table.compare(
        "component / native: bytes → lock",
        "component: bytes → lock",
        "native: bytes → lock",
        1.5,
    );

    let mut instance = engine.instantiate()?;
    let (manifest, index) = inputs(&mut instance, world)?;
    let resolution = resolve(&mut instance, manifest, index)?;
    let warm = shortest(|| {
        let resolution = resolve(&mut instance, manifest, index).expect("resolves");
        let dropped = instance.call(|_, store| resolution.resource_drop(store));
        dropped.expect("is dropped");
    });
    table.add("component: warm resolve", warm);
    let compact = shortest(|| {
        let explanation = call!(instance, explanation.compact(resolution));
        explanation.expect("renders")
    });
    table.add("component: compact explanation", compact);
    Ok(())
}

fn inputs(instance: &mut Instance, world: &World) -> Result<(Manifest, Index), Failure> {
    let manifest = call!(instance, inputs.manifest.parse(&world.manifest))?;
    let index = call!(instance, inputs.index.load(&world.index))?;
    match (manifest, index) {
        (Ok(manifest), Ok(index)) => Ok((manifest, index)),
        _ => Err(Failure::new("an input was refused")),
    }
}

fn resolve(
    instance: &mut Instance,
    manifest: Manifest,
    index: Index,
) -> Result<Resolution, Failure> {
    call!(instance, resolver.resolution.constructor(manifest, index))
}
