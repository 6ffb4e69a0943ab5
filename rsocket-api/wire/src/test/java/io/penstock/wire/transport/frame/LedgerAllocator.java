package io.penstock.wire.transport.frame;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.penstock.testkit.Eventually;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/// Remembers every buffer it lent, so that a test can ask for all of them back.
public final class LedgerAllocator extends AbstractByteBufAllocator {
  private final Queue<ByteBuf> lent = new ConcurrentLinkedQueue<>();

  /// Direct buffers of so many bytes are refused.
  public volatile int refusedBytes = -1;

  public LedgerAllocator() {
    super(true);
  }

  @Override
  protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
    return note(UnpooledByteBufAllocator.DEFAULT.heapBuffer(initialCapacity, maxCapacity));
  }

  @Override
  protected ByteBuf newDirectBuffer(int initialCapacity, int maxCapacity) {
    if (initialCapacity == refusedBytes) {
      throw new OutOfMemoryError("as told");
    }
    return note(UnpooledByteBufAllocator.DEFAULT.directBuffer(initialCapacity, maxCapacity));
  }

  @Override
  public CompositeByteBuf compositeHeapBuffer(int maxNumComponents) {
    CompositeByteBuf composite = super.compositeHeapBuffer(maxNumComponents);
    lent.add(composite);
    return composite;
  }

  @Override
  public CompositeByteBuf compositeDirectBuffer(int maxNumComponents) {
    CompositeByteBuf composite = super.compositeDirectBuffer(maxNumComponents);
    lent.add(composite);
    return composite;
  }

  @Override
  public boolean isDirectBufferPooled() {
    return false;
  }

  /// Keeps an eye on a buffer that came from elsewhere.
  public ByteBuf note(ByteBuf buffer) {
    lent.add(buffer);
    return buffer;
  }

  int lentSoFar() {
    return lent.size();
  }

  /// Waits until every buffer came back, and forgets them.
  public void assertAllReturned() {
    Eventually.holds("every buffer released", () -> lent.stream().allMatch(b -> b.refCnt() == 0), this::describe);
    lent.clear();
  }

  private String describe() {
    List<String> held = lent.stream().filter(b -> b.refCnt() > 0).limit(8).map(b -> b + "").toList();
    assertThat(held).isNotNull();
    return held.size() + " or more of " + lent.size() + " held: " + held;
  }
}
