package io.penstock.resp;

import java.util.List;

/// What answers one kind of request.
interface Command {
  /// Answers a request. On the event loop of the channel, which it must not block.
  ///
  /// @param args the name of the command first; as many as the command needs at least
  /// @param done run once, on the loop, when the reply is written
  void run(Session session, List<byte[]> args, Runnable done);

  /// A command that is answered at once.
  interface AtOnce {
    /// Answers a request.
    void run(Session session, List<byte[]> args);

    /// This command as any other.
    default Command command() {
      return (session, args, done) -> {
        run(session, args);
        done.run();
      };
    }
  }
}
