"""Training on several machines, or in several processes of one, that Ray connects (Moritz et al. 2018)."""
