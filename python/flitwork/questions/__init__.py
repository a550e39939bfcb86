"""Questions that take several simulations: a load, a curve, a burst, which algorithm, and what the numbers say."""
