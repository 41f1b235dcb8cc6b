"""Higher-order network embeddings: vectors for the nodes of a graph, built from its motifs.

After *HONE: Higher-Order Network Embeddings* (Rossi et al., arXiv:1801.09303).

>>> from hone_embed import HONE, generate
>>> graph = generate("ring-of-cliques", cliques=6, size=5)
>>> HONE(n_components=32).fit_transform(graph).shape
(30, 32)

Every function takes a graph in any form: a SciPy matrix, an edge array or table, a
NetworkX, igraph, rustworkx, PyTorch Geometric or DGL graph, a file, or a :class:`Graph`.
"""

from hone_embed._draw import Figure, draw
from hone_embed._estimator import HONE, presets
from hone_embed._evaluate import (
    Evaluation,
    LinkSplit,
    evaluate_link_prediction,
    evaluate_nodes,
    link_split,
    methods,
)
from hone_embed._explore import Neighbours, SimilarNodes, layout, most_similar, neighbours, prepared
from hone_embed._factors import Factors, JointFactors, LocalFactors, read_factors
from hone_embed._features import features
from hone_embed._graph import Graph, generate, read_graph, read_recorded_graph
from hone_embed._map import Map, draw_map
from hone_embed._motifs import OrbitCounts, count_orbits, motif_adjacency, motif_matrix, update_orbits
from hone_embed._native import VERSION as __version__
from hone_embed._nodes import NodeVectors
from hone_embed._roles import Roles, roles
from hone_embed._statistics import (
    Coefficients,
    Comparison,
    MotifCluster,
    MotifNames,
    Significance,
    coefficients,
    compare,
    list_motifs,
    motif_cluster,
    significance,
    triad_census,
)
from hone_embed._store import Embedding, read_embedding, write_embedding
from hone_embed._tune import Tuning, tune
from hone_embed._warnings import HoneWarning

__all__ = [
    "HONE",
    "Coefficients",
    "Comparison",
    "Embedding",
    "Evaluation",
    "Factors",
    "Figure",
    "Graph",
    "HoneWarning",
    "JointFactors",
    "LinkSplit",
    "LocalFactors",
    "Map",
    "MotifCluster",
    "MotifNames",
    "Neighbours",
    "NodeVectors",
    "OrbitCounts",
    "Roles",
    "Significance",
    "SimilarNodes",
    "Tuning",
    "__version__",
    "coefficients",
    "compare",
    "count_orbits",
    "draw",
    "draw_map",
    "evaluate_link_prediction",
    "evaluate_nodes",
    "features",
    "generate",
    "layout",
    "link_split",
    "list_motifs",
    "methods",
    "most_similar",
    "motif_adjacency",
    "motif_cluster",
    "motif_matrix",
    "neighbours",
    "prepared",
    "presets",
    "read_embedding",
    "read_factors",
    "read_graph",
    "read_recorded_graph",
    "roles",
    "significance",
    "triad_census",
    "tune",
    "update_orbits",
    "write_embedding",
]
