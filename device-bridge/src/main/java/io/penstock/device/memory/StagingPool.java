package io.penstock.device.memory;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockScope;
import io.penstock.block.Permits;
import io.penstock.device.Handover;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/// Buffers of equal size, cut from one piece of host memory, that bytes pass through on their way. As many are lent as
/// there are; the next wait in a bounded, fair line, and a cancel leaves it. Safe from any thread.
public final class StagingPool {
  private final Permits permits;
  private final HostMemory memory;
  private final long bufferBytes;
  private final Sinks.Empty<Void> closed = Sinks.empty();

  /// Guarded by `this`: indexes of buffers that are not lent, as a stack.
  private final int[] free;
  private int freeCount;
  private boolean closing;

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
  /// @param maxWaiters longest line
  /// @return cold; signals [HostMemoryRefusedException]
  /// @throws IllegalArgumentException if `spec` is off
  public static Mono<StagingPool> open(String name, StagingSpec spec, int maxWaiters, HostMemorySource source) {
    requireOn(name, spec);
    return Mono.defer(() -> {
      BlockScope arriving = new BlockScope();
      return Handover.orBack(source.allocate(spec.bytes(), arriving).map(memory -> of(name, spec, maxWaiters, memory)),
          arriving::close, StagingPool::begin);
    });
  }

  /// The same of memory that is there.
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
  /// @return cold; signals [io.penstock.block.BudgetExhaustedException] if too many wait, [StagingClosedException] if
  ///     the pool closes first
  public Mono<StagingBuffer> acquire(BlockScope scope) {
    requireNonNull(scope, "scope");
    return Mono.create(sink -> {
      AtomicBoolean settled = new AtomicBoolean();
      Permits.Ticket ticket = permits.acquire(1, () -> {
        if (settled.compareAndSet(false, true)) {
          sink.success(scope.adopt(lend()));
        } else { // cancelled while the grant was on its way
          permits.release(1);
          freeIfIdle();
        }
      }, refusal -> {
        if (settled.compareAndSet(false, true)) {
          sink.error(refusal);
        }
      });
      sink.onCancel(() -> {
        if (settled.compareAndSet(false, true)) {
          ticket.cancel();
        }
      });
    });
  }

  /// A buffer if there is one now and nobody waits for it.
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
    permits.release(1);
    freeIfIdle();
  }

  MemorySegment segment(int index) {
    return memory.segment().asSlice(index * bufferBytes, bufferBytes);
  }

  public long bufferBytes() {
    return bufferBytes;
  }

  /// Buffers lent, and those who wait for one.
  public Permits permits() {
    return permits;
  }

  /// The memory behind it, for figures.
  public HostMemory memory() {
    return memory;
  }

  /// Fails those who wait, waits for the buffers that are lent, and gives the memory back. Lazy and idempotent.
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
