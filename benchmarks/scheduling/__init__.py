"""Live schedulers side by side: shapes of pods, one run of a scheduler over them, the least that a client can cost."""
