//! Files as the runner of a language writes them, before the application gets them \[2, 3\].

use super::action::StagedFile;
use super::failure::{ErrorCode, Failure};
use super::fs_apply::Change;
use agent_syntax::json::Writer;

/// Returns the files that changes add or replace, by their paths.
pub(crate) fn wanted(changes: &[Change]) -> Vec<StagedFile> {
    let files = changes.iter().filter_map(|change| {
        Some(StagedFile {
            path: change.path.clone(),
            content: change.after.clone()?,
        })
    });
    let mut files: Vec<_> = files.collect();
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

/// Returns whether the runner wrote the wanted files, in any order.
pub(crate) fn is_unchanged(wanted: &[StagedFile], written: &[StagedFile]) -> bool {
    wanted.len() == written.len() && wanted.iter().all(|file| written.contains(file))
}

/// Returns an input of `fs.apply` that writes the runner's files.
///
/// # Errors
/// `E_FS`: one is not a text.
pub(crate) fn rewritten(written: &[StagedFile]) -> Result<String, Failure> {
    let mut files = Vec::new();
    for StagedFile { path, content } in written {
        let text = str::from_utf8(&content.bytes).map_err(|_| {
            let message = format!("the runner wrote `{path}`, which is not a text");
            Failure::new(ErrorCode::Fs, message).hint("have the runner write texts alone")
        })?;
        files.push((path, text, content.mode));
    }
    let mut w = Writer::dense();
    w.object(|w| {
        w.key("writes").array(|w| {
            for (path, text, mode) in files {
                w.object(|w| {
                    w.key("content").string(text);
                    w.key("mode").number(mode);
                    w.key("path").string(path);
                });
            }
        });
    });
    Ok(w.finish())
}
