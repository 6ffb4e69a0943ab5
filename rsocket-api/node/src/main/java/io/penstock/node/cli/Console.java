package io.penstock.node.cli;

import io.penstock.node.text.Json;
import io.penstock.node.text.Reason;
import io.penstock.node.text.Terminal;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.stream.Collectors;
import tools.jackson.databind.node.ObjectNode;

/// The streams and variables of a command. Results, for machines as for people, go to `out`; everything else goes to
/// `err`.
///
/// @param in bytes fed to the command
/// @param out results, as text or bytes
/// @param err progress, explanations, complaints
/// @param isTerminal whether `err` is a terminal, so that a bar may be redrawn there
/// @param showsResults whether `out` is a terminal, which raw bytes would upset
/// @param environment variables of the process
public record Console(InputStream in, PrintStream out, PrintStream err, boolean isTerminal, boolean showsResults,
    Map<String, String> environment) {
  /// A console whose results go to no terminal.
  public Console(InputStream in, PrintStream out, PrintStream err, boolean isTerminal,
      Map<String, String> environment) {
    this(in, out, err, isTerminal, false, environment);
  }

  /// The one of this process.
  public static Console ofProcess() {
    return new Console(new FileInputStream(FileDescriptor.in), stream(FileDescriptor.out), stream(FileDescriptor.err),
        Terminal.isBehind(2) && !"dumb".equals(System.getenv("TERM")), Terminal.isBehind(1), System.getenv());
  }

  /// A console with the same streams that shows progress in lines instead of bars.
  public Console withoutBars() {
    return new Console(in, out, err, false, showsResults, environment);
  }

  private static PrintStream stream(FileDescriptor descriptor) {
    return new PrintStream(new FileOutputStream(descriptor), true, StandardCharsets.UTF_8);
  }

  /// Prints one result as a line of JSON.
  ///
  /// @param result records, maps and lists
  public void json(Object result) {
    print(Json.of(result));
  }

  /// Prints one result as lines of text, in characters that a terminal can show.
  public void print(String line) {
    out.print(Reason.printableLines(line) + "\n");
    requireHeard();
  }

  /// Throws if standard output takes no more results: a `PrintStream` does not report that, and an endless stream of
  /// results would go on.
  ///
  /// @throws UncheckedIOException if `out` failed, for instance because the reader of a pipe went away
  public void requireHeard() {
    if (out.checkError()) {
      throw new UncheckedIOException("standard output must accept the results (was closed by its reader, or "
          + "full)",
          new IOException("standard output failed"));
    }
  }

  /// Prints a line for people that is not the result, in characters that a terminal can show.
  public void say(String line) {
    err.print(fitted(Reason.printableLines(line)) + "\n");
  }

  /// `text` with its lines broken to fit the terminal, where `err` is one.
  String fitted(String text) {
    return isTerminal
        ? text.lines().map(line -> Terminal.wrapped(line, 2)).collect(Collectors.joining("\n"))
        : text;
  }

  /// JSON of `result`, marked as the state of interrupted work.
  static String interrupted(Object result) {
    ObjectNode document = Json.MAPPER.valueToTree(result);
    return document.put("interrupted", true).toString();
  }
}
