"""Results, confidence intervals, paired tests and cross-validation."""
