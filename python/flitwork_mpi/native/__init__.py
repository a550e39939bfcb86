"""Programs on a real MPI library: what starts them, what is compiled for them and loaded into them."""
