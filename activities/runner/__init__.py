"""Runs one check command on a checkout: isolated, bounded in time and output, and gone when it ends.

Nothing is imported here: the launcher's processes load this package and must start at once.
"""
