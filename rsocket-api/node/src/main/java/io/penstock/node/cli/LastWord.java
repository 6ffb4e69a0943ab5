package io.penstock.node.cli;

import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// A line that is said if a signal ends the process before this is closed: what was done so far. The exit code, 130 or
/// 143, is the system's.
public final class LastWord implements AutoCloseable {
  private final Supplier<@Nullable String> result;
  private final @Nullable Thread speaker;

  /// @param line made at that moment, on a thread of its own
  public LastWord(Console console, Supplier<String> line) {
    this(console, line, () -> null);
  }

  /// @param result printed as well, unless it is null; made as `line` is
  LastWord(Console console, Supplier<String> line, Supplier<@Nullable String> result) {
    this.result = result;
    this.speaker = begun(Thread.ofPlatform().name("penstock-last-word").unstarted(() -> {
      console.say((console.isTerminal() ? "\n" : "") + line.get());
      String done = result.get();
      if (done != null) {
        console.out().print(done + "\n"); // nothing is to be done if nobody hears it
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

  /// Leaves it unsaid. Idempotent. If it is being said, and there is a result, this does not return: whoever went on
  /// might print a second one.
  @Override
  public void close() {
    try {
      if (speaker != null) {
        Runtime.getRuntime().removeShutdownHook(speaker);
      }
    } catch (IllegalStateException e) { // the process is ending
      if (result.get() != null) {
        awaitEnd();
      }
    }
  }

  private void awaitEnd() {
    while (true) {
      LockSupport.park(this);
      Thread.interrupted(); // or it would not park again
    }
  }
}
