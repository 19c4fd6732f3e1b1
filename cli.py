"""Run `embeddings` from a checkout: `python cli.py train skipgram corpus.txt -o vectors`."""

from embeddings.__main__ import main

main()
