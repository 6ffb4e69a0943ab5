package io.penstock.node.party;

import java.util.List;
import reactor.core.publisher.Mono;

/// The writer: makes the bytes of blocks and streams them into the node.
public interface PrefillParty {
  /// Puts the blocks of `ids`, layer by layer, as fast as the node takes them. Completes when each was stored or found
  /// in other hands.
  ///
  /// @return a cold `Mono`; each subscription puts the blocks
  Mono<Void> put(List<Long> ids);

  Mono<PartyStat> stat();
}
