//! The engine as a component under wasmtime.

use crate::table::Table;
use crate::timing::shortest;
use crate::world::World;
use agent_pack::{Toolchain, Workspace};
use bindings::{Engine, EnginePre};
use std::error::Error;
use wasmtime::component::{self, Linker, ResourceAny};
use wasmtime::{Result, Store};

#[allow(
    missing_docs,
    unreachable_pub,
    unused_qualifications,
    clippy::all,
    reason = "generated"
)]
mod bindings {
    wasmtime::component::bindgen!({ path: "../wit/engine", world: "engine" });
}

/// The component, compiled ahead of time.
pub(crate) struct Component {
    engine: wasmtime::Engine,
    code: Vec<u8>,
}

impl Component {
    /// The component of this workspace.
    pub(crate) fn of(workspace: &Workspace) -> Result<Self, Box<dyn Error>> {
        let toolchain = Toolchain::find(workspace)?;
        let packed = agent_pack::pack(
            workspace,
            &toolchain,
            &workspace.component_target_dir(),
            agent_pack::World::Engine,
        )?;
        let engine = agent_aot::engine()?;
        let code = engine.precompile_component(packed.bytes())?;
        Ok(Self { engine, code })
    }

    fn load(&self) -> Result<EnginePre<()>> {
        #[expect(unsafe_code, reason = "the code was compiled by `of`")]
        // SAFETY: `deserialize` wants the unchanged output of a compilation.
        let component = unsafe { component::Component::deserialize(&self.engine, &self.code) }?;
        EnginePre::new(Linker::new(&self.engine).instantiate_pre(&component)?)
    }

    pub(crate) fn measure(&self, world: &World, table: &mut Table) -> Result<(), Box<dyn Error>> {
        let start = shortest(|| Instance::of(&self.load().expect("loads")).expect("starts"));
        table.add("component: load and instantiate", start);

        let loaded = self.load()?;
        let to_lock = shortest(|| {
            let mut instance = Instance::of(&loaded).expect("starts");
            let (manifest, index) = instance.inputs(world).expect("the inputs are valid");
            let resolution = instance.resolve(manifest, index).expect("resolves");
            instance.lock(resolution).expect("renders")
        });
        table.add("component: bytes → lock", to_lock);
        table.compare(
            "component / native: bytes → lock",
            "component: bytes → lock",
            "native: bytes → lock",
            1.5,
        );

        let mut instance = Instance::of(&loaded)?;
        let (manifest, index) = instance.inputs(world)?;
        let resolution = instance.resolve(manifest, index)?;
        let resolve = shortest(|| {
            let resolution = instance.resolve(manifest, index).expect("resolves");
            resolution
                .resource_drop(&mut instance.store)
                .expect("is dropped");
        });
        table.add("component: warm resolve", resolve);
        let compact = shortest(|| instance.compact(resolution).expect("renders"));
        table.add("component: compact explanation", compact);
        Ok(())
    }
}

struct Instance {
    store: Store<()>,
    engine: Engine,
}

impl Instance {
    fn of(loaded: &EnginePre<()>) -> Result<Self> {
        let mut store = Store::new(loaded.engine(), ());
        store.set_fuel(u64::MAX / 2)?;
        // Wasmtime's own limit on what is copied out is below the largest explanation.
        store.set_hostcall_fuel(usize::MAX);
        let engine = loaded.instantiate(&mut store)?;
        Ok(Self { store, engine })
    }

    /// The manifest and the index.
    fn inputs(&mut self, world: &World) -> Result<(ResourceAny, ResourceAny)> {
        let inputs = self.engine.agent_engine_inputs();
        let manifest = inputs
            .manifest()
            .call_parse(&mut self.store, &world.manifest)?;
        let index = inputs.index().call_load(&mut self.store, &world.index)?;
        match (manifest, index) {
            (Ok(manifest), Ok(index)) => Ok((manifest, index)),
            _ => Err(wasmtime::format_err!("an input was refused")),
        }
    }

    fn resolve(&mut self, manifest: ResourceAny, index: ResourceAny) -> Result<ResourceAny> {
        let resolver = self.engine.agent_engine_resolver();
        resolver
            .resolution()
            .call_constructor(&mut self.store, manifest, index)
    }

    fn lock(&mut self, resolution: ResourceAny) -> Result<String> {
        let resolver = self.engine.agent_engine_resolver();
        let lock = resolver
            .resolution()
            .call_lock(&mut self.store, resolution)?;
        lock.ok_or_else(|| wasmtime::format_err!("a requirement is unsatisfied"))
    }

    fn compact(&mut self, resolution: ResourceAny) -> Result<String> {
        let explanation = self.engine.agent_engine_explanation();
        explanation.call_compact(&mut self.store, resolution)
    }
}
