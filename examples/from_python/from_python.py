"""Under which policy short requests wait least, and beside how many others: see examples/from_python/README.md."""

import sys
import tempfile
from pathlib import Path

import catapults

SCENARIO = """
scenario requests {{
  duration 1s;
  thread short * 2 {{ repeat {{ sleep 10ms; run 500us; }} }}
  thread long * {long} {{ repeat {{ run 8ms; yield; }} }}
}}
"""


def main(policies: list[str]) -> None:
    """Prints a table with a row for each simulation."""
    simulations = []
    with tempfile.TemporaryDirectory() as folder:
        for long in (1, 3):
            scenario = Path(folder, "requests.scenario")
            scenario.write_text(SCENARIO.format(long=long), encoding="utf-8")
            simulations += catapults.sim(scenario, policies=policies)
    print("long  policy       short waits, us   worst")
    for simulation in simulations:
        short, long = simulation["short"], simulation["long"]
        wait, worst = (short.ready_mean or 0) / 1000, (short.ready_worst or 0) / 1000
        print(f"{long.came:4}  {simulation.policy:12} {wait:15.0f} {worst:7.0f}")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except catapults.Refused as refused:
        for error in refused.errors:
            print(f"{error.file}:{error.line}: {error.code}: {error.title}")
        sys.exit(1)
