"""The module beside the command: what it returns, and what it raises."""

from __future__ import annotations

import os
import stat
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import catapults

ROOT = Path(__file__).resolve().parents[3]
POLICIES = ROOT / "policies"

POLICY = """
scheduler first {{
  data {{ threadref current; queue ready; }}
  event newthread, event_raised, switch_out(t) {{ {move} }}
  event schedule {{ ready => current; dispatch current; }}
}}
"""
SCENARIO = """
scenario two {{
  policy "{policy}";
  thread long {{ run 5ms; }}
  thread short * 2 {{ sleep 1ms; run 1ms; }}
  expect mean response of short <= {limit};
}}
"""


class Case(unittest.TestCase):
    """Has a folder of its own."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def file(self, name: str, text: str) -> Path:
        """A file with this text."""
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def scenario(self, limit: str = "1s") -> Path:
        """Two kinds of threads under a policy."""
        policy = self.file("first.sched", POLICY.format(move="t => ready;"))
        return self.file("two.scenario", SCENARIO.format(policy=policy.name, limit=limit))


class Check(Case):
    def test_warnings_are_returned(self) -> None:
        self.assertEqual(catapults.check(POLICIES / "round_robin.sched"), [])
        unused = POLICY.format(move="t => ready;").replace("data {", "thread { int level; } data {")
        [warning] = catapults.check(self.file("first.sched", unused))
        self.assertEqual((warning.severity, warning.code, warning.line), ("warning", "E0328", 3))
        self.assertIn("level", warning.title)

    def test_errors_carry_what_the_compiler_says(self) -> None:
        wrong = self.file("wrong.sched", POLICY.format(move="t => redy;"))
        with self.assertRaises(catapults.Refused) as raised:
            catapults.check(POLICIES / "fifo.sched", wrong)
        [error] = raised.exception.errors
        self.assertEqual((error.code, error.file, error.line, error.column), ("E0301", str(wrong), 4, 55))
        self.assertIn("redy", error.title)
        self.assertIn("ready", error.hint or "")
        [span] = error.spans
        self.assertEqual(wrong.read_text(encoding="utf-8")[span.start : span.end], "redy")
        self.assertIn("error[E0301]", str(raised.exception))

    def test_a_file_that_is_not_there_is_refused(self) -> None:
        with self.assertRaises(catapults.Refused) as raised:
            catapults.check(self.folder / "nowhere.sched")
        [error] = raised.exception.errors
        self.assertEqual((error.code, error.line), ("E0501", None))

    def test_wrong_usage_says_why(self) -> None:
        with self.assertRaisesRegex(catapults.WrongUsage, "no-such-host"):
            catapults.check(POLICIES / "fifo.sched", framework="no-such-host")
        with self.assertRaisesRegex(catapults.WrongUsage, "required"):
            catapults.check()


class Sim(Case):
    def test_threads_are_measured(self) -> None:
        [simulation] = catapults.sim(self.scenario())
        self.assertEqual((simulation.scenario, simulation.policy, simulation.ending), ("two", "first", "all ended"))
        self.assertTrue(simulation.as_expected)
        long, short = simulation["long"], simulation["short"]
        self.assertEqual((long.came, short.came, short.ran), (1, 2, 2_000_000))
        # First come, first served: both come to sleep when the long one is done.
        self.assertEqual((long.ended, short.ended, simulation.end), (5_000_000, 8_000_000, 8_000_000))
        self.assertAlmostEqual(long.share, 5 / 8)
        self.assertIsNone(long.missed)
        with self.assertRaises(KeyError):
            simulation["nobody"]

    def test_an_expectation_that_does_not_hold_is_no_error(self) -> None:
        [simulation] = catapults.sim(self.scenario(limit="1ns"))
        self.assertFalse(simulation.as_expected)
        [expectation] = simulation.expectations
        self.assertFalse(expectation.holds)
        self.assertEqual(expectation.line, 6)

    def test_policies_are_compared(self) -> None:
        names = ["fifo", "round_robin"]
        both = catapults.sim(self.scenario(), policies=[POLICIES / f"{name}.sched" for name in names], seed=4)
        self.assertEqual([one.policy for one in both], names)
        self.assertEqual([one.seed for one in both], [4, 4])

    def test_a_wrong_scenario_is_refused(self) -> None:
        with self.assertRaises(catapults.Refused) as raised:
            catapults.sim(self.file("wrong.scenario", "scenario x { thread }"))
        self.assertEqual(raised.exception.errors[0].line, 1)

    def test_names_that_look_like_options_are_none(self) -> None:
        with self.assertRaises(catapults.WrongUsage):
            catapults.sim(self.scenario(), only="--help")


class Test(Case):
    def test_each_scenario_has_a_result(self) -> None:
        good = self.scenario()
        bad = self.file("bad.scenario", SCENARIO.format(policy="first.sched", limit="1ns").replace("two", "bad"))
        refused = self.file("refused.scenario", 'scenario x { policy "first.sched"; thread }')
        results = {Path(one.file): one for one in catapults.test(self.folder)}
        self.assertEqual({path: one.result for path, one in results.items()}, {good: "ok", bad: "failed", refused: "refused"},)
        self.assertIn("expected mean response of short", results[bad].wrong or "")
        self.assertIn("error[E0", results[refused].wrong or "")
        self.assertIn("refused.scenario", results[refused].wrong or "")
        self.assertEqual((results[good].scenario, results[refused].scenario), ("two", None))

    def test_nothing_to_run_is_refused(self) -> None:
        with self.assertRaises(catapults.Refused):
            catapults.test(self.folder)
        with self.assertRaises(catapults.Refused) as raised:
            catapults.test(self.folder / "nowhere")
        self.assertEqual([one.code for one in raised.exception.errors], ["E0501"])


class Explore(Case):
    def test_all_orders_of_events_are_tried(self) -> None:
        [explored] = catapults.explore(POLICIES / "fifo.sched", threads=2)
        self.assertTrue(explored.complete)
        self.assertIsNone(explored.error)
        self.assertGreater(explored.situations, 1)

    def test_starvation_is_found(self) -> None:
        [explored] = catapults.explore(ROOT / "tests" / "cli" / "unfair.sched", threads=2, fair=True)
        starvation = explored.starvation
        assert starvation is not None
        self.assertTrue(starvation.steps and starvation.script)

    def test_a_bound_is_no_failure(self) -> None:
        [explored] = catapults.explore(POLICIES / "round_robin.sched", threads=3, states=10)
        self.assertFalse(explored.complete)

    def test_a_wrong_policy_is_refused(self) -> None:
        with self.assertRaises(catapults.Refused):
            catapults.explore(self.file("wrong.sched", "scheduler"))


class Trace(Case):
    def setUp(self) -> None:
        super().setUp()
        self.trace = catapults.Trace(self.folder / "two.trace")
        catapults.sim(self.scenario(), trace=self.trace.file)

    def test_a_summary_counts(self) -> None:
        summary = self.trace.summary()
        self.assertEqual((summary.host, summary.policy, summary.length, summary.lost), ("simulator", "first", 8_000_000, 0))
        threads = {thread.name: thread for thread in summary.threads}
        self.assertEqual((threads["short"].count, threads["short"].running), (2, 2_000_000))
        [processor] = summary.processors
        self.assertEqual((processor.busy, processor.idle), (7_000_000, 1_000_000))
        self.assertIn(("schedule", 5), {(handler.event, handler.line) for handler in summary.handlers})

    def test_stays_say_who_did_what_when(self) -> None:
        stays = self.trace.stays()
        running = [stay for stay in stays if stay.state == "running" and stay.length > 0]
        self.assertEqual(sum(stay.length for stay in running), 7_000_000)
        self.assertEqual((running[0].thread[:4], running[0].handler, running[0].line), ("long", "schedule", 5))
        self.assertEqual([stay.since for stay in stays], sorted(stay.since for stay in stays))

    def test_what_is_no_recording_is_refused(self) -> None:
        wrong = catapults.Trace(self.file("wrong.trace", "nothing"))
        for call in (wrong.summary, wrong.stays):
            with self.assertRaises(catapults.Refused) as raised:
                call()
            self.assertEqual(raised.exception.errors[0].code, "E0509")


class Frames(Case):
    def test_results_are_rows(self) -> None:
        [simulation] = catapults.sim(self.scenario())
        table = catapults.frame(simulation.threads)
        self.assertEqual(list(table["name"]), ["long", "short"])
        self.assertEqual(table["ran"].sum(), 7_000_000)

    def test_without_pandas_it_says_what_to_install(self) -> None:
        with mock.patch.dict("sys.modules", {"pandas": None}), self.assertRaisesRegex(ImportError, "pip install pandas"):
            catapults.frame([])


class Command(Case):
    def command(self, script: str) -> mock._patch_dict:
        """Another command in the place of the usual one."""
        path = self.file("command", f"#!/bin/sh\n{script}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return mock.patch.dict(os.environ, {"CATAPULTS_COMMAND": str(path)})

    def test_one_that_is_not_there_is_named(self) -> None:
        with mock.patch.dict(os.environ, {"CATAPULTS_COMMAND": "/no/such/command"}):
            with self.assertRaisesRegex(catapults.CommandMissing, "/no/such/command"):
                catapults.check("x.sched")

    def test_an_older_one_is_named(self) -> None:
        with self.command("exit 0"), self.assertRaisesRegex(catapults.CommandMissing, "older"):
            catapults.sim("x.scenario")

    def test_one_that_crashes_is_no_result(self) -> None:
        with self.command("echo oh >&2; kill -9 $$"), self.assertRaises(catapults.Failed) as raised:
            catapults.check("x.sched")
        self.assertEqual(raised.exception.status, -9)
        self.assertIn("oh", str(raised.exception))


if __name__ == "__main__":
    unittest.main()
