package io.penstock.tier;

import static java.util.Objects.requireNonNull;

import org.jspecify.annotations.Nullable;

/// Host memory of one kind that a tier has taken.
///
/// @param rung short name of the way it was allocated
/// @param pages the same in plain words
/// @param pageBytes size of its pages; 0 if the system chose it
/// @param node NUMA node that was asked for; null if any
/// @param locked whether it stays in memory
public record MemoryStat(String rung, String pages, long bytes, long pageBytes, @Nullable Integer node,
    boolean locked) {
  public MemoryStat {
    requireNonNull(rung, "rung");
    requireNonNull(pages, "pages");
  }
}
