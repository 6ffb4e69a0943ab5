package io.penstock.node.client;

import io.penstock.tier.BlockTier;
import io.penstock.wire.ServerStat;
import reactor.core.publisher.Mono;

/// A node that a command talks to. Closing it ends the connection and frees what it held.
interface NodeLink extends AutoCloseable {
  /// The node's tier, as if it were here.
  BlockTier tier();

  /// What the node says about itself.
  Mono<ServerStat> stat();

  @Override
  void close();
}
