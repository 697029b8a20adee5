"""Which tasks are alike: shingles and normal forms, MinHash with exact confirmation, clusters, in bounded memory."""
