package io.penstock.disagg.request;

import java.util.ArrayList;
import java.util.List;

/// Fires once, at `end` or later.
final class Alarm extends TimerWheel.Timer {
  long end;
  final List<Long> looked = new ArrayList<>();
  final List<Long> fired = new ArrayList<>();

  Alarm(long end) {
    this.end = end;
  }

  @Override
  long due(long now) {
    looked.add(now);
    if (now < end) {
      return end;
    }
    fired.add(now);
    return TimerWheel.NEVER;
  }
}
