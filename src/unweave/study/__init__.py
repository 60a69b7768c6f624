"""Studies: many runs from one specification, carried out by engines and read as a table."""

from unweave.study.grid import Planned, plan
from unweave.study.spec import Spec, find_spec, parse_spec, read_spec
from unweave.study.study import Study
from unweave.study.table import Row

__all__ = ["Planned", "Row", "Spec", "Study", "find_spec", "parse_spec", "plan", "read_spec"]
