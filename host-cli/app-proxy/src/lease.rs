//! Leases of TCP ports \[2, 4\].

use crate::limits::LEASE_TIME;
use std::collections::BTreeMap;
use std::io;
use std::ops::RangeInclusive;
use std::time::Instant;

/// The leased ports, each with what is held for it: a listener that is closed with the lease.
#[derive(Debug)]
pub(crate) struct Leases<L> {
    ports: RangeInclusive<u16>,
    /// The port that is tried next: a port is used again as late as possible, so that the client of an earlier task
    /// does not reach a later one.
    next: u16,
    by_task: BTreeMap<Box<str>, Lease<L>>,
}

#[derive(Debug)]
struct Lease<L> {
    port: u16,
    end: Instant,
    _held: L,
}

impl<L> Leases<L> {
    pub(crate) fn new(ports: RangeInclusive<u16>) -> Self {
        Self {
            next: *ports.start(),
            ports,
            by_task: BTreeMap::new(),
        }
    }

    /// Returns the port whose turn it is.
    fn turn(&mut self) -> u16 {
        let port = self.next;
        self.next = if port == *self.ports.end() {
            *self.ports.start()
        } else {
            port + 1
        };
        port
    }

    /// Returns the port of a task, which has one already or gets one: that of `before` if it is free. `bind` probes a
    /// port: it returns what is held.
    ///
    /// # Errors
    ///
    /// When no port is free, or `bind` fails for a reason other than a port that is taken.
    pub(crate) fn lease(
        &mut self,
        task_id: &str,
        before: Option<u16>,
        now: Instant,
        mut bind: impl FnMut(u16) -> io::Result<L>,
    ) -> io::Result<u16> {
        if let Some(lease) = self.by_task.get_mut(task_id) {
            lease.end = now + LEASE_TIME;
            return Ok(lease.port);
        }
        let before = before.filter(|port| self.ports.contains(port));
        for before in before
            .map(Some)
            .into_iter()
            .chain(self.ports.clone().map(|_| None))
        {
            let port = before.unwrap_or_else(|| self.turn());
            if self.by_task.values().any(|lease| lease.port == port) {
                continue;
            }
            match bind(port) {
                Ok(held) => {
                    let end = now + LEASE_TIME;
                    let lease = Lease {
                        port,
                        end,
                        _held: held,
                    };
                    self.by_task.insert(task_id.into(), lease);
                    return Ok(port);
                }
                Err(error) if error.kind() == io::ErrorKind::AddrInUse => {}
                Err(error) => return Err(error),
            }
        }
        let (start, end) = (self.ports.start(), self.ports.end());
        let message = format!("no port from {start} to {end} is free");
        Err(io::Error::new(io::ErrorKind::AddrInUse, message))
    }

    /// Ends the lease of a task.
    pub(crate) fn release(&mut self, task_id: &str) {
        self.by_task.remove(task_id);
    }

    /// Renews the leases of running tasks, and ends those of ended ones and those whose time is over.
    pub(crate) fn sweep(&mut self, now: Instant, mut life: impl FnMut(&str) -> Life) {
        self.by_task.retain(|task_id, lease| match life(task_id) {
            Life::Runs => {
                lease.end = now + LEASE_TIME;
                true
            }
            Life::Waits => now < lease.end,
            Life::Ended => false,
        });
    }
}

/// What the life of a task means for its lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Life {
    Runs,
    /// It does not run yet: its lease ends with its time.
    Waits,
    Ended,
}

#[cfg(test)]
mod tests {
    use super::{Leases, Life};
    use crate::limits::LEASE_TIME;
    use std::io;
    use std::rc::Rc;
    use std::time::{Duration, Instant};

    const SECOND: Duration = Duration::from_secs(1);

    fn free(_: u16) -> io::Result<()> {
        Ok(())
    }

    #[test]
    fn a_task_keeps_its_port_and_others_get_others() {
        let (mut leases, now) = (Leases::new(61000..=61002), Instant::now());
        assert_eq!(leases.lease("a", None, now, free).unwrap(), 61000);
        assert_eq!(leases.lease("b", None, now, free).unwrap(), 61001);
        assert_eq!(leases.lease("a", None, now, free).unwrap(), 61000);
        leases.release("a");
        assert_eq!(
            leases.lease("c", None, now, free).unwrap(),
            61002,
            "61000 was just used"
        );
        assert_eq!(leases.lease("d", None, now, free).unwrap(), 61000);
        // The next daemon gives tasks the ports that they had.
        let mut later = Leases::new(61000..=61002);
        assert_eq!(later.lease("d", Some(61001), now, free).unwrap(), 61001);
        assert_eq!(later.lease("c", Some(61001), now, free).unwrap(), 61000);
        assert_eq!(later.lease("b", Some(1), now, free).unwrap(), 61002);
        let error = leases.lease("e", None, now, free).unwrap_err();
        assert_eq!(error.to_string(), "no port from 61000 to 61002 is free");
    }

    #[test]
    fn a_port_of_another_program_is_passed_over() {
        let (mut leases, now) = (Leases::new(61000..=61002), Instant::now());
        let taken = |port| match port {
            61001 => Ok(()),
            _ => Err(io::Error::from(io::ErrorKind::AddrInUse)),
        };
        assert_eq!(leases.lease("a", None, now, taken).unwrap(), 61001);
        let error = leases.lease("b", None, now, taken).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
        let denied = |_| Err(io::Error::from(io::ErrorKind::PermissionDenied));
        let error = leases.lease("b", None, now, denied).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
    }

    #[test]
    fn a_lease_ends_with_its_time_unless_its_task_runs() {
        let (mut leases, start) = (Leases::new(61000..=61009), Instant::now());
        let (waits, runs) = (Rc::new(()), Rc::new(()));
        leases
            .lease("waits", None, start, |_| Ok(Rc::clone(&waits)))
            .unwrap();
        leases
            .lease("runs", None, start, |_| Ok(Rc::clone(&runs)))
            .unwrap();
        let life = |task: &str| {
            if task == "runs" {
                Life::Runs
            } else {
                Life::Waits
            }
        };
        leases.sweep(start + LEASE_TIME - SECOND, life);
        assert_eq!((Rc::strong_count(&waits), Rc::strong_count(&runs)), (2, 2));
        leases.sweep(start + LEASE_TIME, life);
        assert_eq!((Rc::strong_count(&waits), Rc::strong_count(&runs)), (1, 2));
        // Renewed a second before.
        leases.sweep(start + LEASE_TIME * 2 - SECOND * 2, |_| Life::Waits);
        assert_eq!(Rc::strong_count(&runs), 2);
        leases.sweep(start + LEASE_TIME * 2, |_| Life::Waits);
        assert_eq!(Rc::strong_count(&runs), 1);
    }

    #[test]
    fn the_end_of_a_task_ends_its_lease() {
        let (mut leases, now) = (Leases::new(61000..=61009), Instant::now());
        let held = Rc::new(());
        leases
            .lease("a", None, now, |_| Ok(Rc::clone(&held)))
            .unwrap();
        leases.sweep(now, |_| Life::Ended);
        assert_eq!(Rc::strong_count(&held), 1);
    }
}
