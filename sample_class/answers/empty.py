# Handed in as it was handed out: nothing is typed in.
# %% generation-loop
