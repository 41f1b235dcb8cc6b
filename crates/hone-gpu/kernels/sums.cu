// Sums over rows, in double precision. Each block sums the rows of one part, and the parts are added in order. The
// caller divides rows into parts by their number alone, so the bits do not depend on the device.

#define SIDE 32

// The products of all columns of x (a of them) and y (b) over the rows of one part: a tile of SIDE x SIDE sums.
// 64 threads hold a tile of 4 x 4 sums each; each of four such groups takes every fourth row.
extern "C" __global__ void __launch_bounds__(256)
cross_parts(u64 rows, u64 part, const float *x, u32 a, const float *y, u32 b, double *sums) {
    __shared__ double left[SIDE][SIDE], right[SIDE][SIDE];
    const u32 group = threadIdx.x / 64, across = threadIdx.x % 8, down = threadIdx.x / 8 % 8;
    const u64 start = blockIdx.x * part, end = min(start + part, rows);
    double sum[4][4] = {};
    for (u64 first = start; first < end; first += SIDE) {
        for (u32 at = threadIdx.x; at < SIDE * SIDE; at += 256) {
            u64 row = first + at / SIDE;
            u32 col = at % SIDE;
            left[at / SIDE][col] = row < end && col < a ? (double)x[row * a + col] : 0.0;
            right[at / SIDE][col] = row < end && col < b ? (double)y[row * b + col] : 0.0;
        }
        __syncthreads();
        for (u32 r = group; r < SIDE; r += 4) {
            double p[4], q[4];
#pragma unroll
            for (int i = 0; i < 4; i++) {
                p[i] = left[r][down + 8 * i];
                q[i] = right[r][across + 8 * i];
            }
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 4; j++) sum[i][j] = fma(p[i], q[j], sum[i][j]);
        }
        __syncthreads();
    }
    // Groups are added in order.
    for (u32 other = 1; other < 4; other++) {
        if (group == other) {
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 4; j++) left[down + 8 * i][across + 8 * j] = sum[i][j];
        }
        __syncthreads();
        if (group == 0) {
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 4; j++) sum[i][j] += left[down + 8 * i][across + 8 * j];
        }
        __syncthreads();
    }
    if (group == 0) {
#pragma unroll
        for (int i = 0; i < 4; i++)
#pragma unroll
            for (int j = 0; j < 4; j++)
                sums[(u64)blockIdx.x * SIDE * SIDE + (down + 8 * i) * SIDE + across + 8 * j] = sum[i][j];
    }
}

// Adds the tiles of all parts, first to last.
extern "C" __global__ void __launch_bounds__(256) add_parts(u32 parts, const double *sums, double *total) {
    const u32 entry = blockIdx.x * 256 + threadIdx.x;
    double sum = 0.0;
    for (u32 at = 0; at < parts; at++) sum += sums[(u64)at * SIDE * SIDE + entry];
    total[entry] = sum;
}

// Sums of squares of the columns over the rows of one part; blocks along y are for further columns.
extern "C" __global__ void __launch_bounds__(256)
square_parts(u64 rows, u64 part, const float *x, u32 cols, double *sums) {
    __shared__ double all[8][SIDE];
    const u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32, col = blockIdx.y * SIDE + lane;
    const u64 start = blockIdx.x * part, end = min(start + part, rows);
    double sum = 0.0;
    for (u64 row = start + warp; row < end; row += 8) {
        double value = col < cols ? (double)x[row * cols + col] : 0.0;
        sum = fma(value, value, sum);
    }
    all[warp][lane] = sum;
    __syncthreads();
    if (warp == 0 && col < cols) {
        for (int other = 1; other < 8; other++) sum += all[other][lane];
        sums[(u64)blockIdx.x * cols + col] = sum;
    }
}

// Entries of largest absolute value of the columns over the rows of one part, the first row in case of a tie.
extern "C" __global__ void __launch_bounds__(256)
extreme_parts(u64 rows, u64 part, const float *x, u32 cols, double *most) {
    __shared__ float values[8][SIDE];
    __shared__ u64 places[8][SIDE];
    const u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32, col = blockIdx.y * SIDE + lane;
    const u64 start = blockIdx.x * part, end = min(start + part, rows);
    float value = 0.0f;
    u64 place = end;
    for (u64 row = start + warp; row < end; row += 8) {
        float here = col < cols ? x[row * cols + col] : 0.0f;
        if (fabsf(here) > fabsf(value)) {
            value = here;
            place = row;
        }
    }
    values[warp][lane] = value;
    places[warp][lane] = place;
    __syncthreads();
    if (warp == 0 && col < cols) {
        for (int other = 1; other < 8; other++) {
            float theirs = values[other][lane];
            u64 there = places[other][lane];
            bool more = fabsf(theirs) > fabsf(value) || (fabsf(theirs) == fabsf(value) && there < place);
            if (more) {
                value = theirs;
                place = there;
            }
        }
        most[(u64)blockIdx.x * cols + col] = (double)value;
    }
}
