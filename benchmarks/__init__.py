"""Measurements, each a program; none of them is a test."""
