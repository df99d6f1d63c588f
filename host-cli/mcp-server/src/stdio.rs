//! A client over standard input and output.

use super::conversation::{Conversation, INVALID_REQUEST};
use super::service::Service;
use agent_host::Failure;
use agent_mcp_protocol::lines::{Line, Lines};
use agent_mcp_protocol::message::{Message, write_error, write_unanswered_error};
use std::rc::Rc;
use tokio::io::{AsyncWriteExt as _, stdin, stdout};
use tokio::select;
use tokio::sync::mpsc;
use tokio::task::{JoinSet, spawn_local};

/// Maximum size of a message of a client, in bytes.
pub(crate) const MESSAGE_BYTES: usize = 4 << 20;

/// Maximum number of messages that wait for the client to read them. Then nothing more is read of it.
const QUEUE: usize = 256;

/// JSON-RPC: a message is not JSON.
pub(crate) const PARSE_ERROR: i64 = -32700;

/// The message about one that is larger than [`MESSAGE_BYTES`].
const TOO_LARGE: &str = "a message has more than 4194304 bytes";

/// Serves the client over standard input and output until its input ends, and every open request with it.
///
/// # Errors
///
/// When standard output can't be written.
pub async fn serve<S: Service>(service: Rc<S>) -> Result<(), Failure> {
    let (sender, mut queue) = mpsc::channel::<String>(QUEUE);
    let writing = spawn_local(async move {
        let mut out = stdout();
        while let Some(mut line) = queue.recv().await {
            line.push('\n');
            out.write_all(line.as_bytes()).await?;
            out.flush().await?;
        }
        Ok::<_, std::io::Error>(())
    });
    let mut changes = service.lists().follow();
    let conversation = Rc::new(Conversation::local(service));
    let mut lines = Lines::new(stdin(), MESSAGE_BYTES);
    let mut requests = JoinSet::new();
    loop {
        select! {
            line = lines.next() => {
                let line = match line {
                    Ok(Some(Line::Whole(line))) => line,
                    Ok(Some(Line::Part { .. })) => continue,
                    Ok(Some(Line::TooLong { id, is_request })) => {
                        let answer = match id.filter(|_| is_request) {
                            Some(id) => write_error(&id, INVALID_REQUEST, TOO_LARGE),
                            None => write_unanswered_error(INVALID_REQUEST, TOO_LARGE),
                        };
                        if sender.send(answer).await.is_err() {
                            break;
                        }
                        continue;
                    }
                    Ok(None) | Err(_) => break,
                };
                // An empty line is no message.
                if line.iter().all(u8::is_ascii_whitespace) {
                    continue;
                }
                match Message::read(line) {
                    Ok(Message::Request { id, method, params }) => {
                        let Ok(permit) = sender.clone().reserve_owned().await else { break };
                        let (conversation, sender) = (Rc::clone(&conversation), sender.clone());
                        requests.spawn_local(async move {
                            let report = |message| {
                                let _ = sender.try_send(message);
                            };
                            let answer = conversation.answer(id, &method, params, report).await;
                            match answer {
                                Some(answer) => drop(permit.send(answer.message)),
                                None => drop(permit),
                            }
                        });
                    }
                    Ok(Message::Notification { method, params }) => {
                        conversation.notify(&method, params.as_ref());
                    }
                    Ok(Message::Response { id, outcome }) => {
                        if let Some(id) = id {
                            conversation.answered(&id, outcome.ok());
                        }
                    }
                    Err(malformed) => {
                        let answer = write_unanswered_error(PARSE_ERROR, &malformed.what);
                        if sender.send(answer).await.is_err() {
                            break;
                        }
                    }
                }
            }
            Some(lists) = changes.next() => {
                for message in conversation.list_changed(&lists) {
                    let _ = sender.try_send(message);
                }
            }
            Some(_) = requests.join_next() => {}
        }
        if writing.is_finished() {
            break;
        }
    }
    requests.shutdown().await;
    drop(sender);
    match writing.await {
        Ok(Ok(())) => Ok(()),
        // The client is gone.
        Ok(Err(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        Ok(Err(error)) => Err(Failure::new(format_args!("standard output: {error}"))),
        Err(error) => Err(Failure::internal(error)),
    }
}
