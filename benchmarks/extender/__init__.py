"""The parts of extender.py: requests, the servers that answer them, the client that measures, and the table."""
