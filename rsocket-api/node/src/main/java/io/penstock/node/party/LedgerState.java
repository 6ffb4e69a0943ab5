package io.penstock.node.party;

import static java.util.Objects.requireNonNull;

import io.penstock.tier.StoreHealth;
import io.penstock.tier.TierStat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// State of the node's ledger at one moment; its counters began with the node.
///
/// @param misses references that did not find their block
/// @param levels its tiers, fastest first; empty where the node reports none, and for a party without a ledger
public record LedgerState(long misses, List<TierStat.Level> levels) {
  /// State of a party without a ledger.
  public static final LedgerState NONE = new LedgerState(0, List.of());

  public LedgerState {
    levels = List.copyOf(requireNonNull(levels, "levels"));
  }

  static LedgerState of(TierStat stat) {
    return new LedgerState(stat.misses(), stat.levels());
  }

  /// The state of the party that is the node; there is one node.
  LedgerState or(LedgerState other) {
    return levels.isEmpty() ? other : this;
  }

  /// The state of two nodes, whose tiers have different names.
  LedgerState and(LedgerState other) {
    return new LedgerState(misses + other.misses, Stream.concat(levels.stream(), other.levels.stream()).toList());
  }

  /// Hits of each tier since `before`, fastest first.
  public Map<String, Long> hitsSince(LedgerState before) {
    Map<String, Long> hits = new LinkedHashMap<>();
    levels.forEach(level -> hits.put(level.name(), level.hits() - before.hits(level.name())));
    return hits;
  }

  /// Hits of the tier of that name; 0 where it is not reported.
  public long hits(String tier) {
    return levels.stream().filter(level -> level.name().equals(tier)).mapToLong(TierStat.Level::hits).sum();
  }

  /// Blocks that the ledger assigns to the tier of that name; 0 where it is not reported.
  public long blocks(String tier) {
    return levels.stream().filter(level -> level.name().equals(tier)).mapToLong(TierStat.Level::blocks).sum();
  }

  /// Copies of each tier on a device since `before`, fastest first.
  public Map<String, TierCopies> copiesSince(LedgerState before) {
    Map<String, TierCopies> copies = new LinkedHashMap<>();
    for (TierStat.Level level : levels) {
      TierStat.Copies now = level.copies();
      if (now != null) {
        TierStat.Copies then = before.copies(level.name());
        copies.put(level.name(), TierCopies.of(then == null ? now : now.since(then)));
      }
    }
    return copies;
  }

  private TierStat.@Nullable Copies copies(String tier) {
    return levels.stream().filter(level -> level.name().equals(tier)).map(TierStat.Level::copies).findFirst()
        .orElse(null);
  }

  /// What is wrong with the tiers that are not healthy, by their names.
  public Map<String, String> troubles() {
    Map<String, String> troubles = new LinkedHashMap<>();
    for (TierStat.Level level : levels) {
      if (level.health().state() != StoreHealth.State.ACTIVE) {
        troubles.put(level.name(), level.health().words());
      }
    }
    return troubles;
  }

  /// Fill of each tier, fastest first.
  public Map<String, TierFill> fill() {
    Map<String, TierFill> fill = new LinkedHashMap<>();
    levels.forEach(level -> fill.put(level.name(), TierFill.of(level)));
    return fill;
  }
}
