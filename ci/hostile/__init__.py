"""Tests with bad input, hostile files and hostile folders: each case must be answered correctly or refused.

A refusal is one sentence.  A module for each kind of input has `cases(seed)`, which yields all of its cases;
those with random values are drawn from the seed.
"""
