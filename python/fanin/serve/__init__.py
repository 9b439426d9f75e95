"""``fanin serve``: the page with the user's own results, on this machine.

:mod:`fanin.serve.server` opens the port and makes the token, :mod:`fanin.serve.guard` lets requests in,
:mod:`fanin.serve.api` answers them, and ``openapi.json`` describes the answers. A results folder may be a stranger's:
:mod:`fanin.results.confined` says which of its files are opened at all, and tables are read in a process of their own
(:mod:`fanin.serve.reader`).
"""
