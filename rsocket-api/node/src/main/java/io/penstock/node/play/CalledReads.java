package io.penstock.node.play;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.SliceShape;
import io.penstock.block.session.SessionNumbers;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Lease;
import io.penstock.tier.LeasedBlock;
import io.penstock.tier.LeasedWindow;
import io.penstock.tier.OnMiss;
import io.penstock.tier.TierHolds;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiFunction;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.SignalType;

/// Gives the leases and reads of a recording to a tier. One thread.
final class CalledReads {
  private final VirtualTime time;
  private final RecordedTimes times;
  private final CallFigures figures;
  private final CalledPuts puts;
  private final Map<Long, Asked> leases = new HashMap<>();
  private final Map<Long, Reader> readers = new HashMap<>();
  private final Set<Asked> open = new HashSet<>();

  CalledReads(VirtualTime time, RecordedTimes times, CallFigures figures, CalledPuts puts) {
    this.time = time;
    this.times = times;
    this.figures = figures;
    this.puts = puts;
  }

  /// A lease and its streams.
  private final class Asked {
    private final BlockScope scope = new BlockScope();
    private final Later<Lease> lease = new Later<>();
    private final long at = time.now();
    private long last = at;
    private int streams;
    private boolean wasRead;
    private boolean closing;

    void closeIfDone() {
      if (closing && streams == 0 && open.remove(this)) {
        figures.answered(last - at);
        lease.then(Lease::close);
        scope.close();
      }
    }
  }

  /// Asks for the keys of the lease with which `turn` begins.
  void lease(BlockTier tier, List<RecordedEvent> turn) {
    RecordedEvent begin = turn.getFirst();
    long flow = begin.flow();
    List<BlockKey> keys = begin.keys();
    OnMiss onMiss = OnMiss.values()[(int) begin.number(0)];
    Asked asked = begin(flow);
    take(asked, tier.lease(keys, onMiss, SessionNumbers.read(begin.size(), begin::number, 1), asked.scope));
    RecordedEvent answer = turn.stream().filter(fact -> fact.kind() == Kind.LEASED && fact.flow() == flow).findFirst()
        .orElse(null);
    if (answer == null) {
      return;
    }
    RecordedBits recorded = RecordedBits.of(answer, 0);
    boolean admits = onMiss == OnMiss.ADMIT;
    asked.lease.then(lease -> {
      List<BlockKey> more = new ArrayList<>();
      for (int i = 0; i < keys.size(); i++) {
        boolean put = admits
            ? lease.admitted().get(i) && !recorded.has(RecordedBits.ADMITTED, i)
            : times.putsMisses() && !lease.hits().get(i) && recorded.has(RecordedBits.HITS, i);
        if (put) {
          more.add(keys.get(i));
        }
      }
      puts.putLater(tier, more);
    });
  }

  private Asked begin(long flow) {
    Asked asked = new Asked();
    leases.put(flow, asked);
    open.add(asked);
    return asked;
  }

  /// Reads keys under a read lease, once the tier has given it.
  void read(RecordedEvent begin, Later<Long> readLease, TierHolds holds) {
    Asked asked = begin(begin.flow());
    readLease.then(id -> take(asked, holds.read(id, begin.keys(), asked.scope)));
  }

  private void take(Asked asked, Mono<Lease> lease) {
    lease.subscribe(asked.lease::set, error -> {
      figures.refused();
      open.remove(asked);
    });
  }

  void windows(RecordedEvent begin) {
    read(begin, (lease, scope) -> lease.windows((int) begin.number(1), scope));
  }

  void slicedWindows(RecordedEvent begin) {
    read(begin, (lease, scope) -> lease.slicedWindows(new SliceShape((int) begin.number(1), (int) begin.number(2),
        SliceShape.Order.values()[(int) begin.number(3)], (int) begin.number(4)), scope));
  }

  private void read(RecordedEvent begin, BiFunction<Lease, BlockScope, Publisher<?>> windows) {
    Asked asked = requireNonNull(leases.get(begin.number(0)), "lease");
    Reader reader = new Reader(asked);
    readers.put(begin.flow(), reader);
    asked.streams++;
    asked.wasRead = true;
    asked.lease.then(lease -> windows.apply(lease, asked.scope).subscribe(reader));
  }

  void request(long flow, long n) {
    Reader reader = readers.get(flow);
    if (reader != null) {
      reader.ask(n);
    }
  }

  void cancel(long flow) {
    Reader reader = readers.get(flow);
    if (reader != null) {
      reader.leave();
    }
  }

  /// The recorded stream has ended; the one of this tier may have more.
  void ended(long flow) {
    Reader reader = readers.get(flow);
    if (reader != null) {
      reader.finish();
    }
  }

  /// Leases whose streams have not all ended.
  long unanswered() {
    return open.size();
  }

  /// Closes the lease of this flow once its streams have ended.
  ///
  /// @return whether the flow is a lease
  boolean close(long flow) {
    Asked asked = leases.get(flow);
    if (asked == null) {
      return false;
    }
    asked.closing = true;
    if (!asked.wasRead) {
      asked.lease.then(lease -> readAll(asked, lease));
    }
    asked.closeIfDone();
    return true;
  }

  /// The recorded lease had nothing to read; this one may have.
  private void readAll(Asked asked, Lease lease) {
    if (lease.found().count() > 0) {
      asked.wasRead = true;
      asked.streams++;
      Reader reader = new Reader(asked);
      reader.finish();
      lease.windows(BlockTier.GET_WINDOW, asked.scope).subscribe(reader);
    }
  }

  /// Reads the windows of a lease.
  private final class Reader extends BaseSubscriber<Object> {
    private final Asked asked;
    private long early;
    private boolean subscribed;

    Reader(Asked asked) {
      this.asked = asked;
    }

    @Override
    protected void hookOnSubscribe(Subscription subscription) {
      subscribed = true;
      if (early > 0) {
        request(early);
      }
    }

    void ask(long n) {
      if (n > 0 && subscribed) {
        request(n);
      } else if (n > 0) {
        early = early > Long.MAX_VALUE - n ? Long.MAX_VALUE : early + n;
      }
    }

    /// The recorded stream has ended; this one may have more.
    void finish() {
      ask(Long.MAX_VALUE);
    }

    void leave() {
      if (!isDisposed()) {
        cancel();
      }
    }

    @Override
    protected void hookOnNext(Object element) {
      asked.last = time.now();
      if (element instanceof LeasedWindow window) {
        asked.streams++;
        window.blocks(asked.scope).doFinally(end -> ended()).subscribe(this::drop, error -> figures.refused());
      } else if (element instanceof List<?> blocks) {
        drop(blocks);
      }
    }

    private void drop(List<?> blocks) {
      asked.last = time.now();
      for (Object each : blocks) {
        ((LeasedBlock) each).block().close();
      }
    }

    @Override
    protected void hookOnError(Throwable error) {
      figures.refused();
    }

    @Override
    protected void hookFinally(SignalType type) {
      ended();
    }

    private void ended() {
      asked.streams--;
      asked.closeIfDone();
    }
  }
}
