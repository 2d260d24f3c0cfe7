"""Runs many configurations on many snapshots with many seeds: a row for each run, and which configurations are best."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.sweeps.row_files import check_rows_file as check_rows_file, rows_as as rows_as
    from kubesched.sweeps.rows import SweepRow as SweepRow
    from kubesched.sweeps.spec import SweepSpec as SweepSpec, read_spec as read_spec
    from kubesched.sweeps.sweep_result import Setting as Setting, Sweep as Sweep, pareto_figures as pareto_figures
    from kubesched.sweeps.sweeping import sweep as sweep
