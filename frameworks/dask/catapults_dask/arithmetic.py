"""Numbers as policies have them: ints and times wrap, and no operation fails."""

from __future__ import annotations

import math

US = 1_000
MS = 1_000_000
S = 1_000_000_000
INFINITY = math.inf


def int16(value: int) -> int:
    return (value + 0x8000 & 0xFFFF) - 0x8000


def int32(value: int) -> int:
    return (value + 0x8000_0000 & 0xFFFF_FFFF) - 0x8000_0000


def int64(value: int) -> int:
    return (value + 0x8000_0000_0000_0000 & 0xFFFF_FFFF_FFFF_FFFF) - 0x8000_0000_0000_0000


def quotient(left: int, right: int) -> int:
    """Towards zero; by zero, 0. Python's own `//` is towards minus infinity."""
    if right == 0:
        return 0
    magnitude = abs(left) // abs(right)
    return magnitude if (left < 0) == (right < 0) else -magnitude


def remainder(left: int, right: int) -> int:
    """With the sign of the left operand; by zero, 0."""
    if right == 0:
        return 0
    magnitude = abs(left) % abs(right)
    return magnitude if left >= 0 else -magnitude


def shift_left(value: int, by: int, bits: int) -> int:
    """A shift by less than 0 is by 0; one by the width or more loses all bits."""
    if by >= bits:
        return 0
    return {16: int16, 32: int32, 64: int64}[bits](value << max(by, 0))


def shift_right(value: int, by: int) -> int:
    return value >> min(max(by, 0), 63)


def number(value: float) -> float:
    """A result that is not a number is 0."""
    return value if value == value else 0.0


def ratio(left: float, right: float) -> float:
    if right != 0.0:
        return number(left / right)
    if left == 0.0 or left != left:
        return 0.0
    return math.copysign(math.inf, left) * math.copysign(1.0, right)


def truncated(value: float, bits: int) -> int:
    """Towards zero; out of range, the highest or lowest int."""
    highest = (1 << bits - 1) - 1
    if math.isinf(value):
        return highest if value > 0 else -highest - 1
    return max(-highest - 1, min(highest, int(value)))


def nearest(index: int, length: int) -> int:
    """The index of an element; out of range, that of the nearest one."""
    return max(0, min(index, length - 1))


def told_bool(value: bool) -> str:
    return "true" if value else "false"


def told_time(value: int) -> str:
    """As a policy writes it: `25ms`."""
    for unit, length in (("s", S), ("ms", MS), ("us", US)):
        if value != 0 and value % length == 0:
            return f"{value // length}{unit}"
    return f"{value}ns"
