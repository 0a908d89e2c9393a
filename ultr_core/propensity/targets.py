"""What a log says of each document's relevance, and how often it could say it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ultr_core.corpus.ranking import query_of_document
from ultr_core.errors import InputError
from ultr_core.propensity.row_numbers import Numbers, row_numbers
from ultr_core.users.click_log import ClickLog

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Targets:
    """Estimated relevance of documents and numbers of draws of their queries, float64 [documents].

        value_d = (1 / N_q) sum over rows of d (u clicks + v impressions)

    Documents without an impression have a target and a count of 0: clicks say nothing about them.
    """

    value: FloatArray
    draws: FloatArray

    @classmethod
    def of_log(cls, log: ClickLog, numbers: Numbers) -> Targets:
        """The targets of a log, with numbers [rows]: u and v, or propensities.

        Raises InputError if `RowNumbers.on_log` does, and for a log of clicks only.
        """
        of_rows = row_numbers(numbers).on_log(log)
        if log.clicks_only:
            raise no_impressions()
        return cls.of_sums(
            log, log.sum_by_document(log.clicks * of_rows.u + log.impressions * of_rows.v)
        )

    @classmethod
    def of_sums(cls, log: ClickLog, summed: FloatArray) -> Targets:
        """The targets from each document's sum over the rows of a log with impressions."""
        shown = log.impressions_per_document > 0
        draws = log.draws[query_of_document(log.query_offsets)].astype(np.float64)
        value = np.divide(summed, draws, out=np.zeros_like(draws), where=shown & (draws > 0))
        return cls(value, np.where(shown, draws, 0.0))

    def of_documents(self, documents: NDArray[np.int64] | NDArray[np.bool_]) -> Targets:
        """The targets of some documents."""
        return Targets(self.value[documents], self.draws[documents])


def no_impressions(who: str = "this learner also learns") -> InputError:
    """What to say where it is not known how often a document was shown."""
    return InputError(
        f"The log contains only clicks, but {who} from impressions without a click; give a log of "
        "everything that was shown.",
        "clicks_only",
    )
