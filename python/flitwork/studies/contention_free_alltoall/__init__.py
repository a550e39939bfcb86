"""All-to-alls in which no flit waits, on networks of every shape, beside those by steps."""
