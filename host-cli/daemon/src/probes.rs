//! Requests that test an app.

use super::refusal::{Answered, refused};
use agent_host::contract::daemon::{ErrorCode, Probe, ProbeResponse, Probing};
use agent_way_out::header::{HeaderName, HeaderValue};
use agent_way_out::{Cancel, ErrorKind, Limits, Method, Request, Roots, Scheme, Target, WayOut};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

/// Maximum size of a response's body, in bytes. Of a larger one nothing is judged.
const BODY_BYTES: u64 = 8 << 20;

/// Maximum time of a probe.
const TIME: Duration = Duration::from_secs(30);

/// Number of first bytes of a body that the engine judges.
const JUDGED_BYTES: usize = 1 << 20;

/// Sends probes, one after the other.
pub(crate) async fn probed(probing: Probing) -> Answered<Vec<Result<ProbeResponse, String>>> {
    let Probing { to, below, probes } = probing;
    let host = to.host.trim_matches(['[', ']']);
    let ip = host.parse().unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
    let mut responses = Vec::new();
    for probe in &probes {
        responses.push(send(SocketAddr::new(ip, to.port), &below, probe).await?);
    }
    Ok(responses)
}

/// Sends a probe to an address of loopback, below a path. The inner error says why there is no response; a connection
/// that is refused is a failure of the verb.
async fn send(
    address: SocketAddr,
    below: &str,
    probe: &Probe,
) -> Answered<Result<ProbeResponse, String>> {
    let invalid = |what: &str| {
        let message = format!("the probe of `{}` has an invalid {what}", probe.path);
        refused(ErrorCode::Plan, message, "send a request as HTTP has it")
    };
    let method = Method::from_bytes(probe.method.as_bytes()).map_err(|_| invalid("method"))?;
    let mut request = Request::new(method, format!("{below}{}", probe.path));
    for (name, value) in &probe.headers {
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| invalid("header"))?;
        let value = HeaderValue::from_str(value).map_err(|_| invalid("header"))?;
        request.headers.append(name, value);
    }
    let host = address.ip().to_string();
    let target = Target::new(Scheme::Http, &host, address).map_err(|_| invalid("target"))?;
    let limits = Limits {
        head: TIME,
        total: TIME,
        body_bytes: BODY_BYTES,
        ..Limits::default()
    };
    let began = Instant::now();
    // Nothing here is encrypted.
    let way_out = WayOut::new(Roots::default());
    let never = Cancel::never();
    let sent = way_out.send(&target, request, &limits, &never).await;
    Ok(match sent {
        Ok(response) => Ok(ProbeResponse {
            status: response.status.as_u16(),
            body: response.body[..response.body.len().min(JUDGED_BYTES)].to_vec(),
            latency_ms: u32::try_from(began.elapsed().as_millis()).unwrap_or(u32::MAX),
        }),
        Err(error) if error.kind == ErrorKind::Connect => {
            let message = format!("nothing answers at {address}: {error}");
            let hint = "check `via.gateway`, or send the probes without it";
            return Err(refused(ErrorCode::Network, message, hint));
        }
        Err(error) => Err(error.to_string()),
    })
}
