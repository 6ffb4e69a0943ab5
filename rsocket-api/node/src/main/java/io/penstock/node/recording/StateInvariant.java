package io.penstock.node.recording;

import io.penstock.node.play.TierWatch;
import io.penstock.tier.TierStat;
import java.util.List;
import java.util.function.Predicate;

/// What must hold in the tiers after each turn.
enum StateInvariant implements Predicate<PlayedState> {
  /// Each visible block has a place.
  PLACES("each visible block has a place, and the levels know of it") {
    @Override
    public boolean test(PlayedState state) {
      return state.tiers().stream().allMatch(tier -> {
        long visible = tier.blocks().values().stream().mapToLong(List::size).sum();
        long placed = tier.stat().levels().stream().mapToLong(TierStat.Level::blocks).sum();
        boolean known = state.recovered() > 0 ? visible <= tier.stat().blocks() : visible == tier.stat().blocks();
        return known && !tier.blocks().containsKey("")
            && (tier.stat().levels().isEmpty() || tier.stat().blocks() <= placed);
      });
    }
  },
  /// Levels are within their capacity.
  CAPACITY("no level has more blocks than its capacity") {
    @Override
    public boolean test(PlayedState state) {
      return state.tiers().stream().map(TierWatch.State::stat).flatMap(stat -> stat.levels().stream())
          .allMatch(level -> level.blocks() <= level.capacityBlocks());
    }
  };

  private final String meaning;

  StateInvariant(String meaning) {
    this.meaning = meaning;
  }

  String meaning() {
    return meaning;
  }
}
