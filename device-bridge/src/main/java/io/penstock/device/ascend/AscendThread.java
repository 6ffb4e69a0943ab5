package io.penstock.device.ascend;

import io.penstock.device.DeviceQueue;
import io.penstock.device.ascend.acl.AclRuntime;
import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.util.Logger;
import reactor.util.Loggers;

/// The work queue of one device and its context. Threads belong to the scheduler, which may use them for other work:
/// each piece of work sets the context and restores the one before.
record AscendThread(AclRuntime runtime, MemorySegment context, DeviceQueue queue) {
  private static final Logger LOG = Loggers.getLogger(AscendThread.class);

  /// Runs `work` on the device's thread; an exception of it is the result.
  ///
  /// @param refused runs if `work` does not
  <T> Mono<T> submitted(Consumer<MonoSink<T>> work, Runnable refused) {
    return Mono.create(sink -> queue.submit(new DeviceQueue.Work() {
      private boolean begun;

      @Override
      public void run() {
        try {
          inContext(() -> {
            begun = true;
            work.accept(sink);
          });
        } catch (Throwable e) { // the result of this work, and of no other
          if (!begun) {
            refused.run();
          }
          sink.error(e);
        }
      }

      @Override
      public void refuse(RuntimeException reason) {
        refused.run();
        sink.error(reason);
      }
    }));
  }

  /// Runs `work` where a refusal needs no action.
  <T> Mono<T> submitted(Consumer<MonoSink<T>> work) {
    return submitted(work, () -> {});
  }

  /// Runs work that gives something back, which cannot be refused.
  void submitReturn(Runnable work) {
    queue.submitReturn(() -> inContext(work));
  }

  /// Runs work at once: for the device's thread.
  void inContext(Runnable work) {
    MemorySegment before = runtime.context();
    runtime.setContext(context);
    try {
      work.run();
    } finally {
      putBack(before);
    }
  }

  /// The work has been done: it does not fail if this does.
  private void putBack(MemorySegment before) {
    try {
      runtime.setContext(before);
    } catch (RuntimeException e) {
      LOG.warn("the context that was there before could not be set", e);
    }
  }
}
