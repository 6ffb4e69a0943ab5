package io.penstock.resp;

import static java.util.Objects.requireNonNull;

import io.netty.channel.EventLoop;
import io.penstock.node.config.DoorSettings;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.config.NodeSettings;
import io.penstock.node.config.RespSettings;
import io.penstock.node.door.DoorTerms;
import io.penstock.node.door.RefusalLog;
import io.penstock.wire.transport.AwakeLoops;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/// What all connections of a door share.
final class RespHouse {
  /// Low bits of the number of a connection; those above are of the node's start.
  private static final int NUMBER_BITS = 31;
  private static final int EXACT_BITS = 53;

  private final DoorTerms terms;
  private final Limits limits;
  private final long begunNanos;
  private final AtomicLong connections = new AtomicLong();
  private final LongAdder gone = new LongAdder();
  private final LongAdder requests = new LongAdder();
  private final AtomicInteger underWay = new AtomicInteger();
  private final Set<String> claims = ConcurrentHashMap.newKeySet();
  private final ScanCursors cursors = new ScanCursors();
  private final RefusalLog refusals;
  private final Map<EventLoop, SharedLoop> loops = new ConcurrentHashMap<>();
  private final AwakeLoops awake;
  private volatile boolean isDraining;
  private volatile boolean takesNoMore;

  /// @param mostValue longest value, in bytes
  /// @param roomNanos longest wait of a value for room
  /// @param awake how long an event loop stays awake for the next request
  record Limits(int mostValue, long roomNanos, int mostConnections, long stallNanos, boolean mayFlush,
      long graceNanos, Duration awake) {
    static Limits of(NodeConfig config) {
      return new Limits(config.get(RespSettings.MOST_VALUE), config.get(RespSettings.ROOM).toNanos(),
          config.get(RespSettings.CONNECTIONS),
          config.get(NodeSettings.STALL_TIMEOUT).toNanos(), config.get(RespSettings.FLUSH),
          config.get(RespSettings.GRACE).toNanos(),
          Duration.of(config.get(RespSettings.AWAKE), ChronoUnit.MICROS));
    }
  }

  RespHouse(DoorTerms terms) {
    this.terms = requireNonNull(terms, "terms");
    this.limits = Limits.of(terms.config());
    this.awake = new AwakeLoops(limits.awake, terms.clocks().nanos());
    this.refusals = new RefusalLog(DoorSettings.RESP.name(), terms.clocks().nanos());
    this.begunNanos = terms.clocks().nanos().getAsLong();
  }

  DoorTerms terms() {
    return terms;
  }

  Limits limits() {
    return limits;
  }

  ScanCursors cursors() {
    return cursors;
  }

  RefusalLog refusals() {
    return refusals;
  }

  /// Names, with their spaces, for which a client looks whether they are new and then stores a value.
  Set<String> claims() {
    return claims;
  }

  /// A number for a new connection. It shows which start of the node the connection is of, and fits in the numbers of
  /// JSON.
  long nextConnection() {
    return (terms.generation() << NUMBER_BITS | connections.incrementAndGet()) & (1L << EXACT_BITS) - 1;
  }

  /// Connections since the door was opened.
  long accepted() {
    return connections.get();
  }

  /// A connection of [#nextConnection] has ended.
  void disconnected() {
    gone.increment();
  }

  /// Connections now.
  long connected() {
    return connections.get() - gone.sum();
  }

  /// Counts a request that has come whole.
  void asked() {
    requests.increment();
  }

  /// Whole requests since the door was opened.
  long requests() {
    return requests.sum();
  }

  /// Differs for each start of the node.
  String bootToken() {
    return "%016x".formatted(terms.generation());
  }

  long uptimeNanos() {
    return terms.clocks().nanos().getAsLong() - begunNanos;
  }

  /// The one of `loop`, for all its connections.
  SharedLoop shared(EventLoop loop) {
    return loops.computeIfAbsent(loop, one -> new SharedLoop(one, awake.of(one)));
  }

  void begin() {
    underWay.incrementAndGet();
  }

  void end() {
    underWay.decrementAndGet();
  }

  /// Requests that are neither answered nor given up.
  int underWay() {
    return underWay.get();
  }

  void drain() {
    isDraining = true;
  }

  /// From now on a request ends its connection.
  void takeNoMore() {
    takesNoMore = true;
  }

  boolean takesNoMore() {
    return takesNoMore;
  }

  /// Whether values that come from now on are let go.
  boolean isDraining() {
    return isDraining;
  }
}
