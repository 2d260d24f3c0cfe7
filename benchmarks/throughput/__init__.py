"""What extender_throughput.py measures, and how."""
