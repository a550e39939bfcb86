"""Pictures. Every function returns a matplotlib figure (the animation: its path); labels carry units.

>>> fw.plot.phases(fw.Torus(5, 5), fw.all_to_all("a2at")).savefig("phases.png")
"""

from flitwork.plot.links import link_animation, link_heatmap, link_snapshot
from flitwork.plot.phases import phases
from flitwork.plot.timeline import timeline

__all__ = ["link_animation", "link_heatmap", "link_snapshot", "phases", "timeline"]
