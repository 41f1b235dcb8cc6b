// Non-induced 4-cycles through every edge.
//
// A 4-cycle has a highest node u and, opposite it, a node w; two nodes v are between them. With c(u, w) common
// neighbours v < u of u and w < u, every wedge u-v-w is in c(u, w) - 1 cycles, which are added to both of its edges: to
// the position of v in the row of u, and to that of w in the row of v, where wedges of one v are contiguous. The cycles
// of an edge are the sum over its two positions. All sums are integers, so their order does not matter. c(u, w) is
// counted in a hash table in shared memory by a warp or a block, or in an array of all nodes if u has more wedges.
// Cost: the sum over edges of the smaller degree.

// Maximum number of wedges for a warp and for a block: half of the slots of its table.
#define FEW 256
#define MANY 2048

__device__ __forceinline__ u32 place_of(u32 key, u32 places) { return (key * 0x9e3779b1u >> 12) & (places - 1); }

// Increments the count of a key; returns the previous count.
__device__ __forceinline__ u32 add_one(u32 *keys, u32 *counts, u32 places, u32 key) {
    u32 at = place_of(key, places);
    while (true) {
        u32 there = atomicCAS(keys + at, NONE, key);
        if (there == NONE || there == key) return atomicAdd(counts + at, 1u);
        at = (at + 1) & (places - 1);
    }
}

__device__ __forceinline__ u32 count_of(const u32 *keys, const u32 *counts, u32 places, u32 key) {
    u32 at = place_of(key, places);
    while (keys[at] != key) at = (at + 1) & (places - 1);
    return counts[at];
}

// Upper bound of the wedges of each node to lower ones. Nodes with more than FEW are listed from the front,
// those with more than MANY from the back; `listed` counts both.
extern "C" __global__ void __launch_bounds__(256)
wedge_work(u64 rows, const u64 *heads, const u64 *splits, const u32 *ranked, u64 *work, u32 *list, u64 *listed) {
    const u64 u = thread() / 32;
    const u32 lane = threadIdx.x % 32;
    if (u >= rows) return;
    u64 sum = 0;
    for (u64 at = heads[u] + lane; at < splits[u]; at += 32) sum += heads[ranked[at] + 1] - heads[ranked[at]];
    sum = warp_sum(sum);
    if (lane == 0) {
        if (splits[u] - heads[u] < 2) sum = 0;
        work[u] = sum;
        if (sum > MANY) list[rows - 1 - atomicAdd(listed + 1, 1ull)] = (u32)u;
        else if (sum > FEW) list[atomicAdd(listed, 1ull)] = (u32)u;
    }
}

// Nodes with few wedges, one warp each; eight lanes walk over the row of one neighbour.
extern "C" __global__ void __launch_bounds__(256)
wedges_few(u64 rows, const u64 *heads, const u64 *splits, const u32 *ranked, const u64 *work, u64 *cycles) {
    __shared__ u32 all_keys[8][2 * FEW], all_counts[8][2 * FEW];
    const u64 u = thread() / 32;
    const u32 lane = threadIdx.x % 32, group = lane / 8, own = lane % 8;
    if (u >= rows || work[u] == 0 || work[u] > FEW) return;
    u32 *keys = all_keys[threadIdx.x / 32], *counts = all_counts[threadIdx.x / 32];
    u32 places = 64;
    while (places < 2 * work[u]) places *= 2;
    for (u32 at = lane; at < places; at += 32) {
        keys[at] = NONE;
        counts[at] = 0;
    }
    __syncwarp();
    const u64 start = heads[u], end = splits[u];
    bool meet = false;
    for (u64 at = start + group; at < end; at += 4) {
        u64 from = heads[ranked[at]];
        for (u64 p = from + own;; p += 8) {
            u32 w = p < heads[ranked[at] + 1] ? ranked[p] : NONE;
            if (w >= u) break;
            meet |= add_one(keys, counts, places, w) > 0;
        }
    }
    __syncwarp();
    if (!__any_sync(ALL, meet)) return;
    for (u64 at = start; at < end; at += 4) {
        u64 sum = 0;
        if (at + group < end) {
            u32 v = ranked[at + group];
            for (u64 p = heads[v] + own; p < heads[v + 1]; p += 8) {
                u32 w = ranked[p];
                if (w >= u) break;
                u32 others = count_of(keys, counts, places, w) - 1;
                if (others > 0) atomicAdd(cycles + p, (u64)others);
                sum += others;
            }
        }
        for (int other = 4; other > 0; other /= 2) sum += __shfl_xor_sync(ALL, sum, other);
        if (own == 0 && sum > 0) atomicAdd(cycles + at + group, sum);
    }
}

// The next listed node for this block, last first: those have the most wedges.
__device__ __forceinline__ u32 next_node(u64 count, const u32 *list, u64 *taken, u64 *shared) {
    __syncthreads();
    if (threadIdx.x == 0) *shared = atomicAdd(taken, 1ull);
    __syncthreads();
    return *shared < count ? list[count - 1 - *shared] : NONE;
}

// Nodes with more wedges, one block each; a warp walks over the row of one neighbour.
extern "C" __global__ void __launch_bounds__(256)
wedges_many(u64 count, const u32 *list, const u64 *heads, const u64 *splits, const u32 *ranked, const u64 *work,
            u64 *taken, u64 *cycles) {
    __shared__ u32 keys[2 * MANY], counts[2 * MANY];
    __shared__ u64 next;
    const u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    while (true) {
        const u32 u = next_node(count, list, taken, &next);
        if (u == NONE) return;
        u32 places = 512;
        while (places < 2 * work[u]) places *= 2;
        for (u32 at = threadIdx.x; at < places; at += 256) {
            keys[at] = NONE;
            counts[at] = 0;
        }
        __syncthreads();
        const u64 start = heads[u], end = splits[u];
        bool meet = false;
        for (u64 at = start + warp; at < end; at += 8) {
            u32 v = ranked[at];
            for (u64 p = heads[v] + lane; p < heads[v + 1]; p += 32) {
                u32 w = ranked[p];
                if (w >= u) break;
                meet |= add_one(keys, counts, places, w) > 0;
            }
        }
        if (!__syncthreads_or(meet)) continue;
        for (u64 at = start + warp; at < end; at += 8) {
            u32 v = ranked[at];
            u64 sum = 0;
            for (u64 p = heads[v] + lane; p < heads[v + 1]; p += 32) {
                u32 w = ranked[p];
                if (w >= u) break;
                u32 others = count_of(keys, counts, places, w) - 1;
                if (others > 0) atomicAdd(cycles + p, (u64)others);
                sum += others;
            }
            sum = warp_sum(sum);
            if (lane == 0 && sum > 0) atomicAdd(cycles + at, sum);
        }
    }
}

// Nodes with the most wedges, one block each, with counters of all nodes that are zero before and after.
extern "C" __global__ void __launch_bounds__(1024)
wedges_most(u64 count, const u32 *list, u64 rows, const u64 *heads, const u64 *splits, const u32 *ranked,
            const u64 *work, u64 *taken, u32 *all_counts, u64 *cycles) {
    __shared__ u64 next;
    const u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    u32 *counts = all_counts + blockIdx.x * rows;
    while (true) {
        const u32 u = next_node(count, list, taken, &next);
        if (u == NONE) return;
        const u64 start = heads[u], end = splits[u];
        for (u64 at = start + warp; at < end; at += 32) {
            u32 v = ranked[at];
            for (u64 p = heads[v] + lane; p < heads[v + 1]; p += 32) {
                u32 w = ranked[p];
                if (w >= u) break;
                atomicAdd(counts + w, 1u);
            }
        }
        __syncthreads();
        for (u64 at = start + warp; at < end; at += 32) {
            u32 v = ranked[at];
            u64 sum = 0;
            for (u64 p = heads[v] + lane; p < heads[v + 1]; p += 32) {
                u32 w = ranked[p];
                if (w >= u) break;
                u32 others = __ldcg(counts + w) - 1;
                if (others > 0) atomicAdd(cycles + p, (u64)others);
                sum += others;
            }
            sum = warp_sum(sum);
            if (lane == 0 && sum > 0) atomicAdd(cycles + at, sum);
        }
        __syncthreads();
        if (work[u] > u / 8) {
            for (u64 at = threadIdx.x; at < u; at += 1024) counts[at] = 0;
        } else {
            for (u64 at = start + warp; at < end; at += 32) {
                u32 v = ranked[at];
                for (u64 p = heads[v] + lane; p < heads[v + 1]; p += 32) {
                    u32 w = ranked[p];
                    if (w >= u) break;
                    counts[w] = 0;
                }
            }
        }
    }
}
