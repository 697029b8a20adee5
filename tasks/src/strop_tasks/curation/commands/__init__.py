"""`strop build`, `strop curate` and `strop audit`: a module for each, and for the larger builders."""
