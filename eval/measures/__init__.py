"""What vectors are scored by: one module for each measure."""
