"""The policy gradient: advantages and losses, each beside its formula."""
