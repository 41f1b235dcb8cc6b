// Renumbers the nodes of a graph by degree and sorts its rows (`ranked.cu`), and sums runs of numbers.

extern "C" __global__ void largest_degree(u64 rows, const u64 *offsets, u32 *most) {
    u32 own = 0;
    for (u64 i = thread(); i < rows; i += (u64)gridDim.x * blockDim.x) own = max(own, (u32)(offsets[i + 1] - offsets[i]));
    own = __reduce_max_sync(ALL, own);
    if (threadIdx.x % 32 == 0) atomicMax(most, own);
}

// How many nodes have each degree; equal degrees within a warp are added together.
extern "C" __global__ void histogram(u64 rows, const u64 *offsets, u64 *counts) {
    u64 i = thread();
    if (i >= rows) return;
    u32 degree = (u32)(offsets[i + 1] - offsets[i]);
    u32 same = __match_any_sync(__activemask(), degree);
    if (__ffs(same) - 1 == threadIdx.x % 32) atomicAdd(counts + degree, (u64)__popc(same));
}

// Gives each node the next rank of its degree; `next` begins with the first of each.
extern "C" __global__ void give_ranks(u64 rows, const u64 *offsets, u64 *next, u32 *rank, u32 *order) {
    u64 i = thread();
    if (i >= rows) return;
    u32 lane = threadIdx.x % 32, degree = (u32)(offsets[i + 1] - offsets[i]);
    u32 same = __match_any_sync(__activemask(), degree);
    int leader = __ffs(same) - 1;
    u64 first = 0;
    if (leader == lane) first = atomicAdd(next + degree, (u64)__popc(same));
    first = __shfl_sync(same, first, leader);
    u32 own = (u32)first + __popc(same & ((1u << lane) - 1));
    rank[i] = own;
    order[own] = (u32)i;
}

// Lengths of the ranked rows.
extern "C" __global__ void lengths(u64 rows, const u64 *offsets, const u32 *order, u64 *heads) {
    u64 r = thread();
    if (r >= rows) return;
    u64 i = order[r];
    heads[r] = offsets[i + 1] - offsets[i];
}

// Rows of up to 32 neighbours, one warp each: renumbered, and sorted by shuffles between lanes.
extern "C" __global__ void __launch_bounds__(256)
sort_short(u64 rows, const u64 *offsets, const u32 *columns, const u32 *rank, const u32 *order, const u64 *heads,
           u32 *ranked) {
    const u64 r = thread() / 32;
    const u32 lane = threadIdx.x % 32;
    if (r >= rows) return;
    const u64 i = order[r], from = offsets[i], length = offsets[i + 1] - from;
    u32 own = lane < length ? rank[columns[from + lane]] : NONE;
    for (u32 size = 2; size <= 32; size *= 2) {
        for (u32 apart = size / 2; apart > 0; apart /= 2) {
            u32 other = __shfl_xor_sync(ALL, own, apart);
            bool low = ((lane & apart) == 0) == ((lane & size) == 0);
            own = low ? min(own, other) : max(own, other);
        }
    }
    if (lane < length) ranked[heads[r] + lane] = own;
}

// Rows of up to MEDIUM neighbours from rank `first` on, one block each, sorted in shared memory.
#define MEDIUM 4096
extern "C" __global__ void __launch_bounds__(256)
sort_medium(u64 first, const u64 *offsets, const u32 *columns, const u32 *rank, const u32 *order, const u64 *heads,
            u32 *ranked) {
    __shared__ u32 row[MEDIUM];
    const u64 r = first + blockIdx.x, i = order[r], from = offsets[i];
    const u32 length = (u32)(offsets[i + 1] - from);
    u32 padded = 64;
    while (padded < length) padded *= 2;
    for (u32 at = threadIdx.x; at < padded; at += 256) row[at] = at < length ? rank[columns[from + at]] : NONE;
    for (u32 size = 2; size <= padded; size *= 2) {
        for (u32 apart = size / 2; apart > 0; apart /= 2) {
            __syncthreads();
            for (u32 at = threadIdx.x; at < padded / 2; at += 256) {
                u32 low = 2 * apart * (at / apart) + at % apart, high = low + apart;
                u32 a = row[low], b = row[high];
                if ((a > b) == ((low & size) == 0)) {
                    row[low] = b;
                    row[high] = a;
                }
            }
        }
    }
    __syncthreads();
    for (u32 at = threadIdx.x; at < length; at += 256) ranked[heads[r] + at] = row[at];
}

// Longer rows, one after the other per block: neighbours are marked in a bitmap of all nodes and read in order.
extern "C" __global__ void __launch_bounds__(1024)
sort_long(u64 first, u64 rows, u64 words, const u64 *offsets, const u32 *columns, const u32 *rank, const u32 *order,
          const u64 *heads, u32 *bitmaps, u32 *ranked) {
    __shared__ u32 counts[32];
    u32 *bits = bitmaps + blockIdx.x * words;
    const u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (u64 r = first + blockIdx.x; r < rows; r += gridDim.x) {
        const u64 i = order[r];
        for (u64 at = offsets[i] + threadIdx.x; at < offsets[i + 1]; at += 1024) {
            u32 own = rank[columns[at]];
            atomicOr(bits + own / 32, 1u << (own % 32));
        }
        __syncthreads();
        u64 to = heads[r];
        for (u64 base = 0; base < words; base += 1024) {
            u64 word = base + threadIdx.x;
            u32 mine = word < words ? bits[word] : 0;
            if (word < words) bits[word] = 0;
            u32 before = __popc(mine);
            for (u32 apart = 1; apart < 32; apart *= 2) {
                u32 other = __shfl_up_sync(ALL, before, apart);
                if (lane >= apart) before += other;
            }
            if (lane == 31) counts[warp] = before;
            __syncthreads();
            u32 all = 0, left = 0;
            for (u32 other = 0; other < 32; other++) {
                if (other < warp) left += counts[other];
                all += counts[other];
            }
            u64 at = to + left + before - __popc(mine);
            while (mine) {
                ranked[at++] = (u32)(word * 32) + __ffs(mine) - 1;
                mine &= mine - 1;
            }
            to += all;
            __syncthreads();
        }
    }
}

// Where the higher neighbours of each rank begin, and how many there are.
extern "C" __global__ void split_rows(u64 rows, const u64 *heads, const u32 *ranked, u64 *splits, u64 *higher) {
    u64 r = thread();
    if (r >= rows) return;
    u64 split = lower_bound(ranked, heads[r], heads[r + 1], (u32)r);
    splits[r] = split;
    higher[r] = heads[r + 1] - split;
}

// The lower end of each edge.
extern "C" __global__ void owners(u64 rows, const u64 *heads, const u64 *splits, const u64 *edges, u32 *owner) {
    const u64 r = thread() / 32;
    if (r >= rows) return;
    const u64 count = heads[r + 1] - splits[r];
    for (u64 k = threadIdx.x % 32; k < count; k += 32) owner[edges[r] + k] = (u32)r;
}

// Exclusive prefix sums, in three launches: within blocks of 1024, over blocks, and both combined. The total is stored
// last, so the array has one more element.
extern "C" __global__ void __launch_bounds__(256) scan_blocks(u64 count, u64 *values, u64 *totals) {
    __shared__ u64 sums[256];
    const u64 first = (u64)blockIdx.x * 1024 + 4 * threadIdx.x;
    u64 own[4], sum = 0;
    for (int k = 0; k < 4; k++) {
        own[k] = sum;
        sum += first + k < count ? values[first + k] : 0;
    }
    sums[threadIdx.x] = sum;
    for (u32 apart = 1; apart < 256; apart *= 2) {
        __syncthreads();
        u64 other = threadIdx.x >= apart ? sums[threadIdx.x - apart] : 0;
        __syncthreads();
        sums[threadIdx.x] += other;
    }
    u64 before = sums[threadIdx.x] - sum;
    for (int k = 0; k < 4; k++)
        if (first + k < count) values[first + k] = before + own[k];
    if (threadIdx.x == 255) totals[blockIdx.x] = sums[255];
}

extern "C" __global__ void __launch_bounds__(1024) scan_totals(u64 blocks, u64 *totals, u64 *all) {
    __shared__ u64 sums[1024];
    u64 before = 0;
    for (u64 base = 0; base < blocks; base += 1024) {
        u64 at = base + threadIdx.x, own = at < blocks ? totals[at] : 0;
        sums[threadIdx.x] = own;
        for (u32 apart = 1; apart < 1024; apart *= 2) {
            __syncthreads();
            u64 other = threadIdx.x >= apart ? sums[threadIdx.x - apart] : 0;
            __syncthreads();
            sums[threadIdx.x] += other;
        }
        if (at < blocks) totals[at] = before + sums[threadIdx.x] - own;
        __syncthreads();
        before += sums[1023];
        __syncthreads();
    }
    if (threadIdx.x == 0) *all = before;
}

extern "C" __global__ void __launch_bounds__(256) scan_add(u64 count, u64 *values, const u64 *totals) {
    u64 at = (u64)blockIdx.x * 256 + threadIdx.x;
    if (at < count) values[at] += totals[at / 1024];
}
