// Groups of columns side by side: Y, whose rare motifs have values in few rows, and node features.

#define SIDE 32
#define ROWS 64
#define COLS 128

// A panel of some columns, whose rows are `stride` values apart. If `place` is given, row i is stored at `place[i]`, or is zero if that
// is NONE.
struct Source {
    const float *x;
    const u32 *place;
    u32 cols, first;
    u64 stride;
};

// Rows from `start` on of all sources side by side, times m with b columns: `rows` rows of `out`. A block computes ROWS
// rows and COLS columns of the result, a thread eight rows of four columns.
extern "C" __global__ void __launch_bounds__(256)
project(u64 start, u64 rows, const Source *sources, u32 count, const float *m, u32 b, float *out) {
    __shared__ float xs[ROWS][SIDE + 1];
    __shared__ __align__(16) float ms[SIDE][COLS];
    const u32 across = threadIdx.x % 32, down = threadIdx.x / 32;
    const u64 top = (u64)blockIdx.x * ROWS;
    const u32 left = blockIdx.y * COLS;
    float sum[8][4] = {};
    for (u32 s = 0; s < count; s++) {
        const Source source = sources[s];
        __syncthreads();
        for (u32 at = threadIdx.x; at < ROWS * SIDE; at += 256) {
            const u64 row = top + at / SIDE;
            const u32 col = at % SIDE;
            float value = 0.0f;
            if (row < rows && col < source.cols) {
                const u64 here = source.place ? source.place[start + row] : start + row;
                if (!source.place || here != NONE) value = source.x[here * source.stride + col];
            }
            xs[at / SIDE][col] = value;
        }
        for (u32 at = threadIdx.x; at < source.cols * COLS; at += 256) {
            const u32 col = left + at % COLS;
            ms[at / COLS][at % COLS] = col < b ? m[(u64)(source.first + at / COLS) * b + col] : 0.0f;
        }
        __syncthreads();
        for (u32 k = 0; k < source.cols; k++) {
            const float4 f = *(const float4 *)&ms[k][4 * across];
#pragma unroll
            for (int r = 0; r < 8; r++) {
                const float x = xs[down * 8 + r][k];
                sum[r][0] = fmaf(x, f.x, sum[r][0]);
                sum[r][1] = fmaf(x, f.y, sum[r][1]);
                sum[r][2] = fmaf(x, f.z, sum[r][2]);
                sum[r][3] = fmaf(x, f.w, sum[r][3]);
            }
        }
    }
#pragma unroll
    for (int r = 0; r < 8; r++) {
        const u64 row = top + down * 8 + r;
        if (row >= rows) break;
#pragma unroll
        for (int k = 0; k < 4; k++) {
            const u32 col = left + 4 * across + k;
            if (col < b) out[row * b + col] = sum[r][k];
        }
    }
}

// The position of each of some rows.
extern "C" __global__ void mark_rows(u64 count, const u32 *rows, u32 *place) {
    const u64 k = thread();
    if (k < count) place[rows[k]] = (u32)k;
}

extern "C" __global__ void fill_none(u64 count, u32 *place) {
    const u64 i = thread();
    if (i < count) place[i] = NONE;
}

// Rows of a panel, zeros for rows it does not have: `rows` are the requested ones (all if null), `place` their
// positions.
extern "C" __global__ void __launch_bounds__(256)
gather_rows(u64 values, u32 cols, const u32 *rows, const u32 *place, const float *x, float *out) {
    const u64 at = thread();
    if (at >= values) return;
    const u64 wanted = rows ? rows[at / cols] : at / cols;
    const u64 here = place ? place[wanted] : wanted;
    out[at] = place && here == NONE ? 0.0f : x[here * cols + at % cols];
}

// Columns `first`.. of a wider matrix.
extern "C" __global__ void __launch_bounds__(256)
take_columns(u64 values, u32 cols, u32 wide, u32 first, const float *x, float *out) {
    const u64 at = thread();
    if (at < values) out[at] = x[at / cols * wide + first + at % cols];
}

// Adds the squares of each row.
extern "C" __global__ void __launch_bounds__(256)
add_squares(u64 rows, u32 cols, const float *x, double *squares) {
    const u64 i = thread();
    if (i >= rows) return;
    double sum = squares[i];
    for (u32 k = 0; k < cols; k++) sum = fma((double)x[i * cols + k], (double)x[i * cols + k], sum);
    squares[i] = sum;
}

// Divides each row by its length to a power.
extern "C" __global__ void __launch_bounds__(256)
shorten(u64 values, u32 cols, const double *squares, double power, float *x) {
    const u64 at = thread();
    if (at >= values) return;
    const double square = squares[at / cols];
    if (square > 0.0) x[at] = (float)((double)x[at] * pow(square, -0.5 * power));
}

// log(1 + x) of every value.
extern "C" __global__ void __launch_bounds__(256) take_logs(u64 values, const float *x, float *out) {
    const u64 at = thread();
    if (at < values) out[at] = log1pf(x[at]);
}

// ln max(1, factor of the row · x) · scale of the column.
extern "C" __global__ void __launch_bounds__(256)
logs_above_one(u64 values, u32 cols, const float *factors, const float *scales, float *x) {
    const u64 at = thread();
    if (at < values) x[at] = logf(fmaxf(1.0f, factors[at / cols] * x[at])) * scales[at % cols];
}

// Sums of the values of all neighbours, means and maxima of their logarithms; null for what is not wanted. One warp per row, one
// lane per column.
extern "C" __global__ void __launch_bounds__(256)
aggregate(u64 rows, const u64 *offsets, const u32 *columns, u32 cols, const float *values, const float *logs, float *sums,
          float *means, float *maxima) {
    const u64 i = thread() / 32;
    const u32 lane = threadIdx.x % 32;
    if (i >= rows || lane >= cols) return;
    double sum = 0.0, mean = 0.0;
    float most = 0.0f;
    for (u64 at = offsets[i]; at < offsets[i + 1]; at++) {
        const u64 from = (u64)columns[at] * cols + lane;
        if (sums) sum += (double)values[from];
        if (means || maxima) {
            const float log = logs[from];
            mean += (double)log;
            most = fmaxf(most, log);
        }
    }
    const u64 degree = offsets[i + 1] - offsets[i], to = i * cols + lane;
    if (sums) sums[to] = (float)sum;
    if (means) means[to] = (float)(mean / (double)(degree > 0 ? degree : 1));
    if (maxima) maxima[to] = most;
}

// Sums of squares over parts of the values, one block each.
extern "C" __global__ void __launch_bounds__(256) squares(u64 count, u64 part, const float *values, double *sums) {
    __shared__ double all[256];
    const u64 start = blockIdx.x * part, end = min(start + part, count);
    double sum = 0.0;
    for (u64 at = start + threadIdx.x; at < end; at += 256) sum = fma((double)values[at], (double)values[at], sum);
    all[threadIdx.x] = sum;
    for (u32 half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) all[threadIdx.x] += all[threadIdx.x + half];
    }
    if (threadIdx.x == 0) sums[blockIdx.x] = all[0];
}
