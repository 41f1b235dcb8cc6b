"""Reference vectors for the baselines: gensim (deepwalk, node2vec), dense numpy (spectral, grarep), LINE sample by sample.

Reads a folder written by `hone eval split` and writes PREFIX-METHOD-SEED.tsv, which competes on the same split:
    hone eval split g.tsv --seed 1 -o split; python references.py split g deepwalk 1
    hone eval link g.tsv --seeds 1 --methods deepwalk,file:g-deepwalk-{seed}.tsv
Usage: references.py SPLIT_DIR PREFIX METHOD SEED (numpy, gensim needed)."""
import sys
import numpy as np

def load(folder):
    nodes = [l.strip() for l in open(f"{folder}/nodes.txt")]
    index = {n: i for i, n in enumerate(nodes)}
    edges = np.array([[index[a] for a in l.split()] for l in open(f"{folder}/train.tsv")])
    return nodes, edges

def dense(n, edges):
    a = np.zeros((n, n))
    a[edges[:, 0], edges[:, 1]] = a[edges[:, 1], edges[:, 0]] = 1
    return a

def walks(n, edges, p, q, seed, r=10, length=80):
    rng = np.random.default_rng(seed)
    adj = [[] for _ in range(n)]
    for u, v in edges:
        adj[u].append(v); adj[v].append(u)
    sets = [set(x) for x in adj]
    for _ in range(r):
        for s in rng.permutation(n):
            w = [s]
            while len(w) < length and adj[w[-1]]:
                cur = adj[w[-1]]
                if len(w) == 1 or (p == 1 and q == 1):
                    w.append(cur[rng.integers(len(cur))]); continue
                prev = w[-2]
                pr = np.array([1 / p if x == prev else 1.0 if x in sets[prev] else 1 / q for x in cur])
                w.append(cur[np.searchsorted(np.cumsum(pr), rng.random() * pr.sum())])
            yield [str(x) for x in w]

def gensim(n, edges, seed, p=1.0, q=1.0):
    from gensim.models import Word2Vec
    corpus = list(walks(n, edges, p, q, seed))
    m = Word2Vec(corpus, vector_size=128, window=10, min_count=0, sg=1, hs=0, negative=5, sample=0, epochs=1,
                 workers=1, seed=seed, alpha=0.025)
    return np.array([m.wv[str(i)] for i in range(n)])

def spectral(n, edges):
    a = dense(n, edges); d = a.sum(1)
    s = np.where(d > 0, 1 / np.sqrt(np.maximum(d, 1)), 0)
    w, v = np.linalg.eigh(s[:, None] * a * s[None])
    z = v[:, ::-1][:, :128].copy(); z[d == 0] = 0
    return z

def grarep(n, edges, steps=2, dim=128):
    a = dense(n, edges); d = a.sum(1)
    p = a / np.maximum(d, 1)[:, None]
    out, pk = [], np.eye(n)
    for _ in range(steps):
        pk = p @ pk
        col = pk.sum(0)
        with np.errstate(divide="ignore", invalid="ignore"):
            x = np.where(pk > 0, np.log(pk / col[None]) + np.log(n), 0)
        u, s, _ = np.linalg.svd(np.maximum(x, 0))
        k = dim // steps
        out.append(u[:, :k] * np.sqrt(s[:k]))
    return np.hstack(out)

def line(n, edges, seed, dim=128, rho0=0.025):
    """LINE's second order, one edge after the other as the authors train it; negatives may hit the true target."""
    rng = np.random.default_rng(seed)
    samples = 1000 * len(edges)
    deg = np.bincount(edges.ravel(), minlength=n) ** 0.75
    v = ((rng.random((n, dim)) - 0.5) / dim).astype(np.float32); c = np.zeros((n, dim), np.float32)
    draws = 10_000
    cdf = np.cumsum(deg) / deg.sum()
    label = np.array([1, 0, 0, 0, 0, 0], np.float32)
    for t in range(0, samples, draws):
        rho = np.float32(max(rho0 * (1 - t / samples), rho0 * 1e-4))
        e = edges[rng.integers(len(edges), size=draws)]
        flip = rng.random(draws) < 0.5
        u, w = np.where(flip, e[:, 1], e[:, 0]), np.where(flip, e[:, 0], e[:, 1])
        targets = np.hstack([w[:, None], np.searchsorted(cdf, rng.random((draws, 5)))])
        for i in range(min(draws, samples - t)):
            row, h, tv = targets[i], v[u[i]].copy(), c[targets[i]]
            g = rho * (label - 1 / (1 + np.exp(-(tv @ h))))
            for k in range(6):
                c[row[k]] += g[k] * h
            v[u[i]] += g @ tv
    return v

folder, prefix, method, seed = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
nodes, edges = load(folder)
n = len(nodes)
z = {"deepwalk": lambda: gensim(n, edges, seed), "node2vec": lambda: gensim(n, edges, seed, 0.5, 2.0),
     "spectral": lambda: spectral(n, edges), "grarep": lambda: grarep(n, edges), "line": lambda: line(n, edges, seed)}[method]()
with open(f"{prefix}-{method}-{seed}.tsv", "w") as f:
    f.write("id\t" + "\t".join(f"z{j}" for j in range(z.shape[1])) + "\n")
    for name, row in zip(nodes, z):
        f.write(name + "\t" + "\t".join(f"{x:.6g}" for x in row) + "\n")
