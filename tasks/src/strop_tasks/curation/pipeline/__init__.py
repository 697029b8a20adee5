"""`strop curate`: named steps over any source of tasks, with a manifest that accounts for every one of them."""
