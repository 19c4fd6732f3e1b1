"""Work on whole vocabularies of vectors: compare, choose, align, merge, hand over."""
