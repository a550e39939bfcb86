"""All-to-alls on regular and twisted tori of 4 x 4 x 8 and 4 x 8 x 8 routers, over the bound of each."""
