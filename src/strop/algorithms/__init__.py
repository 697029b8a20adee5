"""The policy gradient: advantages and losses, each with its formula."""
