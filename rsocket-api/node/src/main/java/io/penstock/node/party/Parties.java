package io.penstock.node.party;

import io.penstock.node.link.StreamTimes;
import java.util.Map;
import reactor.core.publisher.Mono;

/// The parties of a replay, in one process or several. Their opener closes them.
public interface Parties {
  /// Place of each party, for the report.
  String description();

  /// Times of gets and puts at the parties that are in this process.
  default Map<String, StreamTimes.Times> times() {
    return Map.of();
  }

  /// First trouble of each level of the node that was not healthy at some time, by the name of the level; empty where
  /// the node is another process.
  default Map<String, String> troubles() {
    return Map.of();
  }

  DecodeParty decode();

  PrefillParty prefill();

  /// Figures of all parties as one.
  Mono<PartyStat> stat();

  /// Fails as soon as a party is found to be gone; never completes.
  default Mono<Void> lost() {
    return Mono.never();
  }

  /// Ends all parties that this opened; completes when they are gone. Lazy and idempotent.
  Mono<Void> close();
}
