package io.penstock.tier;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.operator.SerialLoop;
import java.util.ArrayDeque;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.SignalType;

/// Reads blocks that a read lease holds from slower levels to memory, before a read names the lease.
///
/// It is a reader as others are, of one lease at a time: it takes at most half of the slots for windows, and waits for
/// them in the same queue. A read that fails ends the prefetch of its lease; the store that failed is told of it as of
/// every failed read, and a later reader hears the error. Fields are used in decisions only.
final class LeasePrefetch {
  private final StackState state;
  private final StackLeases leases;
  private final ArrayDeque<Wanted> waiting = new ArrayDeque<>();
  private final SerialLoop reads = new SerialLoop(this::readNext);
  private boolean reading;

  private record Wanted(long lease, List<BlockKey> keys) {}

  LeasePrefetch(StackState state, StackLeases leases) {
    this.state = state;
    this.leases = leases;
  }

  /// Has `keys` read, which the read lease `lease` holds, unless too many leases wait already. A lease that has ended
  /// waits no more, and its keys take no memory. Outside a decision.
  void begin(long lease, List<BlockKey> keys) {
    state.decide(after -> {
      waiting.removeIf(each -> !state.holds().isLive(each.lease()));
      if (waiting.size() < state.shape().options().maxWaiters()) {
        waiting.add(new Wanted(lease, keys));
        after.then(reads::run);
      }
    });
  }

  private @Nullable Wanted next() {
    return state.answer(after -> {
      Wanted next = reading ? null : waiting.poll();
      reading |= next != null;
      return next;
    });
  }

  private void readNext() {
    Wanted next = next();
    if (next == null) {
      return;
    }
    Reader reader = new Reader();
    try {
      StackOptions options = state.shape().options();
      int blocks = Math.max(1, Math.min(options.transferBlocks() / 2, options.promotionBlocks()));
      reader.scope.adopt(leases.prefetch(next.lease, next.keys)).windows(blocks, reader.scope).subscribe(reader);
    } catch (RuntimeException e) { // the lease has ended, or the stack has closed: no read was begun
      reader.end();
    }
  }

  /// Drops each window when it has come: its blocks stay in memory where the ledger has them.
  private final class Reader extends BaseSubscriber<List<LeasedBlock>> {
    private final BlockScope scope = new BlockScope();

    @Override
    protected void hookOnSubscribe(Subscription subscription) {
      subscription.request(1);
    }

    @Override
    protected void hookOnNext(List<LeasedBlock> window) {
      window.forEach(leased -> leased.block().close());
      request(1);
    }

    @Override
    protected void hookOnError(Throwable failure) {
      // The store was told of it, and a later reader hears it
    }

    @Override
    protected void hookFinally(SignalType type) {
      end();
    }

    private void end() {
      scope.close();
      state.decide(after -> {
        reading = false;
        after.then(reads::run);
      });
    }
  }
}
