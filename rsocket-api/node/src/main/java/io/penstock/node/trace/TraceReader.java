package io.penstock.node.trace;

import io.penstock.node.cli.InputFile;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.zip.GZIPInputStream;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.exc.StreamConstraintsException;
import tools.jackson.core.exc.StreamReadException;
import tools.jackson.core.json.JsonFactory;

/// Reads a trace line by line, in the Mooncake form, or in the Qwen-Bailian form, which has a `chat_id` in each line
/// and counts seconds. `.gz` files are unpacked on the way. Empty lines and unknown fields are passed over; a trace
/// without a request breaks the form.
public final class TraceReader implements TraceSource {
  static final int MAX_LINE_BYTES = 16 << 20;
  private static final int IO_BUFFER_BYTES = 64 << 10;
  private static final double MOST_SECONDS = 1e12;
  private static final int BAILIAN_BLOCK_TOKENS = 16;
  private static final String SECONDS = "seconds in [0, 1e12]";

  private final JsonFactory json = new JsonFactory();
  private final String file;
  private final LineReader lines;
  private long line;
  private boolean hasRequest;
  private int blockTokens = Conversation.BLOCK_TOKENS;

  /// @param file named in errors
  TraceReader(String file, InputStream in) {
    this.file = file;
    this.lines = new LineReader(in, MAX_LINE_BYTES);
  }

  /// Opens the trace in `file`.
  ///
  /// @throws UncheckedIOException if there is no such file or it cannot be read
  public static TraceReader open(Path file) {
    try {
      InputStream in = Files.newInputStream(InputFile.of(file.toString()));
      return new TraceReader(file.toString(), file.toString().endsWith(".gz") ? unpack(file, in) : in);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public @Nullable TraceRequest next() {
    try {
      while (lines.next()) {
        line++;
        if (lines.isTooLong()) {
          throw broken("line", "<= " + MAX_LINE_BYTES + " bytes", "longer");
        }
        if (!isBlank()) {
          hasRequest = true;
          return parse();
        }
      }
      if (!hasRequest) {
        line++;
        throw broken("request", "there at least once", "absent");
      }
      return null;
    } catch (IOException e) {
      throw new UncheckedIOException(file + ": " + e.getMessage(), e);
    }
  }

  @Override
  public int blockTokens() {
    return blockTokens;
  }

  @Override
  public void close() {
    try {
      lines.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static InputStream unpack(Path file, InputStream in) throws IOException {
    try {
      return new GZIPInputStream(in, IO_BUFFER_BYTES);
    } catch (IOException e) {
      in.close();
      throw new FileSystemException(file.toString(), null, "not packed with gzip, as its name says");
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

  private TraceRequest parse() {
    try (JsonParser parser = json.createParser(ObjectReadContext.empty(), lines.bytes(), 0, lines.length())) {
      if (parser.nextToken() != JsonToken.START_OBJECT) {
        throw broken("line", "a JSON object", text());
      }
      TraceRequest request = fields(parser);
      if (parser.nextToken() != null) {
        throw broken("line", "one JSON object", text());
      }
      return request;
    } catch (StreamConstraintsException e) {
      throw broken("line", "JSON within limits", e.getOriginalMessage());
    } catch (StreamReadException e) {
      throw broken("line", "JSON, but " + e.getOriginalMessage().lines().findFirst().orElse("it is not"), text());
    }
  }

  private TraceRequest fields(JsonParser parser) {
    String timestamp = null;
    boolean isBailian = false;
    Long input = null;
    Long output = null;
    List<Long> ids = null;
    while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
      String field = parser.currentName();
      parser.nextToken();
      switch (field) {
        case "timestamp" -> timestamp = text(parser);
        case "chat_id" -> {
          isBailian = true;
          parser.skipChildren();
        }
        case "input_length" -> input = whole(parser, field);
        case "output_length" -> output = whole(parser, field);
        case "hash_ids" -> ids = ids(parser);
        default -> parser.skipChildren();
      }
    }
    blockTokens = isBailian ? BAILIAN_BLOCK_TOKENS : Conversation.BLOCK_TOKENS;
    String arrival = present("timestamp", timestamp);
    return new TraceRequest(isBailian ? secondsInMillis(arrival) : millis(arrival), present("input_length", input),
        present("output_length", output), present("hash_ids", ids));
  }

  private long millis(String timestamp) {
    if (!timestamp.chars().allMatch(Character::isDigit)) {
      throw broken("timestamp", "a whole number >= 0", timestamp);
    }
    return Long.parseLong(timestamp);
  }

  private long secondsInMillis(String timestamp) {
    double seconds = Double.parseDouble(timestamp); // a number, as the parser has found
    if (seconds < 0 || seconds > MOST_SECONDS) {
      throw broken("timestamp", SECONDS, timestamp);
    }
    return Math.round(1000 * seconds);
  }

  private <T> T present(String field, @Nullable T value) {
    if (value == null) {
      throw broken(field, "present", "absent");
    }
    return value;
  }

  /// Text of a number as it is written; any other value is refused.
  private String text(JsonParser parser) {
    return parser.currentToken() == JsonToken.VALUE_NUMBER_FLOAT
        ? parser.getString()
        : String.valueOf(whole(parser, "timestamp"));
  }

  private long whole(JsonParser parser, String field) {
    boolean fits = parser.currentToken() == JsonToken.VALUE_NUMBER_INT
        && parser.getNumberType() != JsonParser.NumberType.BIG_INTEGER;
    if (!fits || parser.getLongValue() < 0) {
      throw broken(field, "a whole number >= 0", parser.currentToken() == null ? "absent" : parser.getString());
    }
    return parser.getLongValue();
  }

  private List<Long> ids(JsonParser parser) {
    if (parser.currentToken() != JsonToken.START_ARRAY) {
      throw broken("hash_ids", "an array of whole numbers", parser.getString());
    }
    List<Long> ids = new ArrayList<>();
    while (parser.nextToken() != JsonToken.END_ARRAY) {
      ids.add(whole(parser, "hash_ids"));
    }
    if (new HashSet<>(ids).size() != ids.size()) {
      throw broken("hash_ids", "distinct, as each stands for all before it", ids.toString());
    }
    return ids;
  }

  private String text() {
    return new String(lines.bytes(), 0, Math.min(lines.length(), 256), StandardCharsets.UTF_8);
  }

  private TraceFormatException broken(String field, String rule, String value) {
    return new TraceFormatException(file, line, field, rule, value);
  }
}
