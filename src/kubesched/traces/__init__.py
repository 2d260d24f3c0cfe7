"""Reads traces: pods that come and end at times, and nodes that come and go, from the files that publish them."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.traces.gpu_shares import (
        GPU as GPU,
        GPU_MODEL as GPU_MODEL,
        GPU_SHARE as GPU_SHARE,
        models_asked as models_asked,
    )
    from kubesched.traces.json_lines import json_lines as json_lines
    from kubesched.traces.trace import Arrival as Arrival, NodeChange as NodeChange, Trace as Trace
    from kubesched.traces.trace_files import is_trace as is_trace, read_trace as read_trace
