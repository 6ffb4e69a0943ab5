package io.penstock.wire.transport;

import static java.util.Objects.requireNonNull;

import io.netty.channel.EventLoop;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/// What keeps the event loops of a transport awake: one [AwakeLoop] for all connections of that transport on a loop. A
/// driven loop, which runs when its owner says so, never stays awake. Any thread.
public final class AwakeLoops {
  private final long momentNanos;
  private final LongSupplier nanos;
  private final Map<EventLoop, AwakeLoop> loops = new ConcurrentHashMap<>();

  /// @param moment how long a loop stays awake; zero for never
  /// @param nanos time
  public AwakeLoops(Duration moment, LongSupplier nanos) {
    this.momentNanos = moment.toNanos();
    this.nanos = requireNonNull(nanos, "nanos");
  }

  /// Keeps loops awake for as long as `tuning` says.
  public static AwakeLoops of(SocketTuning tuning) {
    return new AwakeLoops(tuning.awake(), System::nanoTime);
  }

  /// What keeps `loop` awake.
  public AwakeLoop of(EventLoop loop) {
    return loops.computeIfAbsent(loop,
        one -> new AwakeLoop(one, LoopTimers.isDriven(one) ? 0 : momentNanos, nanos));
  }
}
