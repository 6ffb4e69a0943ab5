package io.penstock.wire;

import java.time.Duration;

/// Limits of time that tests use.
final class AnswerLimits {
  static final AnswerLimit NONE = new AnswerLimit(Duration.ofSeconds(30), null, "nowhere");

  private AnswerLimits() {}
}
