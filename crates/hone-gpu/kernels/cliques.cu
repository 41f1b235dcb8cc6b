// 4-cliques of every edge, without enumerating them.
//
// The higher neighbours of a node x that share at least two triangles with it form a local graph. An edge {a, b} of it
// is in as many 4-cliques with x as a and b have common neighbours there: the popcount of two bit rows. The sum over
// the local edges of a is twice the number of cliques on {x, a}. Bit rows are in shared memory for local graphs of up
// to LOCAL nodes, else in the block's scratch memory. Cost: the sum over triangles of the size of the local graph,
// divided by 32.

#define LOCAL 384
#define LOCAL_WORDS (LOCAL / 32 + 1)

// Nodes of each local graph. Nodes that have one are listed, large ones from the back; `found` counts both and holds
// the size of the largest.
extern "C" __global__ void __launch_bounds__(256)
local_sizes(u64 rows, const u64 *edges, const u32 *t, u32 *sizes, u32 *list, u64 *found) {
    const u64 x = thread() / 32;
    const u32 lane = threadIdx.x % 32;
    if (x >= rows) return;
    u64 sum = 0;
    for (u64 e = edges[x] + lane; e < edges[x + 1]; e += 32) sum += t[e] >= 2;
    sum = warp_sum(sum);
    if (lane == 0) {
        sizes[x] = (u32)sum;
        if (sum > LOCAL) {
            list[rows - 1 - atomicAdd(found + 1, 1ull)] = (u32)x;
            atomicMax(found + 2, sum);
        } else if (sum > 2) {
            list[atomicAdd(found, 1ull)] = (u32)x;
        }
    }
}

// The nodes of the local graph of x: ranks in `nodes`, positions among the higher neighbours of x in `places`.
__device__ __forceinline__ u32 collect(u64 x, const u64 *heads, const u64 *splits, const u64 *edges, const u32 *ranked,
                                       const u32 *t, u32 *nodes, u32 *places, u32 *counts) {
    const u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    const u64 count = heads[x + 1] - splits[x];
    u32 all = 0;
    for (u64 base = 0; base < count; base += blockDim.x) {
        u64 k = base + threadIdx.x;
        bool in = k < count && t[edges[x] + k] >= 2;
        u32 votes = __ballot_sync(ALL, in);
        __syncthreads();
        if (lane == 0) counts[warp] = __popc(votes);
        __syncthreads();
        u32 before = all;
        for (u32 other = 0; other < warps; other++) {
            if (other < warp) before += counts[other];
            all += counts[other];
        }
        if (in) {
            u32 at = before + __popc(votes & ((1u << lane) - 1));
            nodes[at] = ranked[splits[x] + k];
            places[at] = (u32)k;
        }
    }
    __syncthreads();
    return all;
}

// Walks over the local edges of local node i: its higher neighbours among `nodes`. The first pass fills the bit rows,
// the second counts cliques.
__device__ __forceinline__ void walk(bool count, u32 i, u32 size, u32 words, const u32 *nodes, const u64 *heads,
                                     const u64 *splits, const u64 *edges, const u32 *ranked, u32 *bits, u64 *own,
                                     u64 *cliques) {
    const u32 lane = threadIdx.x % 32, a = nodes[i];
    const u64 from = splits[a], end = heads[a + 1];
    // The shorter of both lists is looked up in the longer.
    const bool few = end - from < size - i - 1;
    const u64 steps = few ? end - from : size - i - 1;
    u64 sum = 0;
    for (u64 step = lane; step < steps; step += 32) {
        u64 at;
        u32 j;
        if (few) {
            at = from + step;
            j = (u32)lower_bound(nodes, i + 1, size, ranked[at]);
            if (j >= size || nodes[j] != ranked[at]) continue;
        } else {
            j = i + 1 + (u32)step;
            at = lower_bound(ranked, from, end, nodes[j]);
            if (at >= end || ranked[at] != nodes[j]) continue;
        }
        if (!count) {
            atomicOr(bits + (u64)i * words + j / 32, 1u << (j % 32));
            atomicOr(bits + (u64)j * words + i / 32, 1u << (i % 32));
        } else {
            const u32 *mine = bits + (u64)i * words, *theirs = bits + (u64)j * words;
            u32 common = 0;
            for (u32 word = 0; word < (size + 31) / 32; word++) common += __popc(mine[word] & theirs[word]);
            if (common > 0) {
                atomicAdd(cliques + edges[a] + (at - from), (u64)common);
                atomicAdd(own + j, (u64)common);
                sum += common;
            }
        }
    }
    if (count) {
        sum = warp_sum(sum);
        if (lane == 0 && sum > 0) atomicAdd(own + i, sum);
    }
}

__device__ __forceinline__ void cliques_above(u64 x, u32 words, const u64 *heads, const u64 *splits, const u64 *edges,
                                              const u32 *ranked, const u32 *t, u32 *nodes, u32 *places, u32 *counts,
                                              u32 *bits, u64 *own, u64 *cliques) {
    const u32 warp = threadIdx.x / 32, warps = blockDim.x / 32;
    const u32 size = collect(x, heads, splits, edges, ranked, t, nodes, places, counts);
    for (u64 at = threadIdx.x; at < (u64)size * words; at += blockDim.x) bits[at] = 0;
    for (u32 at = threadIdx.x; at < size; at += blockDim.x) own[at] = 0;
    __syncthreads();
    for (u32 i = warp; i < size; i += warps)
        walk(false, i, size, words, nodes, heads, splits, edges, ranked, bits, own, cliques);
    __syncthreads();
    for (u32 i = warp; i < size; i += warps)
        walk(true, i, size, words, nodes, heads, splits, edges, ranked, bits, own, cliques);
    __syncthreads();
    for (u32 at = threadIdx.x; at < size; at += blockDim.x)
        if (own[at] > 0) atomicAdd(cliques + edges[x] + places[at], own[at] / 2);
    __syncthreads();
}

// The next listed node for this block.
__device__ __forceinline__ u32 next_local(u64 count, const u32 *list, u64 *taken, u64 *shared) {
    __syncthreads();
    if (threadIdx.x == 0) *shared = atomicAdd(taken, 1ull);
    __syncthreads();
    return *shared < count ? list[*shared] : NONE;
}

extern "C" __global__ void __launch_bounds__(128)
cliques_small(u64 count, const u32 *list, const u64 *heads, const u64 *splits, const u64 *edges, const u32 *ranked,
              const u32 *t, const u32 *sizes, u64 *taken, u64 *cliques) {
    __shared__ u32 nodes[LOCAL], places[LOCAL], counts[4], bits[LOCAL * LOCAL_WORDS];
    __shared__ u64 own[LOCAL], next;
    while (true) {
        const u32 x = next_local(count, list, taken, &next);
        if (x == NONE) return;
        const u32 words = (sizes[x] + 31) / 32 | 1;
        cliques_above(x, words, heads, splits, edges, ranked, t, nodes, places, counts, bits, own, cliques);
    }
}

// `room` is the size of the largest local graph; each block has `each` 32-bit words of scratch memory.
extern "C" __global__ void __launch_bounds__(512)
cliques_large(u64 count, const u32 *list, u64 room, u64 each, const u64 *heads, const u64 *splits, const u64 *edges,
              const u32 *ranked, const u32 *t, const u32 *sizes, u64 *taken, u32 *scratch, u64 *cliques) {
    __shared__ u32 counts[16];
    __shared__ u64 next;
    u32 *mine = scratch + blockIdx.x * each;
    u64 *own = (u64 *)mine;
    u32 *nodes = mine + 2 * room, *places = nodes + room, *bits = places + room;
    while (true) {
        const u32 x = next_local(count, list, taken, &next);
        if (x == NONE) return;
        const u32 words = (sizes[x] + 31) / 32;
        cliques_above(x, words, heads, splits, edges, ranked, t, nodes, places, counts, bits, own, cliques);
    }
}
