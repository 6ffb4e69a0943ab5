package io.penstock.node.cli;

import java.util.function.Supplier;

/// A line that is said if a signal ends the process before this is closed: what was done so far. The exit code, 130 or 143, is the system's.
public final class LastWord implements AutoCloseable {
  private final Thread speaker;

  /// @param line made at that moment, on a thread of its own
  public LastWord(Console console, Supplier<String> line) {
    this.speaker = Thread.ofPlatform().name("penstock-last-word").unstarted(() -> console.say((console.isTerminal() ? "\n" : "") + line.get()));
    try {
      Runtime.getRuntime().addShutdownHook(speaker);
    } catch (IllegalStateException e) { // the process is ending: nothing was done before
      return;
    }
  }

  /// Leaves it unsaid. Idempotent.
  @Override
  public void close() {
    try {
      Runtime.getRuntime().removeShutdownHook(speaker);
    } catch (IllegalStateException e) { // the process is ending: it is being said
      return;
    }
  }
}
