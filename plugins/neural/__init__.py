"""Recurrent networks trained by PyTorch; trained models need only numpy."""
