//! The resources.

use crate::tools::{PIXEL, complete_result};
use rmcp::ErrorData;
use rmcp::model::{ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult};
use serde_json::{Value, json};

/// Returns the resources.
pub(crate) fn list() -> ListResourcesResult {
    let resource = |uri: &str, name: &str, description: &str, kind: &str| json!({ "uri": uri, "name": name, "description": description, "mimeType": kind });
    complete_result(json!({ "resources": [
        resource("test://static-text", "static-text", "A text that never changes", "text/plain"),
        resource("test://static-binary", "static-binary", "An image of one pixel", "image/png"),
        resource("test://watched-resource", "watched-resource", "A text to subscribe to", "text/plain"),
    ] }))
}

/// Returns the templates of resources.
pub(crate) fn templates() -> ListResourceTemplatesResult {
    complete_result(json!({ "resourceTemplates": [{
        "uriTemplate": "test://template/{id}/data",
        "name": "template-data",
        "description": "Data of one id",
        "mimeType": "application/json",
    }] }))
}

/// Returns the content of a resource.
///
/// # Errors
///
/// When no resource has this URI.
pub(crate) fn content(uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let (kind, name, value) = match uri {
        "test://static-text" => {
            let text = "This is the content of the static text resource.";
            ("text/plain", "text", text.to_owned())
        }
        "test://watched-resource" => ("text/plain", "text", "Watched content.".to_owned()),
        "test://static-binary" => ("image/png", "blob", PIXEL.to_owned()),
        _ => {
            let id = uri
                .strip_prefix("test://template/")
                .and_then(|rest| rest.strip_suffix("/data"))
                .filter(|id| !id.is_empty() && !id.contains('/'))
                .ok_or_else(|| {
                    let data = json!({ "uri": uri });
                    ErrorData::resource_not_found("no resource has this URI", Some(data))
                })?;
            let data =
                json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") });
            ("application/json", "text", data.to_string())
        }
    };
    let mut content = json!({ "uri": uri, "mimeType": kind });
    content[name] = Value::from(value);
    Ok(complete_result(json!({ "contents": [content] })))
}
