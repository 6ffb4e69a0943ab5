package io.penstock.node.cli;

import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import tools.jackson.databind.node.ObjectNode;

/// What a command has around it. Results, for machines as for people, go to `out`; everything else goes to `err`.
///
/// @param in bytes fed to the command
/// @param out results, as text or bytes
/// @param err progress, explanations, complaints
/// @param isTerminal whether a person watches `err`, so that it may be redrawn
/// @param environment variables of the process
public record Console(InputStream in, PrintStream out, PrintStream err, boolean isTerminal,
    Map<String, String> environment) {
  /// The one of this process.
  public static Console ofProcess() {
    return new Console(new FileInputStream(FileDescriptor.in), stream(FileDescriptor.out), stream(FileDescriptor.err),
        watched(),
        System.getenv());
  }

  private static PrintStream stream(FileDescriptor descriptor) {
    return new PrintStream(new FileOutputStream(descriptor), true, StandardCharsets.UTF_8);
  }

  private static boolean watched() {
    java.io.Console console = System.console();
    return console != null && console.isTerminal() && !"dumb".equals(System.getenv("TERM"));
  }

  /// Prints one result as a line of JSON.
  ///
  /// @param result records, maps and lists
  public void json(Object result) {
    print(Json.of(result));
  }

  /// Prints one result as a line of text.
  public void print(String line) {
    out.print(line + "\n");
    requireHeard();
  }

  /// Throws if nobody takes results any more: a `PrintStream` keeps that to itself, and a stream of results would go on
  /// for ever.
  ///
  /// @throws UncheckedIOException if `out` failed, for instance because the reader of a pipe went away
  public void requireHeard() {
    if (out.checkError()) {
      throw new UncheckedIOException("standard output must take the results (was closed by its reader, or full)",
          new IOException("standard output failed"));
    }
  }

  /// Tells a person something that is not the result.
  public void say(String line) {
    err.print(line + "\n");
  }

  /// What `result` is in JSON, and that it is what an interrupted work had come to.
  static String interrupted(Object result) {
    ObjectNode document = Json.MAPPER.valueToTree(result);
    return document.put("interrupted", true).toString();
  }
}
