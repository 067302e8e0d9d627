// CUB's device-wide algorithms once more, with debug information: the largest files of the corpus.
// corpus: sm_90 -DSORT -G
// corpus: sm_80 -DREDUCE -G
#include "cub_device.cu"
