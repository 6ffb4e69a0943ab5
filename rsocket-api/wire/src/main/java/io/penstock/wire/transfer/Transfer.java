package io.penstock.wire.transfer;

import static java.util.Objects.requireNonNull;

import io.penstock.operator.Serial;
import io.penstock.wire.trace.TraceContext;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;
import reactor.util.concurrent.Queues;

/// A batch that was submitted. Every item ends once, in any case, and so does the batch. Safe from any thread.
public final class Transfer {
  private final TransferBatch batch;
  private final Setting setting;
  private final Map<String, Destination> destinations;
  private final List<Work> works = new ArrayList<>();
  private final Serial steps = new Serial();
  private final Sinks.Many<ItemResult> results =
      Sinks.many().unicast().onBackpressureBuffer(Queues.<ItemResult>unbounded(256).get());
  private final Sinks.One<BatchResult> done = Sinks.one();
  private final Disposable.Composite timers = Disposables.composite();
  // The rest is touched by steps only.
  private final Map<TransferState, Integer> counts = new EnumMap<>(TransferState.class);
  private final Map<String, Throwable> unnotified = new LinkedHashMap<>();
  private final List<Work> letters = new ArrayList<>(0);
  private final long submitted = System.nanoTime();
  private final Set<String> transports = new TreeSet<>();
  private TransferListener.Times longest = TransferListener.Times.NONE;
  private @Nullable Throwable firstError;
  private long bytes;
  private int remaining;
  private int telling;
  private boolean cancelled;
  private boolean over;

  /// Settings that transfers of an engine share.
  ///
  /// @param engine its number, sent with notifications
  record Setting(TransferOptions options, long engine, AtomicLong sequences, Scheduler timers,
      TransferListener listener) {}

  /// End of one item.
  ///
  /// @param index of the item in its batch
  /// @param bytes that arrived and were verified: those of the item, or 0
  /// @param error null unless the item failed or its deadline passed
  public record ItemResult(int index, TransferState state, long bytes, @Nullable Throwable error) {}

  /// End of a batch.
  ///
  /// @param counts items by state, without zeros
  /// @param bytes of the items that completed
  /// @param firstError of an item; null if no item has one
  /// @param unnotified peers whose items all completed and to which the notification could not be delivered, or may not
  ///     have been, and the reasons
  public record BatchResult(Map<TransferState, Integer> counts, long bytes, @Nullable Throwable firstError,
      Map<String, Throwable> unnotified) {
    public BatchResult {
      counts = Map.copyOf(counts);
      unnotified = Map.copyOf(unnotified);
    }

    public int count(TransferState state) {
      return counts.getOrDefault(state, 0);
    }

    /// Whether all items completed and all notifications were delivered.
    public boolean isWhole() {
      return counts.keySet().stream().allMatch(state -> state == TransferState.COMPLETED) && unnotified.isEmpty();
    }
  }

  /// The items of one peer.
  private static final class Destination {
    private final Peer peer;
    private int remaining;
    private boolean whole = true;
    /// Generation of the peer when its items completed; 0 if none had bytes.
    private long generation;

    Destination(Peer peer) {
      this.peer = peer;
    }

    void ended(Work work, TransferState state) {
      remaining--;
      boolean restarted = generation != 0 && work.generation != 0 && work.generation != generation;
      whole &= state == TransferState.COMPLETED && !restarted;
      generation = work.generation == 0 ? generation : work.generation;
    }
  }

  private Transfer(TransferBatch batch, Setting setting, Map<String, Peer> peers) {
    this.batch = batch;
    this.setting = setting;
    this.destinations = new HashMap<>();
    peers.forEach((address, peer) -> destinations.put(address, new Destination(peer)));
    this.remaining = batch.items().size();
    for (TransferBatch.Item item : batch.items()) {
      Destination destination = requireNonNull(destinations.get(item.peer()));
      destination.remaining++;
      works.add(Work.of(this, destination.peer, works.size(), item));
    }
  }

  /// Starts the items of `batch` at the peers, which admitted them.
  static Transfer begin(TransferBatch batch, Setting setting, Map<String, Peer> peers) {
    Transfer transfer = new Transfer(batch, setting, peers);
    transfer.begin();
    return transfer;
  }

  private void begin() {
    Map<Peer, List<Work>> byPeer = new LinkedHashMap<>();
    Map<Long, List<Work>> bySize = new LinkedHashMap<>(); // items of one size share a deadline
    for (Work work : works) {
      if (work.bytes > 0) {
        byPeer.computeIfAbsent(work.peer, any -> new ArrayList<>()).add(work);
        bySize.computeIfAbsent(work.bytes, any -> new ArrayList<>()).add(work);
      }
    }
    bySize.forEach((size, items) -> limit(items, setting.options().deadline(size)));
    for (Work work : works) {
      if (work.bytes == 0) {
        TransferState end = work.life.end(true);
        if (end != null) {
          ended(work, end, null);
        }
      }
    }
    if (works.isEmpty()) {
      steps.run(this::finishIfOver);
    }
    byPeer.forEach(Peer::submit);
  }

  private void limit(List<Work> items, Duration deadline) {
    timers.add(setting.timers().schedule(() -> stopAll(items, TransferState.TIMEOUT),
        deadline.toNanos(), TimeUnit.NANOSECONDS));
  }

  /// Stops those that wait first: they would take the places of the others.
  private void stopAll(List<Work> stopped, TransferState why) {
    stopped.stream().filter(work -> work.life.state() == TransferState.WAITING).forEach(work -> stop(work, why));
    stopped.forEach(work -> stop(work, why));
  }

  private void stop(Work work, TransferState why) {
    switch (work.life.stop(why)) {
      case ENDED -> {
        ended(work, why, null);
        work.peer.left(work, TransferFailure.of(why, null, false));
      }
      case ABORT -> work.peer.abort(work);
      case NOTHING -> {
      }
    }
  }

  /// `work` is in its last state.
  ///
  /// @param error of its last attempt; null if there is none
  void ended(Work work, TransferState state, @Nullable Throwable error) {
    if (work.isItem()) {
      work.peer.ended(1);
      steps.run(() -> itemEnded(work, state, errorOf(work, state, error)));
    } else {
      steps.run(() -> told(work, state, errorOf(work, state, error)));
    }
  }

  private @Nullable Throwable errorOf(Work work, TransferState state, @Nullable Throwable error) {
    return switch (state) {
      case TIMEOUT -> new TransferEngine.TimedOutException(setting.options().deadline(work.bytes), error);
      case FAILED -> error;
      default -> null;
    };
  }

  @Nullable TraceContext trace() {
    return batch.trace();
  }

  TransferListener listener() {
    return setting.listener();
  }

  private void itemEnded(Work work, TransferState state, @Nullable Throwable error) {
    if (work.report != null) {
      longest = longest.longest(work.report.times());
      transports.add(work.report.transport());
    }
    long moved = state == TransferState.COMPLETED ? work.bytes : 0;
    bytes += moved;
    counts.merge(state, 1, Integer::sum);
    firstError = firstError == null ? error : firstError;
    remaining--;
    emit(new ItemResult(work.index, state, moved, error));
    Destination destination = destinations.get(work.peer.address());
    if (destination != null) {
      destination.ended(work, state);
      if (destination.remaining == 0 && destination.whole) {
        tell(destination);
      }
    }
    if (remaining == 0) {
      results.tryEmitComplete();
    }
    finishIfOver();
  }

  private void emit(ItemResult result) {
    Sinks.EmitResult emitted = results.tryEmitNext(result);
    if (emitted != Sinks.EmitResult.FAIL_CANCELLED) { // its reader has gone
      emitted.orThrow();
    }
  }

  private void tell(Destination destination) {
    String message = batch.message();
    if (message == null) {
      return;
    }
    SegmentLink.Letter letter = new SegmentLink.Letter(setting.engine(), setting.sequences().incrementAndGet(),
        destination.generation, new Notification(setting.options().name(), message));
    Work work = Work.of(this, destination.peer, letter);
    telling++;
    letters.add(work);
    limit(List.of(work), setting.options().deadline(0));
    if (cancelled) {
      stop(work, TransferState.CANCELLED);
    } else {
      destination.peer.submit(List.of(work));
    }
  }

  private void told(Work work, TransferState state, @Nullable Throwable error) {
    telling--;
    if (state != TransferState.COMPLETED) {
      unnotified.put(work.peer.address(),
          error == null ? new CancellationException("batch was cancelled") : error);
    }
    finishIfOver();
  }

  private void finishIfOver() {
    if (remaining == 0 && telling == 0 && !over) {
      over = true;
      timers.dispose();
      results.tryEmitComplete();
      BatchResult result = new BatchResult(counts, bytes, firstError, unnotified);
      if (!listener().equals(TransferListener.noop())) {
        listener().finished(new TransferListener.BatchReport(List.copyOf(destinations.keySet()),
            List.copyOf(transports), result, System.nanoTime() - submitted, longest));
      }
      done.tryEmitValue(result);
    }
  }

  /// The results, in the order in which items end. One subscriber; results that it has not requested wait. A cancel of
  /// the subscription stops no item.
  public Flux<ItemResult> results() {
    return results.asFlux();
  }

  /// The result of all, when every item has ended and every notification was delivered or refused. Never fails.
  public Mono<BatchResult> done() {
    return done.asMono();
  }

  /// Present state of an item.
  public TransferState state(int index) {
    return works.get(index).life.state();
  }

  /// Begins no more items from now on, and stops those in progress, each of which ends when its memory is quiet.
  ///
  /// @return [#done()]
  public Mono<BatchResult> cancel() {
    stopAll(works, TransferState.CANCELLED);
    steps.run(() -> {
      cancelled = true;
      List.copyOf(letters).forEach(letter -> stop(letter, TransferState.CANCELLED));
    });
    return done();
  }
}
