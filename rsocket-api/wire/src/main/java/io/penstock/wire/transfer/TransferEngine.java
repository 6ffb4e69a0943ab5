package io.penstock.wire.transfer;

import static java.util.Objects.requireNonNull;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.PermanentKvException;
import io.penstock.TransientKvException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// Moves bytes between local memory and the segments of peers. Safe from any thread; see the package for a drawing.
///
/// Nothing here blocks, polls or picks a thread: results come on the threads of the transport, of the timers, or of the
/// caller whose call let an item end.
public final class TransferEngine {
  private final TransferOptions options;
  private final Peer.Setting peerSetting;
  private final Transfer.Setting transferSetting;
  private final RandomGenerator random;
  @GuardedBy("this") private final Map<String, Peer> peers = new HashMap<>();
  @GuardedBy("this") private final Set<Transfer> running = new HashSet<>();
  @GuardedBy("this") private boolean closed;

  /// @param connector makes connections to peers
  /// @param timers for deadlines and back-off; never used for work, except to stop it
  /// @param random for jitter, and for the number of this engine
  public TransferEngine(TransferOptions options, SegmentLink.Connector connector, Scheduler timers,
      RandomGenerator random) {
    this(options, connector, timers, random, TransferListener.noop());
  }

  /// An engine with a listener for its work, such as meters and a [SlowTransferLog].
  public TransferEngine(TransferOptions options, SegmentLink.Connector connector, Scheduler timers,
      RandomGenerator random, TransferListener listener) {
    this.options = requireNonNull(options, "options");
    this.random = requireNonNull(random, "random");
    long engine = random.nextLong();
    this.peerSetting = new Peer.Setting(options, requireNonNull(connector, "connector"), engine,
        requireNonNull(timers, "timers"), this::backoff, requireNonNull(listener, "listener"), this::release);
    this.transferSetting = new Transfer.Setting(options, engine, new AtomicLong(), timers, listener);
  }

  /// The deadline of an item passed.
  public static final class TimedOutException extends TransientKvException {
    private final Duration deadline;

    TimedOutException(Duration deadline, @Nullable Throwable last) {
      super("item did not end within " + deadline + " (was in progress)", last);
      this.deadline = deadline;
    }

    public Duration deadline() {
      return deadline;
    }
  }

  /// An item is not inside its segment.
  public static final class RangeException extends PermanentKvException {
    private final Segment segment;

    RangeException(Segment segment, long offset, long length) {
      super("offset + length must be <= %d, the bytes of segment %s (was %d + %d)".formatted(segment.bytes(),
          segment.name(), offset, length));
      this.segment = segment;
    }

    public Segment segment() {
      return segment;
    }
  }

  /// The engine was closed.
  public static final class EngineClosedException extends PermanentKvException {
    EngineClosedException() {
      super("engine must be open (was closed)");
    }
  }

  /// Begins a batch, whole or not at all.
  ///
  /// @return its handle; work has begun
  /// @throws io.penstock.budget.BudgetExhaustedException if too many items of a peer have not ended; nothing was begun
  /// @throws EngineClosedException if the engine was closed
  public Transfer submit(TransferBatch batch) {
    Map<String, Integer> counts = new HashMap<>();
    batch.items().forEach(item -> counts.merge(item.peer(), 1, Integer::sum));
    Map<String, Peer> used = admitted(counts);
    Transfer transfer = Transfer.begin(batch, transferSetting, used);
    track(transfer);
    return transfer;
  }

  /// The peers, with places for so many items each: then they are not released.
  private synchronized Map<String, Peer> admitted(Map<String, Integer> counts) {
    if (closed) {
      throw new EngineClosedException();
    }
    Map<String, Peer> used = new HashMap<>();
    List<Runnable> undo = new ArrayList<>();
    try {
      counts.forEach((address, items) -> {
        Peer peer = peers.computeIfAbsent(address, any -> new Peer(address, peerSetting));
        peer.admit(items);
        undo.add(() -> peer.ended(items));
        used.put(address, peer);
      });
    } catch (RuntimeException | Error e) {
      undo.forEach(Runnable::run);
      List.copyOf(peers.values()).forEach(Peer::releaseIfUnused);
      throw e;
    }
    return used;
  }

  /// Forgets `peer`, unless an item came in the meantime.
  private synchronized void release(Peer peer) {
    if (!closed && peer.isUnused()) {
      peers.remove(peer.address(), peer);
    }
  }

  /// Present work.
  ///
  /// @param peers that have work or a connection, or had until a moment ago
  /// @param items in progress, or waiting for their connection
  /// @param bytes of these
  /// @param queued items that wait for their turn
  public record Stat(int peers, long items, long bytes, long queued) {}

  public Stat stat() {
    List<Peer> now;
    synchronized (this) {
      now = List.copyOf(peers.values());
    }
    long items = now.stream().mapToLong(Peer::laneItems).sum();
    long unended = now.stream().mapToLong(Peer::unended).sum();
    return new Stat(now.size(), items, now.stream().mapToLong(Peer::laneBytes).sum(), Math.max(0, unended - items));
  }

  /// A batch that comes while the engine closes is stopped like earlier ones.
  private void track(Transfer transfer) {
    boolean late;
    synchronized (this) {
      running.add(transfer);
      late = closed;
    }
    transfer.done().subscribe(result -> untrack(transfer));
    if (late) {
      transfer.cancel();
    }
  }

  private synchronized void untrack(Transfer transfer) {
    running.remove(transfer);
  }

  /// Segments of `peer`.
  ///
  /// @return cold; each subscription asks the peer
  public Mono<List<RemoteSegment>> segments(String peer) {
    return Mono.defer(() -> {
      Peer asked = requireNonNull(admitted(Map.of(peer, 1)).get(peer));
      return asked.describe().doFinally(signal -> asked.ended(1));
    })
        .map(known -> known.segments().stream().map(segment -> new RemoteSegment(peer, segment)).toList());
  }

  /// The engine for callers that may block.
  public BlockingTransfers blocking() {
    return new BlockingTransfers(this);
  }

  /// Cancels running transfers and drops the connections; lazy and idempotent. Completes when no memory is in use any
  /// more.
  public Mono<Void> close() {
    return Mono.defer(() -> {
      List<Transfer> stopping;
      List<Peer> left;
      synchronized (this) {
        closed = true;
        stopping = List.copyOf(running);
        left = List.copyOf(peers.values());
      }
      stopping.forEach(Transfer::cancel);
      return Flux.fromIterable(stopping).flatMap(Transfer::done, Integer.MAX_VALUE)
          .then(Mono.defer(() -> Flux.fromIterable(left).flatMap(Peer::close, Integer.MAX_VALUE).then()));
    });
  }

  private Duration backoff() {
    long least = options.backoff().toNanos();
    synchronized (random) {
      return Duration.ofNanos(least + random.nextLong(least + 1));
    }
  }
}
