package io.penstock.cluster.directory;

import io.penstock.tier.BlockTier;
import io.penstock.tier.TierStat;
import reactor.core.publisher.Mono;

/// Says in the directory which blocks the tiers of a node have. Immutable.
public final class Announcer {
  private final AnnounceParts parts;

  public Announcer(AnnounceParts parts) {
    this.parts = parts;
  }

  /// Announces the blocks of `tier`: those that it has, at the pace of the node, and then each change.
  ///
  /// @return cold; completes when the tier closes; cancel takes back all that was said
  public Mono<Void> announce(BlockTier tier) {
    return tier.stat().flatMap(stat -> Mono.create(end -> {
      TierAnnouncement announcement =
          new TierAnnouncement(tier, stat.levels().stream().map(TierStat.Level::name).toList(), parts, end);
      end.onDispose(announcement);
      announcement.start();
    }));
  }
}
