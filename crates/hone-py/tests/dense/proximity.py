"""The proximity columns (reports/quality.md#what-the-default-is, reports/research.md, reports/directed.md#the-default)."""

import numpy as np

REGULARIZE, STEPS, LAZINESS, REVERSE = 0.5, 3, 0.2, 0.5
#: Singular values below this share of the largest count as zero.
NEGLIGIBLE = 2e-6


def is_bipartite(weights):
    """Whether no cycle has an odd length."""
    links = (weights + weights.T) > 0
    side = np.zeros(len(links), dtype=int)
    for start in range(len(links)):
        waiting = [start] if not side[start] else []
        side[start] = side[start] or 1
        while waiting:
            node = waiting.pop()
            for other in np.flatnonzero(links[node]):
                if side[other] == side[node]:
                    return False
                if not side[other]:
                    side[other] = -side[node]
                    waiting.append(other)
    return True


def shorten(block):
    """Each row divided by the square root of its length."""
    length = np.linalg.norm(block, axis=1, keepdims=True)
    return block / np.sqrt(np.where(length > 0, length, 1))


def clarity(lam):
    """w: how clearly the five largest eigenvalues after the first, or as many as there are, show communities."""
    size = np.sort(np.abs(lam))[::-1][1:6]
    return min(max((2 * size.mean()) ** 6, 0.02), 1.0) if size.size else 1.0


def leading(sizes, count):
    """The positions of the largest sizes, at most `count`, without those that are nothing but rounding."""
    order = np.argsort(-np.abs(sizes), kind="stable")[:count]
    return order[np.abs(sizes[order]) > NEGLIGIBLE * np.abs(sizes).max(initial=0)]


def gap(sizes, count):
    """How far the last size that is kept is from the first that is not, relative to the largest; 1 if all are kept."""
    sizes = np.sort(np.abs(sizes))[::-1]
    beyond = count < len(sizes) and sizes[count - 1] > NEGLIGIBLE * sizes[0]
    return (sizes[count - 1] - sizes[count]) / sizes[0] if beyond else 1.0


class Undirected:
    """The eigenpairs of S, the factors and the log window of one graph; `Y` has a row per node.

    Where singular vectors and values are given, the factors are made of them, and the eigenpairs are those of S within their
    span.
    """

    def __init__(self, weights, columns, found=None):
        self.dim = max(16, columns)
        degree = weights.sum(1)
        self.nodes = np.flatnonzero(degree > 0)
        self.degree = degree[self.nodes]
        self.tau = REGULARIZE * self.degree.mean()
        root = np.sqrt(self.degree + self.tau)
        self.S = weights[np.ix_(self.nodes, self.nodes)] / np.outer(root, root)
        lam, X = np.linalg.eigh(self.S if found is None else found[0].T @ self.S @ found[0])
        X = X if found is None else found[0] @ X
        self.lazy = LAZINESS if is_bipartite(weights) else 0.0
        walk = self.lazy + (1 - self.lazy) * lam
        kept = leading(walk, self.dim)
        self.cut = gap(walk, self.dim)
        self.lam, self.walk, self.X = lam[kept], walk[kept], X[:, kept]
        self.w = clarity(lam[np.argsort(-np.abs(walk), kind="stable")[: self.dim]])
        power = STEPS if self.lazy else 2 + self.w
        vectors, sizes = found or (self.X, self.walk)
        self.scale = np.abs(sizes / sizes[0]) ** power
        factors = shorten(vectors * self.scale)
        self.view_size = 0.0
        view = self._view(factors)
        self.Y = np.zeros((len(weights), factors.shape[1] + view.shape[1]))
        self.Y[self.nodes] = np.hstack([factors, view])

    def _view(self, factors):
        logs = self.window(self.X, self.degree)
        size, V = np.linalg.eigh(logs)
        kept = leading(size, (self.dim + 1) // 2)
        self.cut = min(self.cut, gap(size, (self.dim + 1) // 2))
        self.view, self.view_values = V[:, kept], size[kept]
        block = shorten(self.view * np.sqrt(np.abs(self.view_values)))
        if block.size:
            self.view_size = np.sqrt(self.w) * np.linalg.norm(factors) / np.linalg.norm(block)
        return block * self.view_size

    def window(self, X, degree):
        """log max(1, M) between nodes with these eigenvectors and degrees, and the nodes of the fit."""
        f = np.maximum(0, (self.lam + self.lam**2) / 2)
        M = self.degree.sum() * (X * f) @ self.X.T / np.sqrt(np.outer(np.where(degree > 0, degree, 1), self.degree))
        return np.log(np.where(M > 1 + 1e-9, M, 1))


class Directed:
    """The factors of both sides of S, or those given; `Y` has a row per node."""

    def __init__(self, weights, columns, found=None):
        self.dim = max(16, columns)
        both = weights + REVERSE * weights.T
        degree = both.sum(0) + both.sum(1)
        self.nodes = np.flatnonzero(degree > 0)
        self.degree = degree[self.nodes]
        self.tau = REGULARIZE * self.degree.mean()
        root = np.sqrt(self.degree + self.tau)
        self.A = both[np.ix_(self.nodes, self.nodes)] / np.outer(root, root)
        self.S = np.linalg.matrix_power(self.A, STEPS)
        U, sigma, Vt = np.linalg.svd(self.S) if found is None else (found[0], found[1], found[2].T)
        kept = leading(sigma, self.dim)
        self.cut = gap(sigma, self.dim)
        self.U, self.sigma, self.V = U[:, kept], sigma[kept], Vt[kept].T
        self.scale = self.sigma / self.sigma[0]
        self.Y = np.zeros((len(weights), 2 * len(kept)))
        self.Y[self.nodes] = np.hstack([shorten(self.U * self.scale), shorten(self.V * self.scale)])


def factors(weights, directed, columns):
    return (Directed if directed else Undirected)(weights, columns)


def reduction(Y, columns):
    """The matrix that maps Y to Z = UΣ of its singular value decomposition, with `columns` columns."""
    _, values, axes = np.linalg.svd(Y, full_matrices=False)
    out = np.zeros((Y.shape[1], columns))
    kept = leading(values, columns)
    out[:, : len(kept)] = axes[kept].T
    return out
