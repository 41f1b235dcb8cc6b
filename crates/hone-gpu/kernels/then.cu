// The epilogue of a product: y = [y] + scale * left * product + sum of factor * diagonal * block.
// Absent terms are null pointers.

typedef unsigned int u32;
typedef unsigned long long u64;

#define THEN                                                                                   \
    float scale, const float *left, u32 accumulate,                                            \
    float factor0, const float *diagonal0, const float *block0,                                \
    float factor1, const float *diagonal1, const float *block1,                                \
    float factor2, const float *diagonal2, const float *block2
#define THEN_GIVEN                                                                             \
    scale, left, accumulate, factor0, diagonal0, block0, factor1, diagonal1, block1,           \
    factor2, diagonal2, block2

__device__ __forceinline__ float plus(float sum, u64 row, u64 at, float factor, const float *diagonal,
                                      const float *block) {
    if (!block) return sum;
    return fmaf(diagonal ? factor * diagonal[row] : factor, block[at], sum);
}

__device__ __forceinline__ float then(float product, u64 row, u64 at, const float *y, THEN) {
    float sum = accumulate ? y[at] : 0.0f;
    sum = fmaf(left ? scale * left[row] : scale, product, sum);
    sum = plus(sum, row, at, factor0, diagonal0, block0);
    sum = plus(sum, row, at, factor1, diagonal1, block1);
    return plus(sum, row, at, factor2, diagonal2, block2);
}
