"""Checks the packages of a release."""
