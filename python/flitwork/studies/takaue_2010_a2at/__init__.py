"""All-to-all in the order A2AT on meshes and tori (Takaue et al., 2010); the findings stand in ``README.md``."""
