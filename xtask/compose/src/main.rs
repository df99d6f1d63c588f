//! Composes a component with the component that exports what it imports: `xtask-compose SOCKET PLUG COMPOSED`.

use anyhow::{Result, bail};
use std::env;
use std::fs;
use wac_graph::types::Package;
use wac_graph::{CompositionGraph, EncodeOptions, plug};

fn main() -> Result<()> {
    let arguments: Vec<_> = env::args().skip(1).collect();
    let [socket, plugged, composed] = &arguments[..] else {
        bail!("usage: xtask-compose SOCKET PLUG COMPOSED");
    };
    let mut graph = CompositionGraph::new();
    let mut register = |name: &str, path: &String| -> Result<_> {
        let package = Package::from_file(name, None, path, graph.types_mut())?;
        Ok(graph.register_package(package)?)
    };
    let (socket, plugged) = (
        register("agent:program", socket)?,
        register("agent:plug", plugged)?,
    );
    plug(&mut graph, vec![plugged], socket)?;
    fs::write(composed, graph.encode(EncodeOptions::default())?)?;
    Ok(())
}
