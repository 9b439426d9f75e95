"""``python -m fanin``: the command line."""

from fanin.cli import main

main()
