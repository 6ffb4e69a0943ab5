package io.penstock.node.trace;

import io.penstock.node.cli.DataException;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Queue;
import java.util.zip.ZipException;
import org.jspecify.annotations.Nullable;

/// Reads a trace line by line, in the Mooncake form, in AIPerf's form, or in the Qwen-Bailian form, which has a
/// `chat_id` in each line and counts seconds. Packed traces are unpacked on the way. Empty lines and unknown fields are
/// passed over; a trace without a request breaks the form.
///
/// Requests come in the order of the lines. A trace whose first line has a `session_id` is read whole before its first
/// request, and its requests come in the order of their arrival: such traces list one session after another. Memory
/// then holds 8 bytes for each block that a line adds to its session, 256 MiB at most.
public final class TraceReader implements TraceSource {
  static final int MAX_LINE_BYTES = 16 << 20;
  private static final int MAX_HELD_BLOCKS = 32 << 20;

  private final String file;
  private final LineReader lines;
  private final LineParser parser;
  private final TraceOptions options;
  private final Sessions sessions;
  private final SkippedLines skipped;
  private final Queue<ArrivedRow> held = new ArrayDeque<>();
  private int blockTokens = Conversation.BLOCK_TOKENS;
  private long line;
  private boolean hasRequest;
  private double lastMillis;
  /// The first line whose timestamp is before that of a line above; 0 for none.
  private long backAt;

  /// @param file named in errors
  TraceReader(String file, InputStream in) {
    this(file, in, TraceOptions.defaults());
  }

  /// @param file named in errors
  TraceReader(String file, InputStream in, TraceOptions options) {
    this.file = file;
    this.lines = new LineReader(in, MAX_LINE_BYTES);
    this.parser = new LineParser(file);
    this.options = options;
    this.sessions = new Sessions(options.turns());
    this.skipped = new SkippedLines(options.skipBad());
  }

  /// Opens the trace in `file`, no line of which may break the form.
  ///
  /// @throws UncheckedIOException if there is no such file or it cannot be read
  public static TraceReader open(Path file) {
    return open(file, TraceOptions.defaults());
  }

  static TraceReader open(Path file, TraceOptions options) {
    try {
      return new TraceReader(file.toString(), TraceStream.open(file), options);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public @Nullable TraceRequest next() {
    try {
      ArrivedRow next = held.isEmpty() ? read() : held.remove();
      return next == null ? null : next.request();
    } catch (EOFException | ZipException e) {
      throw new DataException("%s must be whole gzip (after line %d: %s)".formatted(file, line,
          e instanceof EOFException ? "cut off" : e.getMessage()), e);
    } catch (IOException e) {
      throw new UncheckedIOException(file + ": " + e.getMessage(), e);
    }
  }

  @Override
  public int blockTokens() {
    return blockTokens;
  }

  /// Number of lines that broke the form and were skipped so far.
  long skipped() {
    return skipped.count();
  }

  @Override
  public void close() {
    skipped.note().ifPresent(options.notes());
    if (backAt > 0) {
      options.notes().accept("%s, line %d: timestamp is before that of the line above; requests are served in the order"
          .formatted(file, backAt) + " of the lines");
    }
    try {
      lines.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private @Nullable ArrivedRow read() throws IOException {
    boolean isFirst = !hasRequest;
    ArrivedRow row = row();
    if (row == null && isFirst) {
      throw parser.broken(line + 1, "request", "there at least once", "absent");
    }
    return row != null && isFirst && sessions.isUsed() ? earliest(row) : row;
  }

  /// Reads to the end, and holds all rows but the one that arrived first.
  private ArrivedRow earliest(ArrivedRow first) throws IOException {
    List<ArrivedRow> rows = new ArrayList<>();
    for (ArrivedRow row = first; row != null; row = row()) {
      rows.add(row);
      if (sessions.blocks() > MAX_HELD_BLOCKS) {
        throw parser.broken(line, "blocks of all sessions", "<= " + MAX_HELD_BLOCKS, String.valueOf(sessions.blocks()));
      }
    }
    rows.sort(Comparator.comparingDouble(ArrivedRow::millis));
    held.addAll(rows);
    return held.remove();
  }

  /// The next line that keeps the form; null after the last one.
  private @Nullable ArrivedRow row() throws IOException {
    while (lines.next()) {
      line++;
      try {
        if (lines.isTooLong()) {
          throw parser.broken(line, "line", "<= " + MAX_LINE_BYTES + " bytes", "longer");
        }
        if (!isBlank()) {
          return complete(parser.parse(line, lines.bytes(), lines.length()));
        }
      } catch (TraceFormatException e) {
        skipped.add(e);
      }
    }
    return null;
  }

  private ArrivedRow complete(TraceRow row) {
    try {
      ArrivedRow complete = sessions.complete(row);
      blockTokens = row.blockTokens();
      hasRequest = true;
      backAt = backAt == 0 && !sessions.isUsed() && complete.millis() < lastMillis ? line : backAt;
      lastMillis = complete.millis();
      return complete;
    } catch (Sessions.Refused e) {
      throw e.in(file, line);
    }
  }

  private boolean isBlank() {
    for (int i = 0; i < lines.length(); i++) {
      if (lines.bytes()[i] > ' ' || lines.bytes()[i] < 0) {
        return false;
      }
    }
    return true;
  }
}
