"""Recordings, written byte by byte as docs/traces.md has them, and scenarios."""

import struct

NEW, NAMED, DISPATCHED, SWITCHED_OUT, BLOCKED, EXITED, POLICY_OUT = 1, 2, 3, 4, 5, 7, 8
SUSPENDED, IDLE, REFUSED, LENT, VALUE, LOST = 9, 11, 12, 13, 15, 16

EVIL = '</script><img src=x onerror="window.broken=true">'

SCENARIO = """scenario answers {
  processors 2;
  thread long * 2 with { bytesleft = 90; } { repeat 5 { block io.read 1ms; run 9ms; } }
  thread short * 3 with { bytesleft = 20; } { repeat 8 { block io.read 1ms; run 2ms; yield; } }
}
"""

POLICY = """// Runs the request that is nearest completion.
scheduler shortest_first {
  thread { int left; }
  threadimports { int bytesleft default 0; }
  data {
    threadref current;
    pqueue ready reverse sortable on left;
  }
  event newthread(t)    { t => ready; }
  event event_raised(t) { t.left = t.bytesleft; t => ready; }
  event switch_out(t)   { t.left = t.bytesleft; t => ready; }
  event schedule        { ready => current; dispatch current; }
}
"""


def record(time, thread, kind, detail=0, event=0, line=0, ready=65535, other=0):
    return struct.pack("<QIBBHIHHQ", time, thread, kind, detail, 0, line, event, ready, other)


def named(time, thread, name):
    text = name.encode() + b"\0"
    for part in range(0, len(text), 16):
        head = struct.pack("<QIBBH", time, thread, NAMED, part // 16, 0)
        yield head + text[part : part + 16].ljust(16, b"\0")


def write(path, policy, source, events, records):
    """`events`: pairs of a name and the line of its handler; a record's event is 4 for the first."""
    names = b""
    for text, line in [(policy, 0), (source, 0), ("native", 0), ("CLOCK_MONOTONIC", 0), *events]:
        names += struct.pack("<I", line) + text.encode() + b"\0\0"
    at = 72 + len(names)
    head = b"CATTRACE" + struct.pack("<IIQQQ", 3, 32, len(records), len(records), 0)
    head += struct.pack("<IIIIQQ", at, len(names), 4 + len(events), 0, 0, 0)
    path.write_bytes(head + names + b"".join(records))


def evil(path):
    """Everything that can have a name is called what would break out of a page."""
    records = [record(0, 1, NEW, event=4), *named(0, 1, EVIL), record(0, 1, VALUE, event=5, other=7)]
    records += [record(0, 1, DISPATCHED, event=4, line=3, ready=0), record(1000, 1, SWITCHED_OUT, event=4)]
    write(path, EVIL, EVIL + ".sched", [(EVIL, 2), (EVIL, 0)], records)


def odd(path):
    """What happens rarely, once each."""
    records = [record(0, thread, NEW) for thread in range(1, 5)]
    records += [record(1000, 5, REFUSED), record(1000, 1, DISPATCHED), record(3000, 2, LENT, other=1)]
    records += [record(6000, 2, SWITCHED_OUT), record(6000, 3, DISPATCHED), record(7500, 3, SUSPENDED)]
    records += [record(8000, 0, IDLE), record(9000, 0, LOST, other=7), record(9000, 4, DISPATCHED)]
    records += [record(12000, 4, BLOCKED, detail=5), record(12000, 2, DISPATCHED), record(14000, 0, POLICY_OUT, line=3)]
    records += [record(15000, 2, EXITED)]
    write(path, "", "", [], records)


def none(path):
    """No turns."""
    write(path, "", "", [], [record(0, 1, NEW), record(0, 0, IDLE), record(5000, 2, NEW)])


def long(path, turns):
    """So many turns of ten threads, in turn."""
    records = [record(0, thread, NEW, event=4) for thread in range(1, 11)]
    for turn in range(turns):
        thread, time = 1 + turn % 10, turn * 50_000
        records.append(record(time, thread, DISPATCHED, event=5, line=16, ready=9))
        records.append(record(time + 40_000 + turn % 7 * 1000, thread, SWITCHED_OUT, event=6, ready=10))
    write(path, "fifo", "fifo.sched", [("newthread", 13), ("schedule", 15), ("switch_out", 13)], records)
