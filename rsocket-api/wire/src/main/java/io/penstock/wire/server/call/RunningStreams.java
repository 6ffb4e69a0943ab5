package io.penstock.wire.server.call;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.wire.report.Carried;
import io.penstock.wire.report.CarriedBytes;
import io.penstock.wire.report.CarriedCount;
import io.penstock.wire.report.StreamListener;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import reactor.core.publisher.Mono;

/// Number of streams of slices that a server runs, over all connections. A stream runs until its last frame left for
/// the socket.
public final class RunningStreams {
  private final CarriedCount in = new CarriedCount();
  private final CarriedCount out = new CarriedCount();
  private final Map<String, LongAdder> waitedNanos = new ConcurrentHashMap<>();
  @GuardedBy("this") private final List<Runnable> waiting = new ArrayList<>(0);
  @GuardedBy("this") private int running;
  @GuardedBy("this") private int rings;

  void enter() {
    synchronized (this) {
      running++;
    }
  }

  void leave() {
    List<Runnable> told = List.of();
    synchronized (this) {
      running--;
      if (running == 0) {
        told = List.copyOf(waiting);
        waiting.clear();
      }
    }
    told.forEach(Runnable::run);
  }

  /// Counts a read ring, if there are fewer than `most`.
  public synchronized boolean tryEnterRing(int most) {
    boolean fits = rings < most;
    rings += fits ? 1 : 0;
    return fits;
  }

  public synchronized void leaveRing() {
    rings--;
  }

  public synchronized int count() {
    return running;
  }

  /// Completes when no stream runs, at once if none does.
  public Mono<Void> none() {
    return Mono.create(sink -> {
      Runnable told = sink::success;
      synchronized (this) {
        if (running > 0) {
          waiting.add(told);
          sink.onCancel(() -> forget(told));
          return;
        }
      }
      sink.success();
    });
  }

  private synchronized void forget(Runnable told) {
    waiting.remove(told);
  }

  /// Counts bytes that streams bring to the node.
  Carried in() {
    return in;
  }

  /// Counts bytes that streams take from the node.
  public Carried out() {
    return out;
  }

  /// `streams`, with the waits of all streams counted here.
  StreamListener counting(StreamListener streams) {
    return streams.equals(StreamListener.NOOP) ? streams : report -> {
      report.byCulprit()
          .forEach((culprit, nanos) -> waitedNanos.computeIfAbsent(culprit, any -> new LongAdder()).add(nanos));
      streams.ended(report);
    };
  }

  /// Milliseconds that streams which have ended waited, by culprit; empty if there is no listener.
  public Map<String, Long> waitedMillis() {
    Map<String, Long> millis = new TreeMap<>();
    waitedNanos.forEach((culprit, nanos) -> millis.put(culprit, TimeUnit.NANOSECONDS.toMillis(nanos.sum())));
    return millis;
  }

  /// Bytes of all streams so far.
  public CarriedBytes carried() {
    return new CarriedBytes(in.byCarrier(), out.byCarrier());
  }
}
