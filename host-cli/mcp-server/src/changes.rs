//! Changes of the lists that clients get.

use tokio::sync::watch;

/// A list that clients get.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientList {
    /// The tools.
    Tools,
    /// The resources, and the templates of their URIs.
    Resources,
    /// The prompts.
    Prompts,
}

impl ClientList {
    const ALL: [Self; 3] = [Self::Tools, Self::Resources, Self::Prompts];

    /// Returns the notification of another list.
    pub fn notification(self) -> &'static str {
        match self {
            Self::Tools => "notifications/tools/list_changed",
            Self::Resources => "notifications/resources/list_changed",
            Self::Prompts => "notifications/prompts/list_changed",
        }
    }

    /// Returns the member by which a client subscribes to the notification.
    pub fn subscription(self) -> &'static str {
        match self {
            Self::Tools => "toolsListChanged",
            Self::Resources => "resourcesListChanged",
            Self::Prompts => "promptsListChanged",
        }
    }
}

/// How often each list changed so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts([u64; 3]);

/// Counts the changes of lists.
#[derive(Debug, Default)]
pub struct Announcements(watch::Sender<Counts>);

impl Announcements {
    /// Says that a list is another one.
    pub fn add(&self, list: ClientList) {
        self.0.send_modify(|counts| counts.0[list as usize] += 1);
    }

    /// Returns how often a list changed so far.
    pub fn count(&self, list: ClientList) -> u64 {
        self.0.borrow().0[list as usize]
    }

    /// Returns the changes from now on.
    pub fn follow(&self) -> Changes {
        let receiver = self.0.subscribe();
        let seen = *receiver.borrow();
        Changes { receiver, seen }
    }
}

/// The changes of lists that somebody has not seen yet.
#[derive(Debug)]
pub struct Changes {
    receiver: watch::Receiver<Counts>,
    seen: Counts,
}

impl Changes {
    /// Waits for a change. Returns the lists that changed, or `None` if there will be no more. Dropping the
    /// future loses no change.
    pub async fn next(&mut self) -> Option<Vec<ClientList>> {
        self.receiver.changed().await.ok()?;
        let now = *self.receiver.borrow_and_update();
        let lists = ClientList::ALL.into_iter();
        let changed = lists.filter(|it| now.0[*it as usize] != self.seen.0[*it as usize]);
        let changed = changed.collect();
        self.seen = now;
        Some(changed)
    }
}

#[cfg(test)]
mod tests {
    use super::{Announcements, ClientList};
    use tokio::runtime::Builder;

    #[test]
    fn each_follower_sees_each_list_that_changed() {
        let runtime = Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let lists = Announcements::default();
            lists.add(ClientList::Tools);
            let mut changes = lists.follow();
            lists.add(ClientList::Prompts);
            lists.add(ClientList::Prompts);
            assert_eq!(changes.next().await, Some(vec![ClientList::Prompts]));
            lists.add(ClientList::Resources);
            lists.add(ClientList::Tools);
            let both = vec![ClientList::Tools, ClientList::Resources];
            assert_eq!(changes.next().await, Some(both));
            drop(lists);
            assert_eq!(changes.next().await, None);
        });
    }
}
