//! `agent:engine/schemas`

use crate::Component;
use crate::bindings::exports::agent::engine::schemas::{
    self, CoreBorrow, Diagnostic, Guest, GuestCore, Listing, NamedText, Schema,
};
use crate::convert::{all, strings};
use agent_api::schema::{Library, LibrarySchema};
use agent_api::{explain, render};
use std::sync::Arc;

/// The project's schemas, based on an external core.
pub(crate) struct Core(pub(crate) Arc<Library>);

impl Guest for Component {
    type Core = Core;

    fn list_all() -> Listing {
        let schemas: Vec<_> = Library::own().schemas().collect();
        Listing {
            json: render::schemas_json(&schemas),
            text: all(render::schemas(&schemas)),
            schemas: all(schemas),
        }
    }

    fn nearest(name: String) -> Vec<String> {
        strings(explain::nearest_schemas(&name))
    }

    fn show(name: String) -> Option<String> {
        Library::own().text(&name).map(str::to_owned)
    }

    fn check(
        name: String,
        document: Vec<u8>,
        core: Option<CoreBorrow<'_>>,
    ) -> Option<Vec<Diagnostic>> {
        let library = core.as_ref().map(|core| &*core.get::<Core>().0);
        let library = library.unwrap_or(Library::own());
        explain::nonconformities(&name, document, library).map(all)
    }
}

impl GuestCore for Core {
    fn parse(texts: Vec<NamedText>) -> Result<schemas::Core, Vec<String>> {
        let texts = texts.into_iter().map(|it| (it.name, it.text));
        match Library::with_core(texts.collect()) {
            Ok(library) => Ok(schemas::Core::new(Self(Arc::new(library)))),
            Err(errors) => Err(errors.iter().map(ToString::to_string).collect()),
        }
    }
}

impl From<LibrarySchema> for Schema {
    fn from(schema: LibrarySchema) -> Self {
        Self {
            name: schema.name.to_owned(),
            description: schema.description,
            of_mova: schema.of_mova,
        }
    }
}
