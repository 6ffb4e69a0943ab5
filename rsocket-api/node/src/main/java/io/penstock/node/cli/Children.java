package io.penstock.node.cli;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/// The processes that this one has started. They are ended when a signal ends this process, because their folders are
/// deleted next.
final class Children {
  private static final int PATIENCE_SECONDS = 5;

  private Children() {}

  /// Ends them now and waits until they are gone, for a while.
  static void end() {
    List<ProcessHandle> all = ProcessHandle.current().children().toList();
    all.forEach(ProcessHandle::destroyForcibly);
    CompletableFuture.allOf(all.stream().map(ProcessHandle::onExit).toArray(CompletableFuture<?>[]::new))
        .completeOnTimeout(null, PATIENCE_SECONDS, TimeUnit.SECONDS).join();
  }
}
