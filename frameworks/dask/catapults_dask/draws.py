"""What `random(n)` draws: the same numbers on every host (frameworks/shared/catapults/random.h explains them)."""

from __future__ import annotations

WORD = 0xFFFF_FFFF


class Random:
    def __init__(self, seed: int = 1) -> None:
        low = mixed(seed & WORD)
        high = mixed(seed >> 32 & WORD ^ low)
        self.one, self.other = low, 1 if low == 0 and high == 0 else high

    def below(self, bound: int) -> int:
        """A number from 0 to below the bound; 0 if there is none."""
        if bound <= 1:
            return 0
        drawn = self.next()
        drawn = drawn << 32 if bound <= 1 << 16 else drawn << 32 | self.next()
        return drawn * bound >> 64

    def next(self) -> int:
        one, both = self.one, self.one ^ self.other
        self.one = rotated(one, 26) ^ both ^ both << 9 & WORD
        self.other = rotated(both, 13)
        return one * 0x9E37_79BB & WORD


def rotated(word: int, by: int) -> int:
    return (word << by | word >> 32 - by) & WORD


def mixed(word: int) -> int:
    word = word + 0x9E37_79B9 & WORD
    word = (word ^ word >> 16) * 0x85EB_CA6B & WORD
    word = (word ^ word >> 13) * 0xC2B2_AE35 & WORD
    return word ^ word >> 16
