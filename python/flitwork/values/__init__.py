"""The values that describe a simulation: a frozen class a table of the specification, checked when it is made."""
