// The graph with its nodes renumbered by degree and rows sorted, the input of all counting sweeps.
//
// A node's rank is its place in the order of degrees. Rows of rank r are columns[heads[r]..heads[r + 1]], ascending;
// those from splits[r] on are higher than r. The edge from r to its k-th higher neighbour has number edges[r] + k.
// Nodes of equal degree may be in any order: counts do not depend on it.

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

#define ALL 0xffffffffu
#define NONE 0xffffffffu

__device__ __forceinline__ u64 thread() { return (u64)blockIdx.x * blockDim.x + threadIdx.x; }

// The first position in from..end whose value is at least `least`.
__device__ __forceinline__ u64 lower_bound(const u32 *values, u64 from, u64 end, u32 least) {
    while (from < end) {
        u64 middle = from + (end - from) / 2;
        if (values[middle] < least) from = middle + 1;
        else end = middle;
    }
    return from;
}

__device__ __forceinline__ u64 warp_sum(u64 value) {
    for (int other = 16; other > 0; other /= 2) value += __shfl_xor_sync(ALL, value, other);
    return value;
}
