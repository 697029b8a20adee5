"""What all builders, the audit and the pipeline share: from candidates to verified tasks."""
