"""What `catapults run` starts says of the environment, before any program runs."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HOME = Path(__file__).parent.parent

POLICY = """
from catapults_dask.policy import Scheduler, Thread

class Nothing(Scheduler):
    THREAD = Thread

ABI = 1
POLICY = Nothing
"""


class Refused(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.policy = Path(folder.name) / "nothing.py"
        self.policy.write_text(POLICY)

    def said(self, **variables: str) -> str:
        path = f"{HOME / 'start'}:{HOME}"
        given = {**os.environ, "PYTHONPATH": path, "CATAPULTS_DASK_POLICY": str(self.policy), **variables}
        program = [sys.executable, "-c", "print('it has run')"]
        process = subprocess.run(program, env=given, capture_output=True, text=True, check=False)
        self.assertNotEqual(process.returncode, 0)
        self.assertEqual(process.stdout, "")
        return process.stderr

    def test_numbers(self) -> None:
        self.assertIn("CATAPULTS_DASK_WORKERS is `none`: write a whole", self.said(CATAPULTS_DASK_WORKERS="none"))
        self.assertIn("CATAPULTS_DASK_AHEAD is `2`: write 0", self.said(CATAPULTS_DASK_AHEAD="2"))

    def test_what_is_no_policy(self) -> None:
        self.policy.write_text("POLICY = 3\n")
        self.assertIn("nothing.py is no translated policy: `catapults build", self.said())

    def test_where_nothing_can_be_recorded(self) -> None:
        missing = str(self.policy / "day.trace")
        self.assertIn(f"cannot record in {missing}: Not a directory", self.said(CATAPULTS_TRACE=missing))
        self.assertIn("cannot record in /dev/null: No such device", self.said(CATAPULTS_TRACE="/dev/null"))
        self.assertIn("nothing.py: it is the policy", self.said(CATAPULTS_TRACE=str(self.policy)))
        self.assertEqual(self.policy.read_text(), POLICY)


if __name__ == "__main__":
    unittest.main()
