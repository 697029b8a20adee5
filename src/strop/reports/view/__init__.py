"""The server behind `strop view`: run folders as JSON over loopback, for the page that the report holds too.

app      routes, and what guards them
follow   one run, looked at again and again while it grows
index    every rollout's row, read in the background, newest step first
blocks   one file of rollouts: its rows, its groups, one whole line
filters  which rows a search means
serve    the socket, uvicorn, the browser
"""
