// W_t from motif counts, and motif degrees of nodes.
//
// The 13 orbit counts of an edge follow from its t, cycles, K, Q and R and from degree, triangles and S of both ends
// (`motif/formula.rs`), in arithmetic modulo 2^64. One warp per row; all sums over rows have a fixed order.

struct Counts {
    const u64 *offsets;
    const u32 *columns;
    const u32 *t;
    const u64 *c, *inside, *k, *q, *r, *triangles, *s;
};
#define COUNTS                                                                                                    \
    const u64 *offsets, const u32 *columns, const u32 *t, const u64 *c, const u64 *inside, const u64 *k,          \
    const u64 *q, const u64 *r, const u64 *triangles, const u64 *s
#define COUNTS_GIVEN {offsets, columns, t, c, inside, k, q, r, triangles, s}

struct Edge { u64 t, c, k, q, r; };

__device__ __forceinline__ u64 pairs(u64 x) { return x > 0 ? x * (x - 1) / 2 : 0; }

// All orbit counts of an edge, in the order of the orbits.
__device__ __forceinline__ void orbits(const Counts &of, u64 i, u32 j, Edge e, u64 *counts) {
    const u64 du = of.offsets[i + 1] - of.offsets[i] - 1, dv = of.offsets[j + 1] - of.offsets[j] - 1;
    const u64 p = pairs(e.t), both = du + dv, t_both = e.t * both, square = 2 * p + e.t;
    const u64 rim = e.r - 2 * e.t - 4 * e.k;
    const u64 tail = of.triangles[i] + of.triangles[j] - 2 * e.t - 2 * e.k - rim;
    const u64 cycle = e.c - 2 * e.k - rim;
    counts[0] = 1;
    counts[1] = both - 2 * e.t;
    counts[2] = e.t;
    counts[3] = of.s[i] + of.s[j] - both - 2 * (e.q - e.t) - 2 * tail - rim - 2 * cycle;
    counts[4] = du * dv - t_both + square - cycle;
    counts[5] = pairs(du) + pairs(dv) - t_both + 2 * (p + e.t) - tail;
    counts[6] = cycle;
    counts[7] = tail;
    counts[8] = t_both - 2 * square - rim;
    counts[9] = e.q - 2 * e.t - 2 * e.k - rim;
    counts[10] = p - e.k;
    counts[11] = rim;
    counts[12] = e.k;
}

// The counts of the edge at a position of row i. `to` is the index of the row's next edge in a triangle,
// `lane` our lane.
__device__ __forceinline__ Edge edge_at(const Counts &of, u64 at, u64 end, u64 &to, u32 lane) {
    Edge e = {0, 0, 0, 0, 0};
    if (at < end) {
        e.t = of.t[at];
        e.c = of.c[at];
    }
    const u32 votes = __ballot_sync(ALL, e.t > 0);
    if (e.t > 0) {
        const u64 place = to + __popc(votes & ((1u << lane) - 1));
        e.k = of.k[place];
        e.q = of.q[place];
        e.r = of.r[place];
    }
    to += __popc(votes);
    return e;
}

__device__ __forceinline__ double warp_total(double value) {
    for (int other = 16; other > 0; other /= 2) value += __shfl_xor_sync(ALL, value, other);
    return value;
}

// Statistics of a row: its nonzeros, positions below delta, the sum of its weights as stored and before rounding.
struct Row { u64 nonzeros, below; double sum, total; };

// Weights of all positions: the sum of the orbits in `mask`, where it is at least `least`, times the edge's own weight.
extern "C" __global__ void __launch_bounds__(256)
weigh(u64 rows, COUNTS, u32 mask, double least, const float *own, double unit, float *values, u64 *nonzeros, u64 *below,
      double *sums, double *totals) {
    const Counts of = COUNTS_GIVEN;
    const u64 i = thread() / 32;
    const u32 lane = threadIdx.x % 32;
    if (i >= rows) return;
    Row row = {0, 0, 0.0, 0.0};
    u64 to = of.inside[i];
    const u64 end = of.offsets[i + 1];
    for (u64 base = of.offsets[i]; base < end; base += 32) {
        const u64 at = base + lane;
        const Edge e = edge_at(of, at, end, to, lane);
        if (at >= end) continue;
        u64 counts[13];
        orbits(of, i, of.columns[at], e, counts);
        double count = 0.0;
#pragma unroll
        for (int o = 0; o < 13; o++)
            if (mask >> o & 1) count += (double)counts[o];
        float value = 0.0f;
        if (count > 0.0 && count >= least) {
            const double weight = own ? count * ((double)own[at] * unit) : count;
            value = (float)weight;
            row.sum += (double)value;
            row.total += isfinite(value) ? weight : 1.0 / 0.0;
            row.nonzeros += value != 0.0f;
        } else {
            row.below += count >= 0.5;
        }
        values[at] = value;
    }
    row.nonzeros = warp_sum(row.nonzeros);
    row.below = warp_sum(row.below);
    row.sum = warp_total(row.sum);
    row.total = warp_total(row.total);
    if (lane == 0) {
        nonzeros[i] = row.nonzeros;
        below[i] = row.below;
        sums[i] = row.sum;
        totals[i] = row.total;
    }
}

// Sums of nonzeros, rows with any, positions below delta, weights, and the largest row, over parts of the rows: one block each.
extern "C" __global__ void __launch_bounds__(256)
summary(u64 rows, u64 part, const u64 *nonzeros, const u64 *below, const double *totals, u64 *whole, double *weights) {
    __shared__ u64 counts[3][256];
    __shared__ double sums[2][256];
    const u64 start = blockIdx.x * part, end = min(start + part, rows);
    u64 all = 0, touched = 0, under = 0;
    double sum = 0.0, most = 0.0;
    for (u64 i = start + threadIdx.x; i < end; i += 256) {
        all += nonzeros[i];
        touched += nonzeros[i] > 0;
        under += below[i];
        sum += totals[i];
        most = fmax(most, totals[i]);
    }
    counts[0][threadIdx.x] = all;
    counts[1][threadIdx.x] = touched;
    counts[2][threadIdx.x] = under;
    sums[0][threadIdx.x] = sum;
    sums[1][threadIdx.x] = most;
    for (u32 half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) {
            for (int k = 0; k < 3; k++) counts[k][threadIdx.x] += counts[k][threadIdx.x + half];
            sums[0][threadIdx.x] += sums[0][threadIdx.x + half];
            sums[1][threadIdx.x] = fmax(sums[1][threadIdx.x], sums[1][threadIdx.x + half]);
        }
    }
    if (threadIdx.x < 3) whole[blockIdx.x * 3 + threadIdx.x] = counts[threadIdx.x][0];
    if (threadIdx.x < 2) weights[blockIdx.x * 2 + threadIdx.x] = sums[threadIdx.x][0];
}

// One for each row with a nonzero.
extern "C" __global__ void touched(u64 rows, const u64 *nonzeros, u64 *number) {
    const u64 i = thread();
    if (i < rows) number[i] = nonzeros[i] > 0;
}

// The matrix without zeros and without empty rows: `number` and `places` are prefix sums over the rows.
extern "C" __global__ void __launch_bounds__(256)
compact(u64 rows, const u64 *offsets, const u32 *columns, const float *values, const u64 *number, const u64 *places,
        const double *sums, u32 *nodes, u64 *new_offsets, u32 *new_columns, float *new_values, double *new_sums) {
    const u64 i = thread() / 32;
    const u32 lane = threadIdx.x % 32;
    if (i >= rows) return;
    if (i == rows - 1 && lane == 0) new_offsets[number[rows]] = places[rows];
    if (number[i] == number[i + 1]) return;
    u64 to = places[i];
    if (lane == 0) {
        nodes[number[i]] = (u32)i;
        new_offsets[number[i]] = to;
        new_sums[number[i]] = sums[i];
    }
    for (u64 base = offsets[i]; base < offsets[i + 1]; base += 32) {
        const u64 at = base + lane;
        const float value = at < offsets[i + 1] ? values[at] : 0.0f;
        const u32 votes = __ballot_sync(ALL, value != 0.0f);
        if (value != 0.0f) {
            const u64 place = to + __popc(votes & ((1u << lane) - 1));
            new_columns[place] = (u32)number[columns[at]];
            new_values[place] = value;
        }
        to += __popc(votes);
    }
}

// Each value times scale * left * right, in double precision, one warp per row.
extern "C" __global__ void __launch_bounds__(256)
scale_both(u64 rows, const u64 *offsets, const u32 *columns, const float *values, double scale, const float *left,
           const float *right, float *out) {
    const u64 i = thread() / 32;
    if (i >= rows) return;
    const double factor = left[i];
    for (u64 at = offsets[i] + threadIdx.x % 32; at < offsets[i + 1]; at += 32)
        out[at] = (float)((double)values[at] * (scale * (factor * (double)right[columns[at]])));
}

// A sparse matrix times a vector, in double precision.
extern "C" __global__ void __launch_bounds__(256)
times_vector(u64 rows, const u64 *offsets, const u32 *columns, const float *values, const double *x, double *y) {
    const u64 i = thread() / 32;
    if (i >= rows) return;
    double sum = 0.0;
    for (u64 at = offsets[i] + threadIdx.x % 32; at < offsets[i + 1]; at += 32)
        sum = fma((double)values[at], x[columns[at]], sum);
    sum = warp_total(sum);
    if (threadIdx.x % 32 == 0) y[i] = sum;
}

// Motif degrees: per node the sums of the 13 counts over its edges; for a motif, the sum of those in its mask.
extern "C" __global__ void __launch_bounds__(256)
motif_degrees(u64 rows, COUNTS, const u32 *masks, u32 motifs, float *out) {
    const Counts of = COUNTS_GIVEN;
    const u64 i = thread() / 32;
    const u32 lane = threadIdx.x % 32;
    if (i >= rows) return;
    double sums[13];
#pragma unroll
    for (int o = 0; o < 13; o++) sums[o] = 0.0;
    u64 to = of.inside[i];
    const u64 end = of.offsets[i + 1];
    for (u64 base = of.offsets[i]; base < end; base += 32) {
        const u64 at = base + lane;
        const Edge e = edge_at(of, at, end, to, lane);
        if (at >= end) continue;
        u64 counts[13];
        orbits(of, i, of.columns[at], e, counts);
#pragma unroll
        for (int o = 0; o < 13; o++) sums[o] += (double)counts[o];
    }
#pragma unroll
    for (int o = 0; o < 13; o++) sums[o] = warp_total(sums[o]);
    for (u32 m = lane; m < motifs; m += 32) {
        double sum = 0.0;
#pragma unroll
        for (int o = 0; o < 13; o++)
            if (masks[m] >> o & 1) sum += sums[o];
        out[i * motifs + m] = (float)sum;
    }
}
