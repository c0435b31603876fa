"""Studies: tasks × learners × settings × seeds, as one table and one picture."""
