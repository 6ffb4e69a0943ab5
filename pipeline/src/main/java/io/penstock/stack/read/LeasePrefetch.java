package io.penstock.stack.read;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.operator.SerialLoop;
import io.penstock.stack.decision.Decisions;
import io.penstock.stack.hold.StackHolds;
import io.penstock.stack.shape.StackOptions;
import io.penstock.stack.shape.StackShape;
import io.penstock.tier.LeasedBlock;
import java.util.ArrayDeque;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.SignalType;

/// Reads blocks that a read lease holds from slower levels to memory, before a read names the lease.
///
/// It is a reader like others, of one lease at a time: it takes at most half of the slots for windows, and waits for
/// them in the queue of all readers. A read that fails ends the prefetch of its lease; the store that failed learns of
/// it as of every failed read, and a later reader gets the error. Fields are used in decisions only.
public final class LeasePrefetch {
  private final Decisions decisions;
  private final StackShape shape;
  private final StackHolds holds;
  private final StackLeases leases;
  private final ArrayDeque<Wanted> waiting = new ArrayDeque<>();
  private final SerialLoop reads = new SerialLoop(this::readNext);
  private boolean reading;

  private record Wanted(long lease, List<BlockKey> keys) {}

  public LeasePrefetch(Decisions decisions, StackShape shape, StackHolds holds, StackLeases leases) {
    this.decisions = decisions;
    this.shape = shape;
    this.holds = holds;
    this.leases = leases;
  }

  /// Reads `keys`, which the read lease `lease` holds, unless too many leases wait already. A lease that has ended
  /// waits no more, and its keys take no memory. Outside a decision.
  public void begin(long lease, List<BlockKey> keys) {
    decisions.decide(after -> {
      waiting.removeIf(each -> !holds.isLive(each.lease()));
      if (waiting.size() < shape.options().maxWaiters()) {
        waiting.add(new Wanted(lease, keys));
        after.then(reads::run);
      }
    });
  }

  private @Nullable Wanted next() {
    return decisions.answer(after -> {
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
      StackOptions options = shape.options();
      int blocks = Math.max(1, Math.min(options.transferBlocks() / 2, options.promotionBlocks()));
      reader.scope.adopt(leases.prefetch(next.lease, next.keys)).windows(blocks, reader.scope).subscribe(reader);
    } catch (RuntimeException e) { // the lease has ended, or the stack has closed: no read was begun
      reader.end();
    } catch (Error e) { // no read was begun: other leases are read ahead all the same
      reader.end();
      throw e;
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
      // The store has the error, and a later reader gets it
    }

    @Override
    protected void hookFinally(SignalType type) {
      end();
    }

    private void end() {
      scope.close();
      decisions.decide(after -> {
        reading = false;
        after.then(reads::run);
      });
    }
  }
}
