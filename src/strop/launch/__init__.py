"""Starts runs: on SLURM, in Apptainer, or as local processes from a recipe; and the checks before they start."""
