"""The server of `strop view`: run folders as JSON over loopback, for the same page that the report uses.

app      routes, and their protection
follow   one run, reread while it grows
index    every rollout's row, read in the background, newest step first
blocks   one file of rollouts: its rows, its groups, one whole line
filters  which rows a search means
serve    the socket, uvicorn, the browser
"""
