"""How does the buffer change the completion time? Every point on its own core; stored points are not computed again."""

import flitwork as fw


def point(buffer_flits: int, sync: str) -> tuple[fw.Network, fw.Workload]:
    """The network and the workload of one point."""
    return fw.Torus(7, 7, router=fw.Router(buffer_flits=buffer_flits)), fw.all_to_all("a2at", sync=sync)


table = fw.sweep(point, buffer_flits=[5, 20, 100, 200], sync=["async", "local"], out="results/buffers")
print(table.pivot(index="buffer_flits", columns="sync", values="completion_cycles"))
