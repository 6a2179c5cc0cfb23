"""What the live views show, computed without a front end.

    situation  everything a reader can set, in one value that never changes
    state      holds the current situation, and tells the views when there is another one
    runs       the runs of a situation: as it is, and with another token taken at some step

Each view has a module that turns a situation into what it shows: `steps`, `chain`, `tree`, `cached`,
`rounds`, `windows`. `decoder_lib.widgets` draws it; nothing here knows ipywidgets or matplotlib.
"""
