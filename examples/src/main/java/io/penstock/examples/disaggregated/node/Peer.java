package io.penstock.examples.disaggregated.node;

/// A prefill or a decode node as the story talks to it: in this process, or another one.
public interface Peer extends AutoCloseable {
  /// Asks, and waits for the answer. Safe from any thread.
  Reply ask(Ask ask);

  @Override
  void close();
}
