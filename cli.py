"""Run `embeddings` from a checkout: `python cli.py train skipgram corpus.txt -o vectors`."""

from embeddings.cli import main

main()
