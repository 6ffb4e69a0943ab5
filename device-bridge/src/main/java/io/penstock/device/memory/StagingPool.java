package io.penstock.device.memory;

import static java.util.Objects.requireNonNull;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.block.BlockScope;
import io.penstock.budget.Permits;
import io.penstock.device.OwnershipTransfer;
import io.penstock.operator.QueuedGrant;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/// Buffers of equal size, cut from one piece of host memory, for bytes on their way. All may be lent; further requests
/// wait in a bounded, fair queue, which a cancel leaves. Safe from any thread.
public final class StagingPool {
  private final Permits permits;
  private final HostMemory memory;
  private final long bufferBytes;
  private final Sinks.Empty<Void> closed = Sinks.empty();

  /// Indexes of free buffers, as a stack.
  @GuardedBy("this") private final int[] free;
  @GuardedBy("this") private int freeCount;
  @GuardedBy("this") private boolean closing;

  private StagingPool(String name, StagingSpec spec, int maxWaiters, HostMemory memory) {
    this.permits = new Permits(name, spec.buffers(), maxWaiters);
    this.memory = memory;
    this.bufferBytes = spec.bufferBytes();
    this.free = new int[spec.buffers()];
    for (int i = spec.buffers() - 1; i >= 0; i--) { // the lowest address on top of the stack
      free[freeCount++] = i;
    }
  }

  /// Takes all of the memory at once.
  ///
  /// @param name named in errors
  /// @param maxWaiters most waiting requests
  /// @return cold; signals [HostMemoryRefusedException]
  /// @throws IllegalArgumentException if `spec` is off
  public static Mono<StagingPool> open(String name, StagingSpec spec, int maxWaiters, HostMemorySource source) {
    requireOn(name, spec);
    return Mono.defer(() -> {
      BlockScope arriving = new BlockScope();
      return OwnershipTransfer.orRelease(
          source.allocate(spec.bytes(), arriving).map(memory -> of(name, spec, maxWaiters, memory)),
          arriving::close, StagingPool::begin);
    });
  }

  /// A pool over existing memory.
  ///
  /// @param memory at least as large as all buffers; the pool's from now on
  /// @throws IllegalArgumentException if `spec` is off, or `memory` is too small; it stays the caller's then
  public static StagingPool of(String name, StagingSpec spec, int maxWaiters, HostMemory memory) {
    requireOn(name, spec);
    if (memory.bytes() < spec.bytes()) {
      throw new IllegalArgumentException(
          name + ": memory must have at least " + spec.bytes() + " bytes (was " + memory.bytes() + ")");
    }
    return new StagingPool(name, spec, maxWaiters, memory);
  }

  private static void requireOn(String name, StagingSpec spec) {
    if (spec.isOff()) {
      throw new IllegalArgumentException(name + ": staging buffers must be on (was " + spec + ")");
    }
  }

  /// A buffer, when its turn comes.
  ///
  /// @param scope owns the buffer from the moment it is lent
  /// @return cold; signals [io.penstock.budget.BudgetExhaustedException] if too many wait, [StagingClosedException] if
  ///     the pool closes first
  public Mono<StagingBuffer> acquire(BlockScope scope) {
    requireNonNull(scope, "scope");
    return QueuedGrant.of(
        grant -> permits.acquire(1, () -> grant.granted(() -> scope.adopt(lend()), this::giveBack),
            grant::refused)::cancel);
  }

  /// Gives back a buffer that no caller waits for any more.
  private void giveBack() {
    permits.release(1);
    freeIfIdle();
  }

  /// Returns a buffer if one is free and no request waits.
  ///
  /// @return the caller's to close, or null
  /// @throws StagingClosedException after [#close()]
  public @Nullable StagingBuffer tryAcquire() {
    return permits.tryAcquire(1) ? lend() : null;
  }

  private synchronized StagingBuffer lend() {
    return new StagingBuffer(this, free[--freeCount]);
  }

  void takeBack(int index) {
    synchronized (this) {
      free[freeCount++] = index;
    }
    giveBack();
  }

  MemorySegment segment(int index) {
    return memory.segment().asSlice(index * bufferBytes, bufferBytes);
  }

  public long bufferBytes() {
    return bufferBytes;
  }

  /// Counts of lent buffers and waiting requests.
  public Permits permits() {
    return permits;
  }

  /// Fails waiting requests, waits for lent buffers, and frees the memory. Lazy and idempotent.
  public Mono<Void> close() {
    return Mono.defer(() -> {
      begin();
      return closed.asMono();
    });
  }

  private void begin() {
    synchronized (this) {
      if (closing) {
        return;
      }
      closing = true;
    }
    permits.close(() -> new StagingClosedException(permits.name()));
    freeIfIdle();
  }

  private void freeIfIdle() {
    synchronized (this) {
      if (!closing || memory.isClosed() || permits.inUse() > 0) { // once closed it only falls
        return;
      }
    }
    memory.close();
    closed.tryEmitEmpty();
  }
}
