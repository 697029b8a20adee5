"""Many answers judged side by side: the pool, its ledger, the order of waiting and what is kept."""
