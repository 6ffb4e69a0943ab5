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
  /// @param timers for deadlines and back-off; never used for work, but to stop it
  /// @param random for jitter, and the number that tells this engine from others
  public TransferEngine(TransferOptions options, SegmentLink.Connector connector, Scheduler timers,
      RandomGenerator random) {
    this.options = requireNonNull(options, "options");
    this.random = requireNonNull(random, "random");
    long engine = random.nextLong();
    this.peerSetting = new Peer.Setting(options, requireNonNull(connector, "connector"), engine,
        requireNonNull(timers, "timers"), this::backoff);
    this.transferSetting = new Transfer.Setting(options, engine, new AtomicLong(), timers);
  }

  /// The deadline of an item passed.
  public static final class TimedOutException extends TransientKvException {
    private final Duration deadline;

    TimedOutException(Duration deadline, @Nullable Throwable last) {
      super("item must end within " + deadline + " (was in progress)", last);
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
  /// @throws io.penstock.block.BudgetExhaustedException if too many items of a peer have not ended; nothing was begun
  /// @throws EngineClosedException if the engine was closed
  public Transfer submit(TransferBatch batch) {
    Map<String, Integer> counts = new HashMap<>();
    batch.items().forEach(item -> counts.merge(item.peer(), 1, Integer::sum));
    Map<String, Peer> used = peers(counts.keySet());
    admit(counts, used);
    Transfer transfer = Transfer.begin(batch, transferSetting, used);
    track(transfer);
    return transfer;
  }

  private synchronized Map<String, Peer> peers(Set<String> addresses) {
    if (closed) {
      throw new EngineClosedException();
    }
    Map<String, Peer> found = new HashMap<>();
    for (String address : addresses) {
      found.put(address, peers.computeIfAbsent(address, any -> new Peer(address, peerSetting)));
    }
    return found;
  }

  private static void admit(Map<String, Integer> counts, Map<String, Peer> used) {
    List<Runnable> undo = new ArrayList<>();
    try {
      used.forEach((address, peer) -> {
        int items = counts.getOrDefault(address, 0);
        peer.admit(items);
        undo.add(() -> peer.ended(items));
      });
    } catch (RuntimeException e) {
      undo.forEach(Runnable::run);
      throw e;
    }
  }

  /// A batch that comes while the engine closes is stopped like those before it.
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

  /// What `peer` has registered.
  ///
  /// @return cold; each subscription asks the peer
  public Mono<List<RemoteSegment>> segments(String peer) {
    return Mono.defer(() -> requireNonNull(peers(Set.of(peer)).get(peer)).describe())
        .map(known -> known.segments().stream().map(segment -> new RemoteSegment(peer, segment)).toList());
  }

  /// The same for callers that may block.
  public BlockingTransfers blocking() {
    return new BlockingTransfers(this);
  }

  /// Cancels what runs and drops the connections; lazy and idempotent. Completes when no memory is in use any more.
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
