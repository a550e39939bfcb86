"""The study of imbalance and pacing by Shibamura et al., 2012."""
