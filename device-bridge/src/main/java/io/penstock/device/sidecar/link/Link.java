package io.penstock.device.sidecar.link;

import io.penstock.KvException;
import io.penstock.device.sidecar.link.FrameCodec.MalformedFrameException;

/// One connection, for its sender. Safe from any thread; no call waits.
public interface Link {
  void send(Frame frame);

  /// Sends `frame`, then closes.
  void sendLast(Frame frame);

  /// Idempotent.
  void close();

  /// A message and the number of the request that it is, or that it answers.
  ///
  /// @param request counts from 1 on each link; 0 in an answer to an unreadable frame
  record Frame(long request, SideCarMessage message) {}

  /// What happens on one connection, in order: opened at most once, frames, closed exactly once. Must not wait.
  interface Events {
    void opened(Link link);

    void received(Frame frame);

    /// The received bytes could not be read; no more frames follow.
    void malformed(MalformedFrameException problem);

    void closed(KvException why);
  }

  /// Makes connections to a node.
  @FunctionalInterface
  interface Dialer {
    /// Begins to connect and returns; `events` receives the result.
    void dial(Events events);
  }
}
