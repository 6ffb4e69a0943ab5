package io.penstock.wire.client.link;

import java.time.Duration;

/// Limits of time that tests use.
public final class AnswerLimits {
  public static final AnswerLimit NONE = new AnswerLimit(Duration.ofSeconds(30), null, "nowhere");

  private AnswerLimits() {}
}
