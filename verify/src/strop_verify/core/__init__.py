"""Records and protocols that every other folder uses. No torch, no I/O."""
