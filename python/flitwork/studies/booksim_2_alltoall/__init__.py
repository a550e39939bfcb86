"""All-to-alls beside an extended BookSim 2, to the cycle; ``docs/validation.md`` says what came out."""
