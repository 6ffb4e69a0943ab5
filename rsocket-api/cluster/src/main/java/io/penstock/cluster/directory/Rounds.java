package io.penstock.cluster.directory;

import reactor.core.publisher.Mono;

/// Tells the cluster which rounds of this member count. Holders of other rounds are no holders.
public interface Rounds {
  /// @param tier whose rounds they are: any object that stands for it here
  /// @param valid instead of those told for `tier` before; none to forget the tier
  /// @return cold; completes when the members know
  Mono<Void> tell(Object tier, long... valid);
}
