// Triangles of every edge, and what is summed over them.
//
// A triangle a < b < c is found at its edge {a, b}, by looking up the higher neighbours of one end among those of the
// other. Each thread takes one edge; long lists are processed by its warp. The first sweep counts triangles t and sums
// the degrees Q of the nodes opposite each edge; the second sums R, the t of the two other edges of every triangle.
// Cost: the sum over edges of the shorter list times the logarithm of the longer.

// Maximum number of entries that a single thread looks up.
#define SHORT 24

struct Lists {
    // The entries to look up, and the list to search.
    u64 from, end, in_from, in_end;
    // Edge numbers of the first entries of both.
    u64 edge, in_edge;
};

// The lists of the edge {a, b}: higher neighbours of a after b, and higher neighbours of b.
__device__ __forceinline__ Lists lists_of(u64 e, u32 a, const u64 *heads, const u64 *splits, const u64 *edges,
                                          const u32 *ranked) {
    u64 at = splits[a] + (e - edges[a]);
    u32 b = ranked[at];
    Lists own = {at + 1, heads[a + 1], splits[b], heads[b + 1], e + 1, edges[b]};
    if (own.end - own.from > own.in_end - own.in_from) {
        Lists turned = {own.in_from, own.in_end, own.from, own.end, own.in_edge, own.edge};
        return turned;
    }
    return own;
}

struct Sums { u64 t, q, r; };

// Adds the triangle of edge e and the entry at `at`, if there is one. The three edges are e, one of a and one of b.
__device__ __forceinline__ void visit(bool second, u64 e, u32 a, u32 b, u64 at, const Lists &own, const u64 *heads,
                                      const u32 *ranked, u32 *t, u64 *q, u64 *r, Sums &sums) {
    u32 c = ranked[at];
    u64 found = lower_bound(ranked, own.in_from, own.in_end, c);
    if (found >= own.in_end || ranked[found] != c) return;
    u64 one = own.edge + (at - own.from), other = own.in_edge + (found - own.in_from);
    // Of {a, c} and {b, c}, the edge of a comes first in one of the two orders of the lists.
    bool turned = own.edge != e + 1;
    u64 ac = turned ? other : one, bc = turned ? one : other;
    if (!second) {
        sums.t += 1;
        sums.q += heads[c + 1] - heads[c];
        atomicAdd(t + ac, 1u);
        atomicAdd(t + bc, 1u);
        atomicAdd(q + ac, heads[b + 1] - heads[b]);
        atomicAdd(q + bc, heads[a + 1] - heads[a]);
    } else {
        u64 of_ab = t[e], of_ac = t[ac], of_bc = t[bc];
        sums.r += of_ac + of_bc;
        atomicAdd(r + ac, of_ab + of_bc);
        atomicAdd(r + bc, of_ab + of_ac);
    }
}

__device__ __forceinline__ void add_sums(bool second, u64 e, const Sums &sums, u32 *t, u64 *q, u64 *r) {
    if (!second && sums.t > 0) {
        atomicAdd(t + e, (u32)sums.t);
        atomicAdd(q + e, sums.q);
    }
    if (second && sums.r > 0) atomicAdd(r + e, sums.r);
}

extern "C" __global__ void __launch_bounds__(256)
triangles(u64 count, u32 second, const u32 *owner, const u64 *heads, const u64 *splits, const u64 *edges,
          const u32 *ranked, u32 *t, u64 *q, u64 *r) {
    const u32 lane = threadIdx.x % 32;
    const u64 e = thread();
    u32 a = 0, b = 0;
    Lists own = {};
    // The second sweep skips edges without triangles.
    if (e < count && (!second || t[e] > 0)) {
        a = owner[e];
        own = lists_of(e, a, heads, splits, edges, ranked);
        b = ranked[splits[a] + (e - edges[a])];
    }
    const bool is_long = own.end - own.from > SHORT && own.in_end > own.in_from;
    if (!is_long && own.in_end > own.in_from) {
        Sums sums = {};
        for (u64 at = own.from; at < own.end; at++)
            visit(second, e, a, b, at, own, heads, ranked, t, q, r, sums);
        add_sums(second, e, sums, t, q, r);
    }
    u32 rest = __ballot_sync(ALL, is_long);
    while (rest) {
        const int who = __ffs(rest) - 1;
        rest &= rest - 1;
        const u64 edge = __shfl_sync(ALL, e, who);
        const u32 low = __shfl_sync(ALL, a, who), high = __shfl_sync(ALL, b, who);
        const Lists its = lists_of(edge, low, heads, splits, edges, ranked);
        Sums sums = {};
        for (u64 at = its.from + lane; at < its.end; at += 32)
            visit(second, edge, low, high, at, its, heads, ranked, t, q, r, sums);
        sums.t = warp_sum(sums.t);
        sums.q = warp_sum(sums.q);
        sums.r = warp_sum(sums.r);
        if (lane == 0) add_sums(second, edge, sums, t, q, r);
    }
}
