"""Training on several machines, or in several processes of one, connected by Ray (Moritz et al. 2018)."""
