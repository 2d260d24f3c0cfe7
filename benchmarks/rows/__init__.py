"""The rows of engine.py: what each one measures, the clusters it needs, and the processes that do the work."""
