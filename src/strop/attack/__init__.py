"""`strop attack`: the suite of `strop_verify.attacks`, with attacks by plays and answers from files."""
