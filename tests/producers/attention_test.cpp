// sources/attention_*.cu and thunder_kittens.cu against loops of doubles.
#include "tests/producers/attention.hpp"

namespace ptx::producers {
namespace {

TEST(AttentionAmpere, WholeAndCausal) {
  for (const Played& run : played("attention_ampere")) {
    expect_attention(run, {.name = "whole",
                           .images = 2,
                           .heads = 2,
                           .queries = 70,
                           .keys = 90,
                           .wide = 64,
                           .value_wide = 64,
                           .scale = 0.5,
                           .heads_inside = true,
                           .lines = 96});
    expect_attention(run, {.name = "causal",
                           .heads = 3,
                           .queries = 100,
                           .keys = 100,
                           .wide = 96,
                           .value_wide = 72,
                           .scale = 0.5,
                           .causal = true,
                           .heads_inside = true,
                           .lines = 128});
  }
}

TEST(AttentionHopper, ByWarpsWithTasks) {
  for (const Played& run : played("attention_hopper")) {
    expect_attention(run, {.name = "cooperative",
                           .heads = 2,
                           .queries = 136,
                           .keys = 104,
                           .wide = 64,
                           .value_wide = 64,
                           .scale = 0.125,
                           .lines = 136});
    expect_attention(run, {.name = "pingpong",
                           .images = 2,
                           .queries = 192,
                           .keys = 192,
                           .wide = 64,
                           .value_wide = 64,
                           .scale = 0.125,
                           .causal = true,
                           .lines = 192});
  }
}

}  // namespace
}  // namespace ptx::producers
