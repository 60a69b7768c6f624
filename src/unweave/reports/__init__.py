"""Reports: a run, several runs or a whole study as one HTML file that opens from disk."""

from unweave.reports.model_card import push
from unweave.reports.run_report import report
from unweave.reports.study_report import write_study_report, write_table_report

__all__ = ["push", "report", "write_study_report", "write_table_report"]
