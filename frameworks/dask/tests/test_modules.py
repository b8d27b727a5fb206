"""A file that is no translated policy, or one for another version of this package, is refused."""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path

from catapults_dask import modules

POLICY = "from catapults_dask.policy import Scheduler\nABI = {}\nPOLICY = Scheduler\n"


class Modules(unittest.TestCase):
    def loads(self, text: str) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "policy.py"
            path.write_text(text)
            modules.load(str(path))

    def test_a_policy_of_this_version_is_loaded(self) -> None:
        self.loads(POLICY.format(1))

    def test_another_version_is_refused(self) -> None:
        with self.assertRaisesRegex(ValueError, "for version 2 of the table .* is version 1: translate it again"):
            self.loads(POLICY.format(2))

    def test_any_other_file_is_refused(self) -> None:
        with self.assertRaisesRegex(ValueError, "is no translated policy"):
            self.loads("POLICY = 3\n")


if __name__ == "__main__":
    unittest.main()
