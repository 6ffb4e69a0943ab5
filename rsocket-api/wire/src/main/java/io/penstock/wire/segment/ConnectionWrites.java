package io.penstock.wire.segment;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.wire.protocol.WireFormatException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/// The writes into segments that run on one connection. An engine that connects again first ends the writes of its
/// connection before: bytes that were late on the old one must not land on top of later writes. Safe from any thread.
public final class ConnectionWrites {
  /// The last connection of each engine, over all connections of the node.
  private final Map<Long, ConnectionWrites> byEngine;
  @GuardedBy("this") private final Set<SegmentReceiver> running = new LinkedHashSet<>();
  @GuardedBy("this") private final List<Runnable> waiting = new ArrayList<>(0);
  @GuardedBy("this") private boolean over;
  @GuardedBy("this") private @Nullable Long engine;
  @GuardedBy("this") private boolean gone;
  /// Place among the connections of the engine.
  private volatile long order;

  /// @param byEngine shared by the connections of the node; safe from any thread
  public ConnectionWrites(Map<Long, ConnectionWrites> byEngine) {
    this.byEngine = byEngine;
  }

  /// Makes this the connection of `number`, unless the engine has a later one; completes when no write of the earlier
  /// one runs.
  ///
  /// @param place of the connection among those of its engine: late bytes may arrive after a later connection
  /// @return signals [WireFormatException] if it is the connection of another engine
  public Mono<Void> belongTo(long number, long place) {
    return Mono.defer(() -> {
      ConnectionWrites earlier = enterAs(number, place);
      return earlier == null ? Mono.empty() : earlier.end();
    });
  }

  /// The connection whose writes are over, which may be this one; null if there is none. A connection that is gone
  /// never enters.
  private synchronized @Nullable ConnectionWrites enterAs(long number, long place) {
    if (engine != null && engine != number) {
      throw WireFormatException.request("engine", "the one that this connection named before", number);
    }
    engine = number;
    order = place;
    return gone ? null : replaced(number);
  }

  private @Nullable ConnectionWrites replaced(long number) {
    synchronized (byEngine) {
      ConnectionWrites known = byEngine.get(number);
      if (known != null && known.order > order) {
        return this;
      }
      byEngine.put(number, this);
      return this.equals(known) ? null : known;
    }
  }

  /// Whether the engine has a later connection.
  synchronized boolean isOver() {
    return over;
  }

  /// @throws WireFormatException if the engine has a later connection
  public void enter(SegmentReceiver write) {
    synchronized (this) {
      if (!isOver()) {
        running.add(write);
        return;
      }
    }
    throw WireFormatException.request("connection", "the latest of its engine", "an earlier one");
  }

  public void leave(SegmentReceiver write) {
    synchronized (this) {
      running.remove(write);
    }
    tellIfIdle();
  }

  private void tellIfIdle() {
    List<Runnable> told = List.of();
    synchronized (this) {
      if (over && running.isEmpty()) {
        told = List.copyOf(waiting);
        waiting.clear();
      }
    }
    told.forEach(Runnable::run);
  }

  private Mono<Void> end() {
    return Mono.create(sink -> {
      List<SegmentReceiver> ending;
      synchronized (this) {
        over = true;
        waiting.add(sink::success);
        ending = List.copyOf(running);
      }
      ending.forEach(SegmentReceiver::end);
      tellIfIdle();
    });
  }

  /// The connection is gone.
  public synchronized void close() {
    gone = true;
    if (engine != null) {
      byEngine.remove(engine, this);
    }
  }
}
