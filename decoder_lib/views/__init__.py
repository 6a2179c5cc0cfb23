"""The live views, a folder for each topic under the name that the topic has in the decoder.

    <topic>/compute.py  turns a situation into what the view shows: plain data, without a front end
    <topic>/draw.py     draws that with HTML and widgets, and answers the reader
    situation           everything that a reader can set, in one value that never changes
    runs                the runs of a situation: as it is, and with another token taken at some step
    state               holds the current situation, and tells the views when it changes
    view, controls, stepper, markup    the pieces that the drawing of all topics shares

`decoder_lib.widgets` has the names that notebooks use. No `compute` module, nor `situation`, `runs` or
`state`, imports ipywidgets or matplotlib.
"""
