"""Networks: a constructor for each topology, and the machines that papers describe."""
