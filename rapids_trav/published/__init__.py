"""Mechanisms of the published systems that are not the default, a folder or file for each system.

They are exact, tested and reached by name: a `variant`, `schedule` or `processor` of a method, `gather` of
its `tuning`, `Graph.path_layout`.  `rapids_trav.tuning.PUBLISHED` is the table of these names, and the only
link from the rest of the package, which never imports this one (import-linter).  What is the default, such as
pages and blocks, is in `engines`, and the search in two dimensions in `engines.multigpu`.
"""
