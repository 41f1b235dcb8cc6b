"""The default preset in dense float64, written from the documentation alone.

Nothing here is fast, and nothing is shared with the library: matrices are formed, motifs are enumerated, and
decompositions are those of LAPACK. Each file names the pages that it follows.
"""
