"""The run folder's files, and what a person looks at while a run goes on."""
