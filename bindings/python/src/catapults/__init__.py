"""Checks, simulates, tests and explores policies of Catapults, and reads recordings.

    import catapults

    catapults.check("shortest_first.sched")             # raises Refused with the compiler's diagnostics
    [simulation] = catapults.sim("shortest_first.scenario")
    print(simulation["short"].response_mean / 1e6, "ms")
    catapults.frame(simulation.threads)                 # a data frame, where pandas is there

The module runs the command `catapults`: that of $CATAPULTS_COMMAND, or of $PATH, or of the clone that the module is in.
It reads what docs/messages.md describes. All times are nanoseconds.
"""

from .calls import check, explore, sim, test
from .errors import CatapultsError, CommandMissing, Failed, Refused, WrongUsage
from .frames import frame
from .messages import Diagnostic, Span, Suggestion
from .results import (
    Expectation,
    Exploration,
    Finding,
    Kind,
    Simulation,
    Tested,
)
from .trace import RecordedHandler, RecordedProcessor, RecordedThread, Stay, Summary, Trace

__all__ = [
    "CatapultsError",
    "CommandMissing",
    "Diagnostic",
    "Expectation",
    "Exploration",
    "Failed",
    "Finding",
    "Kind",
    "RecordedHandler",
    "RecordedProcessor",
    "RecordedThread",
    "Refused",
    "Simulation",
    "Span",
    "Stay",
    "Suggestion",
    "Summary",
    "Tested",
    "Trace",
    "WrongUsage",
    "check",
    "explore",
    "frame",
    "sim",
    "test",
]
