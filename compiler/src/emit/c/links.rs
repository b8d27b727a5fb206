//! Links from thread to thread: how they are set, compared and followed, and how they end with a thread.

use super::Unit;
use super::handler::Body;
use super::names::Names;
use crate::policy::{LinkId, Referent, Thread};
use std::fmt::Write;

impl Unit<'_> {
    /// The functions that set a link, and that end all links from a thread and to it.
    pub(super) fn links(&mut self) {
        let names = &self.names;
        if names.links.is_empty() {
            return;
        }
        let Names { thread, linked, link, unlink, .. } = names;
        let inline = names.host.called();
        let [to_link, to_thread] =
            ["link", "thread"].map(|what| names.host.pointer(&format!("struct catapults_{what}")));
        let mut text = format!(
            "\n{inline} void {link}({to_link}link, {to_thread}to) {{\n    \
                 catapults_link_set(link, to, to != NULL ? &{thread}(to)->{linked} : NULL);\n\
             }}\n\n\
             /* The thread ends: it names no other, and none names it. */\n\
             {inline} void {unlink}({to_thread}t) {{\n"
        );
        for member in &names.links {
            let _ = writeln!(text, "    {link}(&{thread}(t)->{member}, NULL);");
        }
        let _ = write!(text, "    catapults_links_end(&{thread}(t)->{linked});\n}}\n");
        self.put(&text);
    }
}

impl Body<'_> {
    /// The link itself.
    pub(super) fn link(&mut self, thread: Thread, link: LinkId) -> String {
        let thread = self.thread(thread);
        format!("{}({thread})->{}", self.names.thread, self.names.links[link.0])
    }

    /// The thread that a link names.
    pub(super) fn linked(&mut self, thread: Thread, link: LinkId) -> String {
        self.link(thread, link) + ".to"
    }

    /// The thread that is meant, or `NULL`.
    pub(super) fn referent(&mut self, to: &Referent) -> String {
        match to {
            Referent::None => "NULL".to_owned(),
            Referent::Thread(local) => self.local(*local),
            Referent::Held(slot) => slot.candidates().next().map_or_else(String::new, |slot| self.container(slot)),
            Referent::Linked(thread, link) => self.linked(*thread, *link),
        }
    }
}
