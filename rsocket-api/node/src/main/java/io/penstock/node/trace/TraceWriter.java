package io.penstock.node.trace;

import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;

/// Writes requests in the form, one a line, spaced as the published traces are; packs them when the file ends with
/// `.gz`.
public final class TraceWriter implements AutoCloseable {
  private final Writer out;
  private final StringBuilder line = new StringBuilder();

  /// @param out flushed and closed by this writer
  public TraceWriter(OutputStream out) {
    this.out = new BufferedWriter(new OutputStreamWriter(out, StandardCharsets.US_ASCII));
  }

  /// Creates or replaces `file`.
  public static TraceWriter create(Path file) {
    try {
      OutputStream out = Files.newOutputStream(file);
      return new TraceWriter(
          file.toString().toLowerCase(Locale.ROOT).endsWith(".gz") ? new GZIPOutputStream(out) : out);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public void write(TraceRequest request) {
    write(request, null);
  }

  /// @param session of the request, in letters, digits and hyphens; null for none
  public void write(TraceRequest request, @Nullable String session) {
    line.setLength(0);
    line.append('{');
    if (session != null) {
      line.append("\"session_id\": \"").append(session).append("\", ");
    }
    line.append("\"timestamp\": ").append(request.timestampMillis())
        .append(", \"input_length\": ").append(request.inputTokens())
        .append(", \"output_length\": ").append(request.outputTokens())
        .append(", \"hash_ids\": ").append(ids(request)).append("}\n");
    try {
      out.append(line);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String ids(TraceRequest request) {
    return request.hashIds().stream().map(Long::toUnsignedString).collect(Collectors.joining(", ", "[", "]"));
  }

  @Override
  public void close() {
    try {
      out.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
