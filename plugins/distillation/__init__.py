"""Static text vectors distilled from the vectors of a teacher: sums of word rows that point where the teacher's do."""
