package io.penstock.wire.transfer;

import static java.util.Objects.requireNonNull;

import io.netty.util.concurrent.FastThreadLocalThread;
import io.penstock.PermanentKvException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/// Transfers for callers that wait. A wait parks its caller and nothing else: a virtual thread gives its carrier back.
/// Event loops and the other threads that Reactor says must not block are refused.
public final class BlockingTransfers {
  private final TransferEngine engine;

  BlockingTransfers(TransferEngine engine) {
    this.engine = engine;
  }

  /// A thread that must not block asked to wait.
  public static final class MustNotBlockException extends PermanentKvException {
    private final String thread;

    MustNotBlockException(String thread) {
      super("thread must be one that may block (was " + thread + ")");
      this.thread = thread;
    }

    public String thread() {
      return thread;
    }
  }

  /// Submits `batch` and waits until it has ended, within the deadlines of its items. A caller that is interrupted
  /// cancels the batch, and waits until its memory is quiet.
  ///
  /// @throws MustNotBlockException if this thread must not block; nothing was submitted
  /// @throws InterruptedException after the batch was cancelled and has ended
  public Transfer.BatchResult run(TransferBatch batch) throws InterruptedException {
    requireMayBlock();
    Transfer transfer = engine.submit(batch);
    CompletableFuture<Transfer.@Nullable BatchResult> done = transfer.done().toFuture();
    try {
      return get(done);
    } catch (InterruptedException e) {
      transfer.cancel();
      done.join(); // not interruptible: the memory is the caller's again when this returns
      throw e;
    }
  }

  /// The segments of `peer`.
  ///
  /// @throws MustNotBlockException if this thread must not block
  public List<RemoteSegment> segments(String peer) throws InterruptedException {
    requireMayBlock();
    return get(engine.segments(peer).toFuture());
  }

  /// Unregisters `segments` and waits until they are quiet.
  ///
  /// @throws MustNotBlockException if this thread must not block
  public void unregister(SegmentRegistry registry, List<Segment> segments) throws InterruptedException {
    requireMayBlock();
    Mono<Void> gone = registry.unregister(segments);
    get(gone.thenReturn(true).toFuture());
  }

  private static <T> T get(CompletableFuture<@Nullable T> future) throws InterruptedException {
    try {
      return requireNonNull(future.get());
    } catch (ExecutionException e) {
      throw e.getCause() instanceof RuntimeException failure ? failure : new IllegalStateException(e.getCause());
    }
  }

  private static void requireMayBlock() {
    Thread thread = Thread.currentThread();
    if (Schedulers.isInNonBlockingThread() || thread instanceof FastThreadLocalThread) {
      throw new MustNotBlockException(thread.getName());
    }
  }
}
