package io.penstock.node.cli;

import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Hooks;

/// A line about the work done so far, printed if a signal ends the process before this is closed. The system sets the
/// exit code, 130 or 143.
public final class LastWord implements AutoCloseable {
  private final @Nullable Thread speaker;

  /// @param line made at that moment, on a thread of its own
  public LastWord(Console console, Supplier<String> line) {
    this(console, line, () -> null);
  }

  /// @param result printed as well, unless it is null; made as `line` is
  LastWord(Console console, Supplier<String> line, Supplier<@Nullable String> result) {
    this.speaker = begun(Thread.ofPlatform().name("penstock-last-word").unstarted(() -> {
      Hooks.onErrorDropped(dropped -> {}); // connections break when the process ends: no news
      console.say((console.isTerminal() ? "\n" : "") + line.get());
      String done = result.get();
      if (done != null) {
        console.out().print(done + "\n"); // a reader that has gone away is no matter now
      }
    }));
  }

  private static @Nullable Thread begun(Thread speaker) {
    try {
      Runtime.getRuntime().addShutdownHook(speaker);
      return speaker;
    } catch (IllegalStateException e) { // the process is ending: nothing was done before
      return null;
    }
  }

  /// Leaves it unsaid. Idempotent. Does not return once the process is ending: a caller would print another result, or
  /// report a failure that only the end has caused.
  @Override
  public void close() {
    try {
      if (speaker != null) {
        Runtime.getRuntime().removeShutdownHook(speaker);
      }
    } catch (IllegalStateException e) { // the process is ending
      awaitEnd();
    }
  }

  private void awaitEnd() {
    while (true) {
      LockSupport.park(this);
      Thread.interrupted(); // or it would not park again
    }
  }
}
