"""A run on other machines than this one: SLURM, Apptainer, processes from a recipe, and the check before it starts."""
