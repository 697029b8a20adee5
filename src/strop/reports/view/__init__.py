"""The server of `strop view`: run folders as JSON over loopback, for the same page that the report uses."""
