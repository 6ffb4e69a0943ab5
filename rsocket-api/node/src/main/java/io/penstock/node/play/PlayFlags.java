package io.penstock.node.play;

import io.penstock.node.cli.Flag;
import io.penstock.node.tiers.TierChange;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// The options of `penstock replay` that belong to a recording.
public final class PlayFlags {
  @Option(names = "--until", paramLabel = "EVENT|TIME",
      description = "Of a recording: play the turns up to the one of this event, or up to this time after the first"
          + " event, such as 2.5s.")
  private @Nullable String until;

  @Option(names = "--flow", paramLabel = "N|NAME",
      description = "Of a recording: show and compare the events of one flow and of the flows that came from it; NAME"
          + " is that of a named flow, or of a call, such as lease.")
  private @Nullable String flow;

  @Option(names = "--break-at", paramLabel = "EVENT|TIME",
      description = "Of a recording: play the turns before the one of this event, and print the state of the tiers:"
          + " levels, leases, pins, open streams, reads that wait.")
  private @Nullable String breakAt;

  @Option(names = "--repeat", paramLabel = "N",
      description = "Of a recording: play it N times, and compare the SHA-256 of all runs.")
  private @Nullable Integer repeat;

  @Option(names = "--with-change", paramLabel = "NAME=VALUE,…",
      description = "Of a recording: give the recorded calls to tiers of another policy or size, and print what"
          + " differs. Names: " + TierChange.NAMES + ".")
  private @Nullable String change;

  /// Refuses options of a recording beside a trace.
  public void requireNone() {
    String when = "without a recording";
    Flag.requireLeftOut("--until", until, when);
    Flag.requireLeftOut("--flow", flow, when);
    Flag.requireLeftOut("--break-at", breakAt, when);
    Flag.requireLeftOut("--repeat", repeat, when);
    Flag.requireLeftOut("--with-change", change, when);
  }

  /// @param speed 0 for virtual time, 1 for the recorded time
  /// @throws IllegalArgumentException if the options do not fit together
  PlayPlan plan(double speed) {
    if (repeat != null && repeat < 1) {
      throw new IllegalArgumentException("--repeat must be >= 1 (was " + repeat + ")");
    }
    if (!(speed >= 0)) {
      throw new IllegalArgumentException("--speed must be >= 0 (was " + speed + ")");
    }
    if (breakAt != null) {
      Flag.requireLeftOut("--until", until, "with --break-at, which ends the playing, too");
      Flag.requireLeftOut("--repeat", repeat, "with --break-at, which shows one run");
    }
    if (change != null) {
      String when = "with --with-change, which plays in virtual time to the end";
      Flag.requireLeftOut("--until", until, when);
      Flag.requireLeftOut("--flow", flow, when);
      Flag.requireLeftOut("--break-at", breakAt, when);
      Flag.requireLeftOut("--repeat", repeat, when);
      Flag.requireLeftOut("--speed", speed == 0 ? null : speed, when);
    }
    return new PlayPlan(until == null ? null : PlayPoint.parse("--until", until), flow,
        breakAt == null ? null : PlayPoint.parse("--break-at", breakAt), repeat == null ? 1 : repeat, speed);
  }

  /// What is to be changed; null for nothing.
  @Nullable TierChange change() {
    return change == null ? null : TierChange.parse("--with-change", change);
  }
}
