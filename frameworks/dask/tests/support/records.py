"""Reads what a cluster has recorded."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from catapults_dask import trace

KINDS = {
    trace.NEW: "new",
    trace.NAMED: "named",
    trace.DISPATCHED: "dispatched",
    trace.BLOCKED: "blocked",
    trace.RAISED: "raised",
    trace.EXITED: "exited",
    trace.POLICY_OUT: "policy-out",
    trace.IDLE: "idle",
    trace.REFUSED: "refused",
    trace.PREEMPTED: "preempted",
    trace.VALUE: "value",
}


class Record(NamedTuple):
    kind: str
    thread: int
    processor: int
    #: The event; of a value, the variable.
    name: str
    #: That of the record, or else that of the event.
    line: int
    #: Of a value.
    value: int
    time: int


def names(data: bytes) -> list[tuple[int, str]]:
    """Each with its line."""
    header = trace.HEADER.unpack_from(data)
    table = data[trace.HEADER.size : trace.HEADER.size + header[7]]
    found = []
    while table:
        text, _, rest = table[4:].partition(b"\0")
        found.append((int.from_bytes(table[:4], "little"), text.decode()))
        table = rest.partition(b"\0")[2]
    return found


def records(path: Path) -> Iterator[Record]:
    """From the oldest that is left."""
    data = path.read_bytes()
    _, _, size, capacity, written, _, at, *_ = trace.HEADER.unpack_from(data)
    known = names(data)
    for number in range(max(0, written - capacity), written):
        fields = trace.RECORD.unpack_from(data, at + number % capacity * size)
        time, thread, kind, _, processor, line, name, _, value = fields
        if KINDS[kind] == "named":
            # Its name is where others have these.
            line, name = 0, 0
        begins, text = known[name] if name else (0, "")
        signed = struct.unpack("<q", struct.pack("<Q", value))[0]
        yield Record(KINDS[kind], thread, processor, text, line or begins, signed, time)
