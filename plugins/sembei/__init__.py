"""Segmentation-free embeddings of character n-grams (Oshikiri 2017; Kim, Fukui and Shimodaira 2019)."""
