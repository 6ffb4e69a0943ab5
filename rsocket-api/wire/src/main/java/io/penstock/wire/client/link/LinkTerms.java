package io.penstock.wire.client.link;

import io.penstock.wire.report.StreamListener;
import io.penstock.wire.security.Credentials;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import reactor.core.scheduler.Scheduler;

/// What a client's connection is made with, whatever is asked over it; `KvClientOptions` explains each.
public record LinkTerms(Credentials credentials, Duration keepAlive, Duration keepAliveTimeout, Duration connectTimeout,
    Duration answerTimeout, @Nullable Scheduler timers, StreamListener streams) {
  /// The same terms with another limit for connecting.
  public LinkTerms within(Duration limit) {
    return new LinkTerms(credentials, keepAlive, keepAliveTimeout, limit, answerTimeout, timers, streams);
  }
}
