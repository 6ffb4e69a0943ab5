package io.penstock.flow;

import io.penstock.block.Block;
import io.penstock.block.BlockScope;
import io.penstock.block.IncompleteBlockException;
import io.penstock.operator.InTurn;
import io.penstock.tier.Lease;
import io.penstock.tier.LeasedBlock;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// A value that was found.
public final class LeasedValue {
  private final ValueStore.Found found;
  private final @Nullable Lease lease;
  private final int windowParts;
  private final BlockScope scope;
  private final Span span;
  private long taken;

  LeasedValue(ValueStore.Found found, @Nullable Lease lease, int windowParts, BlockScope scope, Span span) {
    this.span = span;
    this.found = found;
    this.lease = lease;
    this.windowParts = windowParts;
    this.scope = scope;
  }

  /// Length of the whole value in bytes.
  public long length() {
    return found.head().length();
  }

  /// The whole value, without its bytes.
  public ValueStore.Info info() {
    return found.info();
  }

  /// Whether it is the value that was stored or found as `stored`.
  public boolean is(StoredValue stored) {
    return stored.head().equals(found.head());
  }

  /// What is known of it without its bytes.
  public StoredValue stored() {
    return new StoredValue(found.head());
  }

  /// Gives it up without a read.
  public void close() {
    if (lease != null) {
      lease.close();
    }
    found.block().close();
  }

  /// All bytes that were asked for, if they lie in the block of the head, which is read: then they take no stream.
  /// Ends this value; the caller closes the part.
  ///
  /// @return null if there are others, or none: then [#parts()] has them
  public @Nullable ValuePart whole() {
    if (lease != null || span.parts > 0 || tailBytes() == 0) {
      return null;
    }
    ValuePart all = new ValuePart(found.block().share(), tailFrom(), tailBytes());
    found.block().close();
    return all;
  }

  /// The bytes that were asked for, in order, part by part, without a copy. Close each part when it is read.
  ///
  /// | | |
  /// |---|---|
  /// | backpressure | parts; a window of them is held ahead of demand |
  /// | cancel | ends the lease; the scope of the get closes the parts not taken |
  /// | signals | errors of the tier; [IncompleteBlockException] if a part that was not held was evicted or removed |
  ///
  /// @return for one subscriber
  public Flux<ValuePart> parts() {
    Lease held = lease;
    Flux<ValuePart> whole =
        held == null ? Flux.empty() : InTurn.of(parts(held), complete()).doFinally(end -> held.close());
    return InTurn.of(whole, tailBytes() == 0 ? Flux.empty() : tail())
        .doFinally(end -> found.block().close());
  }

  private Flux<ValuePart> parts(Lease held) {
    return held.windows(windowParts, scope).concatMapIterable(window -> window, 1).index(this::part);
  }

  /// Bytes of the span that lie in the head, which has the last bytes of the value.
  private long tailBytes() {
    return Math.max(0, span.end() - tailStart());
  }

  private long tailStart() {
    return Math.max(span.offset, (long) found.head().parts() * found.head().partBytes());
  }

  private Flux<ValuePart> tail() {
    return Mono.fromSupplier(() -> part(found.block().share(), tailFrom(), tailBytes())).flux();
  }

  /// Where these bytes begin in the block of the head.
  private long tailFrom() {
    return found.head().tailOffset() + tailStart() - (long) found.head().parts() * found.head().partBytes();
  }

  private ValuePart part(long index, LeasedBlock leased) {
    if (leased.position() != index) {
      leased.block().close();
      throw missing(span.first + (int) index);
    }
    taken = index + 1;
    int number = span.first + (int) index;
    long start = (long) number * found.head().partBytes();
    long from = Math.max(span.offset, start);
    return part(leased.block(), from - start,
        Math.min(span.end(), start + found.head().bytesOfPart(number)) - from);
  }

  private Flux<ValuePart> complete() {
    return Flux.defer(() -> taken < span.parts ? Flux.error(missing(span.first + (int) taken)) : Flux.empty());
  }

  private IncompleteBlockException missing(int index) {
    return new IncompleteBlockException(found.head().partKey(index), 0, 1);
  }

  private ValuePart part(Block block, long offset, long bytes) {
    return scope.adopt(new ValuePart(block, offset, bytes));
  }

  /// A run of bytes of a value: those of some parts, and perhaps some of the head.
  ///
  /// @param first part
  /// @param parts how many, without the head
  record Span(long offset, long bytes, int first, int parts) {
    static Span of(ValueHead head, long offset, long bytes) {
      int first = (int) Math.min(head.parts(), offset / head.partBytes());
      int end = (int) Math.min(head.parts(), Math.ceilDiv(offset + bytes, head.partBytes()));
      return new Span(offset, bytes, first, Math.max(0, end - first));
    }

    static Span whole(ValueHead head) {
      return new Span(0, head.length(), 0, head.parts());
    }

    long end() {
      return offset + bytes;
    }
  }
}
