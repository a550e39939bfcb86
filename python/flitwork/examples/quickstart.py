"""Ten lines of flitwork: simulate an all-to-all on a torus, compare with the bound, draw it."""

import flitwork as fw

net = fw.Torus(9, 9, router=fw.Router(vcs=2, buffer_flits=20))
work = fw.all_to_all("a2at", message_flits=100, sync="local")

result = fw.simulate(net, work, packets=True, channel_window_cycles=400)
print(result)
print(result.summary.T.to_string(header=False))
print(fw.check("a2at", size=(9, 9), ports=4))

fw.plot.timeline(result).savefig("timeline.png")
fw.plot.channel_heatmap(result).savefig("channels.png")
