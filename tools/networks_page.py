"""Writes the pictures of docs/networks.md: a small network of each topology, and one with faults.

python tools/networks_page.py    (some seconds)
"""

from __future__ import annotations

from pathlib import Path

import flitwork as fw
import matplotlib.pyplot as plt
import numpy as np
from flitwork.plot.channels import channel_snapshot
from flitwork.plot.layout import layout
from flitwork.plot.style import style
from matplotlib.collections import LineCollection

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
#: A ring, a star within, and a cable between each two of the same place.
PETERSEN = [pair for i in range(5) for pair in ((i, (i + 1) % 5), (i, i + 5), (i + 5, (i + 2) % 5 + 5))]
NETWORKS: dict[str, fw.Network] = {
    "torus 6x6": fw.Torus(6, 6),
    "mesh 5x5": fw.Mesh(5, 5),
    "twisted torus 4x8": fw.Network("twisted_torus", size=(4, 8)),
    "hypercube of 3 dimensions": fw.Network("hypercube", dimensions=3),
    "circulant 16, strides 1 and 4": fw.Network("circulant", routers=16, strides=[1, 4]),
    "HyperX 4x4": fw.Network("hyperx", size=(4, 4)),
    "dragonfly, 9 groups of 4": fw.Dragonfly(routers_per_group=4, global_channels_per_router=2),
    "dragonfly+, 5 groups": fw.Network(
        "dragonfly_plus", leaves_per_group=2, spines_per_group=2, global_channels_per_spine=2
    ),
    "slim fly, q = 5": fw.Network("slim_fly", q=5),
    "fat tree, 4-ary 2-tree": fw.KAryNTree(k=4, levels=2),
    "XGFT, half as many up": fw.Xgft(children=[4, 4], parents=[1, 2]),
    "rail-optimised, 2 units of 3 servers": fw.RailOptimized(
        servers_per_leaf=3, gpus_per_server=4, leaves_per_rail=2, spines=3
    ),
    "crossbar, 8 terminals": fw.Crossbar(terminals=8),
    "random regular, 20 of degree 4": fw.Network("random_regular", routers=20, degree=4),
    "any graph (Petersen's)": fw.Graph(cables=PETERSEN),
}


def main() -> None:
    """Draws all of them on one page, and the torus with faults."""
    with style():
        figure, panels = plt.subplots(3, 5, figsize=(15, 9.4), layout="constrained")
        for axes, (name, network) in zip(panels.flat, NETWORKS.items(), strict=True):
            place = layout(network.topology)
            axes.add_collection(LineCollection(list(place.segments), colors="0.6", linewidths=0.7))
            if len(place.terminals):
                ends = place.xy[place.router_of_terminal]
                axes.add_collection(LineCollection(np.stack([place.terminals, ends], 1), colors="0.8", linewidths=0.6))
                axes.scatter(*place.terminals.T, s=6, color="0.55")
            axes.scatter(*place.xy.T, s=16, color="C0", zorder=3)
            left, right, low, high = place.extent
            axes.set_xlim(left, right)
            axes.set_ylim(low, high)
            axes.set_aspect("equal")
            axes.set_axis_off()
            axes.set_title(name, fontsize=10)
        figure.savefig(IMAGES / "networks.png", dpi=110)
        print(IMAGES / "networks.png")
    net = fw.Torus(6, 6, vcs=6, without=fw.Without(cables=[(7, 8), (14, 20)], routers=[28]))
    channel_snapshot(fw.simulate(net, fw.all_to_all("a2a", message_flits=32))).savefig(IMAGES / "faults.png", dpi=90)
    print(IMAGES / "faults.png")


if __name__ == "__main__":
    main()
