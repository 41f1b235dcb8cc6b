// Counts in the order of the graph, in as few bytes as most of them need.

// The edge between two ranks, and its two positions in the ranked rows.
struct Found { u64 edge, high_in_low, low_in_high; };

__device__ __forceinline__ Found find(u32 a, u32 b, const u64 *heads, const u64 *splits, const u64 *edges,
                                      const u32 *ranked) {
    const u32 low = min(a, b), high = max(a, b);
    Found found;
    found.high_in_low = lower_bound(ranked, splits[low], heads[low + 1], high);
    found.low_in_high = lower_bound(ranked, heads[high], splits[high], low);
    found.edge = edges[low] + (found.high_in_low - splits[low]);
    return found;
}

// t and cycles per position of the graph; per node its triangles, the sum of d - 1 over its neighbours, and how many of
// its edges are in triangles. One warp per row.
extern "C" __global__ void __launch_bounds__(256)
arrange(u64 rows, const u64 *offsets, const u32 *columns, const u32 *rank, const u64 *heads, const u64 *splits,
        const u64 *edges, const u32 *ranked, const u32 *t, const u64 *cycles, u32 *t_out, u64 *c_out, u64 *inside,
        u64 *triangles, u64 *s) {
    const u64 i = thread() / 32;
    const u32 lane = threadIdx.x % 32;
    if (i >= rows) return;
    const u32 own = rank[i];
    u64 twice = 0, sum = 0, in = 0;
    for (u64 at = offsets[i] + lane; at < offsets[i + 1]; at += 32) {
        const u32 j = columns[at];
        const Found found = find(own, rank[j], heads, splits, edges, ranked);
        const u32 here = t[found.edge];
        t_out[at] = here;
        c_out[at] = cycles[found.high_in_low] + cycles[found.low_in_high];
        twice += here;
        in += here > 0;
        sum += offsets[j + 1] - offsets[j] - 1;
    }
    twice = warp_sum(twice);
    sum = warp_sum(sum);
    in = warp_sum(in);
    if (lane == 0) {
        triangles[i] = twice / 2;
        s[i] = sum;
        inside[i] = in;
    }
}

// K, Q and R of the positions in triangles, row after row; `inside` says where each row begins.
extern "C" __global__ void __launch_bounds__(256)
arrange_inside(u64 rows, const u64 *offsets, const u32 *columns, const u32 *rank, const u64 *heads, const u64 *splits,
               const u64 *edges, const u32 *ranked, const u32 *t_out, const u64 *inside, const u64 *k, const u64 *q,
               const u64 *r, u64 *k_out, u64 *q_out, u64 *r_out) {
    const u64 i = thread() / 32;
    const u32 lane = threadIdx.x % 32;
    if (i >= rows || inside[i] == inside[i + 1]) return;
    const u32 own = rank[i];
    u64 to = inside[i];
    for (u64 base = offsets[i]; base < offsets[i + 1]; base += 32) {
        const u64 at = base + lane;
        const bool in = at < offsets[i + 1] && t_out[at] > 0;
        const u32 votes = __ballot_sync(ALL, in);
        if (in) {
            const u64 edge = find(own, rank[columns[at]], heads, splits, edges, ranked).edge;
            const u64 place = to + __popc(votes & ((1u << lane) - 1));
            k_out[place] = k[edge];
            q_out[place] = q[edge];
            r_out[place] = r[edge];
        }
        to += __popc(votes);
    }
}

__device__ __forceinline__ u64 value_at(u32 wide, const void *values, u64 at) {
    return wide ? ((const u64 *)values)[at] : ((const u32 *)values)[at];
}

// How many values need more than 1, 2 and 4 bytes.
extern "C" __global__ void __launch_bounds__(256) sizes(u64 count, u32 wide, const void *values, u64 *over) {
    u64 sums[3] = {0, 0, 0};
    for (u64 at = thread(); at < count; at += (u64)gridDim.x * 256) {
        u64 value = value_at(wide, values, at);
        sums[0] += value >= 0xffull;
        sums[1] += value >= 0xffffull;
        sums[2] += value >= 0xffffffffull;
    }
    for (int k = 0; k < 3; k++) {
        sums[k] = warp_sum(sums[k]);
        if (threadIdx.x % 32 == 0 && sums[k] > 0) atomicAdd(over + k, sums[k]);
    }
}

// The values in `bytes` bytes each; those that do not fit become the largest number and are listed with their
// positions.
extern "C" __global__ void __launch_bounds__(256)
narrow(u64 count, u32 wide, const void *values, u32 bytes, void *out, u64 *places, u64 *listed, u64 *next) {
    const u64 at = thread();
    if (at >= count) return;
    const u64 value = value_at(wide, values, at), most = bytes == 8 ? ~0ull : (1ull << 8 * bytes) - 1;
    const bool fits = bytes == 8 || value < most;
    if (!fits) {
        u64 to = atomicAdd(next, 1ull);
        places[to] = at;
        listed[to] = value;
    }
    const u64 kept = fits ? value : most;
    if (bytes == 1) ((u8 *)out)[at] = (u8)kept;
    else if (bytes == 2) ((u16 *)out)[at] = (u16)kept;
    else if (bytes == 4) ((u32 *)out)[at] = (u32)kept;
    else ((u64 *)out)[at] = kept;
}
