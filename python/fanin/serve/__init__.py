"""``fanin serve``: the page with the user's own results, on this machine.

:mod:`fanin.serve.server` opens the port and makes the token, :mod:`fanin.serve.guard` lets requests in,
:mod:`fanin.serve.api` answers them, and ``openapi.json`` describes the answers.
"""
