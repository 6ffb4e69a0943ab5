package io.penstock.wire.credit;

import java.time.Duration;
import reactor.core.scheduler.Scheduler;

/// Rules for streams that hold nothing for which others wait.
public final class SilenceRules {
  private SilenceRules() {}

  public static SilenceLimit.Rule of(Duration limit, Scheduler timers) {
    return new SilenceLimit.Rule(limit, timers, new SharedTimer(timers), new IdleStreams());
  }
}
