// Products of tall and small matrices; elementwise operations.

#define SIDE 32
#define TILE 64

// y = [y] + x m for up to four panels x side by side and one panel y of b columns; m has SIDE rows and SIDE columns per
// panel, zero beyond the widths. Each block reads TILE rows before it writes them, so y may be the only x.
extern "C" __global__ void __launch_bounds__(256)
combine(u64 rows, const float *x0, u32 w0, const float *x1, u32 w1, const float *x2, u32 w2, const float *x3, u32 w3,
        const float *m, float *y, u32 b, u32 add) {
    __shared__ __align__(16) float xs[TILE][SIDE + 4];
    __shared__ float ms[SIDE][SIDE];
    const u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const u64 first = (u64)blockIdx.x * TILE;
    const float *panels[4] = {x0, x1, x2, x3};
    const u32 widths[4] = {w0, w1, w2, w3};
    float sum[8] = {};
#pragma unroll
    for (int p = 0; p < 4; p++) {
        const float *x = panels[p];
        const u32 width = widths[p];
        if (!x) break;
        __syncthreads();
        for (u32 at = threadIdx.x; at < TILE * SIDE; at += 256) {
            u64 row = first + at / SIDE;
            u32 col = at % SIDE;
            xs[at / SIDE][col] = row < rows && col < width ? x[row * width + col] : 0.0f;
        }
        for (u32 at = threadIdx.x; at < SIDE * SIDE; at += 256) ms[at / SIDE][at % SIDE] = m[p * SIDE * SIDE + at];
        __syncthreads();
        for (u32 k = 0; k < width; k += 4) {
            float factor[4];
#pragma unroll
            for (int i = 0; i < 4; i++) factor[i] = ms[k + i][lane];
#pragma unroll
            for (int r = 0; r < 8; r++) {
                float4 four = *(const float4 *)&xs[warp * 8 + r][k];
                sum[r] = fmaf(four.x, factor[0], sum[r]);
                sum[r] = fmaf(four.y, factor[1], sum[r]);
                sum[r] = fmaf(four.z, factor[2], sum[r]);
                sum[r] = fmaf(four.w, factor[3], sum[r]);
            }
        }
    }
    if (lane >= b) return;
#pragma unroll
    for (int r = 0; r < 8; r++) {
        u64 row = first + warp * 8 + r;
        if (row < rows) {
            u64 to = row * b + lane;
            y[to] = add ? y[to] + sum[r] : sum[r];
        }
    }
}

// The finaliser of SplitMix64, as on the host.
__device__ __forceinline__ u64 mix(u64 x) {
    u64 z = x + 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

// Entries of a random matrix, from column `left` on; only marked columns if there are marks.
extern "C" __global__ void __launch_bounds__(256)
draw(u64 values, u32 cols, u64 left, u64 key, const u32 *marks, float *x) {
    const u64 at = (u64)blockIdx.x * 256 + threadIdx.x;
    if (at >= values) return;
    const u64 row = at / cols, col = at % cols;
    if (marks && !marks[col]) return;
    u64 bits = mix(mix(key ^ mix(row)) + (left + col) * 0x9e3779b97f4a7c15ull);
    // The odd 24-bit number never gives 0; the product is exact.
    x[at] = (float)(u32)((bits >> 40) | 1) * (2.0f / (1 << 24)) - 1.0f;
}

// Column j times factor j, in double precision.
extern "C" __global__ void __launch_bounds__(256)
scale_columns(u64 values, u32 cols, const double *factors, float *x) {
    const u64 at = (u64)blockIdx.x * 256 + threadIdx.x;
    if (at < values) x[at] = (float)((double)x[at] * factors[at % cols]);
}

// y = diag(factors) x.
extern "C" __global__ void __launch_bounds__(256)
scale_rows(u64 values, u32 cols, const float *factors, const float *x, float *y) {
    const u64 at = (u64)blockIdx.x * 256 + threadIdx.x;
    if (at < values) y[at] = factors[at / cols] * x[at];
}

// The epilogue of a product that was computed elsewhere; no product if it is null.
extern "C" __global__ void __launch_bounds__(256)
finish(u64 values, u32 cols, const float *product, float *y, THEN) {
    const u64 at = (u64)blockIdx.x * 256 + threadIdx.x;
    if (at < values) y[at] = then(product ? product[at] : 0.0f, at / cols, at, y, THEN_GIVEN);
}
