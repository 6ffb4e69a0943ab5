package io.penstock.node.admin;

import io.netty.handler.codec.http.QueryStringDecoder;
import reactor.core.publisher.Mono;

/// What the admin endpoints tell those who may ask.
interface AdminPages {
  /// The page at `target`.
  ///
  /// @param forPeople whether the client is a browser: it asks for HTML before JSON
  Mono<Page> page(QueryStringDecoder target, boolean forPeople);

  /// The state of the node and no more, for a probe that shows no credentials.
  Mono<Page> state();
}
