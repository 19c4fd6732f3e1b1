"""Text classifiers as saved models: features, predicted labels and quantisation; their trainer is a plugin."""
