// A sparse matrix in compressed rows times a tall matrix of `cols` columns, row-major.
//
// A row of the result is computed by LANES threads of a warp, each with VEC adjacent columns. They read LANES column
// indices and values at once, then gather the LANES rows of x with these indices: as many loads are in flight together.
// Rows with more than `longest` nonzeros are left to `spmm_long`, one block each. The order of all sums depends on the
// matrix alone. VEC and LANES are defined when the program is compiled; VEC = 4 needs a multiple of 4 columns.

#define THREADS 256
#define LONG_THREADS 512

struct Sum { float of[VEC]; };

// Adds `count` (at most LANES) nonzeros from `at` on to the columns from `col` on.
__device__ __forceinline__ void gather(Sum &sum, u64 at, int count, u32 lane, u32 col, u32 cols, const u32 *columns,
                                       const float *values, const float *right, const float *x) {
    u32 own = 0;
    float weight = 0.0f;
    if ((int)lane < count) {
        own = columns[at + lane];
        weight = values[at + lane];
        if (right) weight *= right[own];
    }
    Sum rows[LANES];
#pragma unroll
    for (int k = 0; k < LANES; k++) {
        u64 from = (u64)__shfl_sync(0xffffffffu, own, k, LANES) * cols + col;
        bool here = k < count && col < cols;
#if VEC == 4
        float4 four = here ? *(const float4 *)(x + from) : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        rows[k].of[0] = four.x;
        rows[k].of[1] = four.y;
        rows[k].of[2] = four.z;
        rows[k].of[3] = four.w;
#else
        rows[k].of[0] = here ? x[from] : 0.0f;
#endif
    }
#pragma unroll
    for (int k = 0; k < LANES; k++) {
        float factor = __shfl_sync(0xffffffffu, weight, k, LANES);
#pragma unroll
        for (int v = 0; v < VEC; v++) sum.of[v] = fmaf(factor, rows[k].of[v], sum.of[v]);
    }
}

__device__ __forceinline__ int left_of(u64 at, u64 end) {
    return at >= end ? 0 : end - at > LANES ? LANES : (int)(end - at);
}

extern "C" __global__ void __launch_bounds__(THREADS)
spmm(u64 rows, const u64 *offsets, const u32 *columns, const float *values, const float *right, const float *x,
     float *y, u32 cols, u32 longest, THEN) {
    const u32 lane = threadIdx.x % LANES;
    const u64 row = (u64)blockIdx.x * (THREADS / LANES) + threadIdx.x / LANES;
    u64 start = 0, end = 0;
    if (row < rows) {
        start = offsets[row];
        end = offsets[row + 1];
    }
    const bool mine = row < rows && end - start <= longest;
    if (!mine) end = start;
    // All rows of a warp take as many iterations as the longest of them.
    int turns = (int)((end - start + LANES - 1) / LANES);
    for (int other = 16; other > 0; other /= 2) {
        int theirs = __shfl_xor_sync(0xffffffffu, turns, other);
        turns = theirs > turns ? theirs : turns;
    }
    for (u32 first = 0; first < cols; first += LANES * VEC) {
        const u32 col = first + lane * VEC;
        Sum sum = {};
        for (int turn = 0; turn < turns; turn++) {
            u64 at = start + (u64)turn * LANES;
            gather(sum, at, left_of(at, end), lane, col, cols, columns, values, right, x);
        }
        if (mine && col < cols) {
#pragma unroll
            for (int v = 0; v < VEC; v++) {
                u64 to = row * cols + col + v;
                y[to] = then(sum.of[v], row, to, y, THEN_GIVEN);
            }
        }
    }
}

extern "C" __global__ void __launch_bounds__(LONG_THREADS)
spmm_long(const u32 *which, const u64 *offsets, const u32 *columns, const float *values, const float *right,
          const float *x, float *y, u32 cols, THEN) {
    const u32 groups = LONG_THREADS / LANES, group = threadIdx.x / LANES, lane = threadIdx.x % LANES;
    __shared__ float parts[LONG_THREADS / LANES][LANES * VEC];
    const u64 row = which[blockIdx.x];
    const u64 start = offsets[row], end = offsets[row + 1];
    const u64 stride = (u64)groups * LANES;
    for (u32 first = 0; first < cols; first += LANES * VEC) {
        const u32 col = first + lane * VEC;
        Sum sum = {};
        for (u64 base = start; base < end; base += stride) {
            u64 at = base + (u64)group * LANES;
            gather(sum, at, left_of(at, end), lane, col, cols, columns, values, right, x);
        }
#pragma unroll
        for (int v = 0; v < VEC; v++) parts[group][lane * VEC + v] = sum.of[v];
        for (u32 half = groups / 2; half > 0; half /= 2) {
            __syncthreads();
            if (group < half) {
#pragma unroll
                for (int v = 0; v < VEC; v++) parts[group][lane * VEC + v] += parts[group + half][lane * VEC + v];
            }
        }
        __syncthreads();
        if (group == 0 && col < cols) {
#pragma unroll
            for (int v = 0; v < VEC; v++) {
                u64 to = row * cols + col + v;
                y[to] = then(parts[0][lane * VEC + v], row, to, y, THEN_GIVEN);
            }
        }
        __syncthreads();
    }
}
