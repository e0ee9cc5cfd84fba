"""Tests with bad input, hostile files and hostile folders: each case must be answered correctly or refused.

A refusal is one sentence.
"""
