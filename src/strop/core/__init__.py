"""Records and protocols that every other folder speaks. No torch, no I/O."""
