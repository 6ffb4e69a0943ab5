package io.penstock.examples.disaggregated.node;

import io.penstock.examples.process.OtherJvm;
import io.penstock.node.text.Json;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.concurrent.TimeUnit;

/// A node in another process: a question is a line of JSON on its standard input, the answer one on its standard
/// output. The process ends when its input does.
final class ChildPeer implements Peer {
  private static final int SECONDS_TO_END = 10;

  private final Process process;
  private final BufferedWriter asks;
  private final BufferedReader replies;

  private ChildPeer(Process process) {
    this.process = process;
    this.asks = process.outputWriter();
    this.replies = process.inputReader();
  }

  /// @param args of the story; those of the child come from them
  static ChildPeer start(List<String> args) throws IOException {
    return new ChildPeer(OtherJvm.start(List.of(), args));
  }

  /// Reply of the node when it has started.
  synchronized Reply started() {
    return read();
  }

  @Override
  public synchronized Reply ask(Ask ask) {
    try {
      asks.write(Json.of(ask));
      asks.newLine();
      asks.flush();
    } catch (IOException e) {
      throw new UncheckedIOException("child process must accept questions (exit code " + exitCode() + ")", e);
    }
    return read().requireDone();
  }

  private Reply read() {
    try {
      String line = replies.readLine();
      if (line == null) {
        throw new IOException("node ended with exit code " + exitCode() + " before it answered");
      }
      return Json.MAPPER.readValue(line, Reply.class);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private String exitCode() {
    try {
      return process.waitFor(SECONDS_TO_END, TimeUnit.SECONDS) ? "" + process.exitValue() : "unknown";
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return "unknown";
    }
  }

  @Override
  public void close() {
    try {
      asks.close();
    } catch (IOException e) { // it has ended before
      process.destroyForcibly();
    }
    exitCode();
    process.destroyForcibly();
  }
}
