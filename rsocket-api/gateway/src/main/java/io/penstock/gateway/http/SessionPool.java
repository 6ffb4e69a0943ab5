package io.penstock.gateway.http;

import io.penstock.block.session.SessionState;
import io.penstock.block.session.SessionUse;
import reactor.core.publisher.Mono;

/// Where engines keep the blocks of sessions.
@FunctionalInterface
public interface SessionPool {
  /// Says in which state a session is from now on.
  ///
  /// @return cold; in how many spaces the session is known
  Mono<Integer> state(SessionUse session, SessionState state);
}
