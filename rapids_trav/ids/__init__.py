"""Conversion between the caller's vertex ids and dense internal ids."""
