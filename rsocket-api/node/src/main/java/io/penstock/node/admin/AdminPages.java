package io.penstock.node.admin;

import io.netty.handler.codec.http.QueryStringDecoder;
import reactor.core.publisher.Mono;

/// What the admin endpoints tell those who may ask.
interface AdminPages {
  /// The page at `target`.
  Mono<Page> page(QueryStringDecoder target);

  /// The state of the node and no more, for a probe that shows no credentials.
  Mono<Page> state();
}
