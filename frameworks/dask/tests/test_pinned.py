"""Another Dask is refused, with what was found."""

from __future__ import annotations

import unittest
from unittest import mock

from catapults_dask import pinned


class Pinned(unittest.TestCase):
    def test_this_one_is_suitable(self) -> None:
        pinned.check()

    def test_another_version_is_refused(self) -> None:
        with mock.patch("distributed.__version__", "2025.1.0"):
            with self.assertRaisesRegex(pinned.Unsuitable, "and this is 2025.1.0"):
                pinned.check()

    def test_other_parameters_are_refused(self) -> None:
        with mock.patch("distributed.scheduler.Scheduler.is_rootish", lambda self, task, more: False):
            with self.assertRaisesRegex(pinned.Unsuitable, "is_rootish.*'task', 'more'"):
                pinned.check()

    def test_what_is_gone_is_told(self) -> None:
        with mock.patch.dict(pinned.HOOKS, {"decide": ["self"]}):
            with self.assertRaisesRegex(pinned.Unsuitable, "Scheduler.decide .* None"):
                pinned.check()


if __name__ == "__main__":
    unittest.main()
