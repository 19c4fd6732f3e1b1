"""`python -m embeddings` is the command `embeddings`."""

from embeddings.cli import main

main(prog_name="embeddings")
