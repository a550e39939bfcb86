"""The study of the 2-Level Ring by Naruse et al., 2010."""
