package io.penstock.examples.disaggregated.node;

import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.text.Json;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/// The other end of a [ChildPeer]: answers the lines of standard input until it ends.
///
/// @param console of the process
/// @param peer that answers
public record ChildLoop(Console console, Peer peer) {
  private static final Duration GOODBYE = Duration.ofSeconds(3);

  public void run(Reply started) throws IOException {
    endWithTheParent();
    console.json(started);
    BufferedReader lines = new BufferedReader(new InputStreamReader(console.in(), StandardCharsets.UTF_8));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      console.json(answer(peer, Json.MAPPER.readValue(line, Ask.class)));
    }
  }

  /// A request that fails ends no other.
  static Reply answer(Peer peer, Ask ask) {
    try {
      return peer.ask(ask);
    } catch (RuntimeException e) {
      return Reply.failed(Reply.Failure.of(ask.request(), e));
    }
  }

  /// A long computation reads no line, so it does not notice that standard input has ended.
  private static void endWithTheParent() {
    ProcessHandle.current().parent().ifPresent(parent -> Thread.ofPlatform().name("penstock-parent").daemon()
        .start(() -> {
          parent.onExit().join();
          Thread.ofPlatform().daemon().start(() -> System.exit(ExitCode.UNAVAILABLE)); // deletes temporary folders
          LockSupport.parkNanos(GOODBYE.toNanos());
          Runtime.getRuntime().halt(ExitCode.UNAVAILABLE);
        }));
  }
}
