"""Grades a class: decides what has to be graded, spreads the jobs out, and writes down what comes of them."""
