"""Results as data frames, where pandas is there."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas


def frame(results: Iterable[Any]) -> pandas.DataFrame:
    """A row for each result, a column for each field: for the threads of a simulation, the stays of a trace, and so on.

    Raises ImportError without pandas.
    """
    try:
        import pandas
    except ImportError as error:
        raise ImportError("data frames need pandas: `pip install pandas`, or `apt-get install python3-pandas`") from error
    return pandas.DataFrame([asdict(one) for one in results])
