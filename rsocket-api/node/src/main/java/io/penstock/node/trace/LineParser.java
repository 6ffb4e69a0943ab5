package io.penstock.node.trace;

import io.penstock.node.text.Numbers;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.exc.StreamConstraintsException;
import tools.jackson.core.exc.StreamReadException;
import tools.jackson.core.json.JsonFactory;

/// Parses a line of a trace. A field whose value is null counts as absent, and fields of other names are passed over.
final class LineParser {
  static final int BAILIAN_BLOCK_TOKENS = 16;

  private static final double MOST_MILLIS = 1e15;
  private static final String MILLIS = "milliseconds in [0, 1e15]";
  private static final String SECONDS = "seconds in [0, 1e12]";
  private static final String ID = "whole numbers in [0, 2^64 - 1]";
  private static final int ID_BITS = 64;
  /// Fields of AIPerf that state a prompt by its text.
  private static final Set<String> TEXTS = Set.of("messages", "text_input", "payload");

  private final JsonFactory json = new JsonFactory();
  private final String file;

  /// @param file named in errors
  LineParser(String file) {
    this.file = file;
  }

  /// Parses the first `length` of `bytes`.
  ///
  /// @param line number of the line
  TraceRow parse(long line, byte[] bytes, int length) {
    String text = new String(bytes, 0, Math.min(length, 256), StandardCharsets.UTF_8);
    try (JsonParser parser = json.createParser(ObjectReadContext.empty(), bytes, 0, length)) {
      if (parser.nextToken() != JsonToken.START_OBJECT) {
        throw broken(line, "line", "a JSON object", text);
      }
      TraceRow row = new Line(line, parser).row();
      if (parser.nextToken() != null) {
        throw broken(line, "line", "one JSON object", text);
      }
      return row;
    } catch (StreamConstraintsException e) {
      throw broken(line, "line", "JSON of usual depth and length", text);
    } catch (StreamReadException e) {
      throw broken(line, "line", "JSON", text);
    }
  }

  TraceFormatException broken(long line, String field, String rule, String value) {
    return new TraceFormatException(file, line, field, rule, value);
  }

  /// The fields of one line.
  private final class Line {
    private final long line;
    private final JsonParser parser;
    private @Nullable Double timestamp;
    private @Nullable Double delay;
    private @Nullable String session;
    private @Nullable Long input;
    private @Nullable Long output;
    private long @Nullable [] ids;
    private boolean isBailian;
    private @Nullable String text;

    Line(long line, JsonParser parser) {
      this.line = line;
      this.parser = parser;
    }

    TraceRow row() {
      while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
        String field = parser.currentName();
        if (parser.nextToken() != JsonToken.VALUE_NULL) {
          field(field);
        }
      }
      double unit = isBailian ? 1000 : 1;
      return new TraceRow(line, millis("timestamp", timestamp, unit), millis("delay", delay, unit), session,
          present("input_length", input), output == null ? 0 : output, ids(ids),
          isBailian ? BAILIAN_BLOCK_TOKENS : Conversation.BLOCK_TOKENS);
    }

    /// @throws TraceFormatException if a prompt that fills a block has none
    private void requireSome(long[] present) {
      if (present.length == 0 && session == null
          && present("input_length", input) >= (isBailian ? BAILIAN_BLOCK_TOKENS : Conversation.BLOCK_TOKENS)) {
        throw refused("hash_ids", "at least one for an input_length of " + input, "none");
      }
    }

    private void field(String field) {
      switch (field) {
        case "timestamp" -> timestamp = number(field);
        case "delay" -> delay = number(field);
        case "session_id" -> session = name(field);
        case "chat_id" -> {
          isBailian = true;
          parser.skipChildren();
        }
        case "input_length" -> input = whole(field);
        case "output_length" -> output = whole(field);
        case "hash_ids" -> ids = ids();
        default -> {
          text = TEXTS.contains(field) ? field : text;
          parser.skipChildren();
        }
      }
    }

    private <T> T present(String field, @Nullable T value) {
      if (value == null) {
        throw text == null
            ? refused(field, "present", "absent")
            : refused(field, "present beside " + text + ", since Penstock does not cut a text into blocks", "absent");
      }
      return value;
    }

    private long[] ids(long @Nullable [] found) {
      long[] present = present("hash_ids", found);
      if (Arrays.stream(present).distinct().count() != present.length) {
        throw refused("hash_ids", "distinct, as each stands for all before it",
            Arrays.toString(Arrays.stream(present).mapToObj(Long::toUnsignedString).toArray()));
      }
      requireSome(present);
      return present;
    }

    private @Nullable Double millis(String field, @Nullable Double value, double unit) {
      if (value != null && !(value >= 0 && value * unit <= MOST_MILLIS)) {
        throw refused(field, isBailian ? SECONDS : MILLIS, Numbers.plain(value));
      }
      return value == null ? null : value * unit;
    }

    private double number(String field) {
      if (!parser.currentToken().isNumeric()) {
        throw refused(field, "a number", parser.getString());
      }
      return parser.getDoubleValue();
    }

    private String name(String field) {
      if (!parser.currentToken().isScalarValue()) {
        throw refused(field, "a text or a number", parser.getString());
      }
      return parser.getString();
    }

    private long whole(String field) {
      boolean fits = parser.currentToken() == JsonToken.VALUE_NUMBER_INT
          && parser.getNumberType() != JsonParser.NumberType.BIG_INTEGER;
      if (!fits || parser.getLongValue() < 0) {
        throw refused(field, "a whole number >= 0", parser.getString());
      }
      return parser.getLongValue();
    }

    private long[] ids() {
      if (parser.currentToken() != JsonToken.START_ARRAY) {
        throw refused("hash_ids", "an array of whole numbers", parser.getString());
      }
      long[] found = new long[16];
      int count = 0;
      while (parser.nextToken() != JsonToken.END_ARRAY) {
        found = count == found.length ? Arrays.copyOf(found, 2 * count) : found;
        found[count++] = id();
      }
      return Arrays.copyOf(found, count);
    }

    private long id() {
      if (parser.currentToken() != JsonToken.VALUE_NUMBER_INT) {
        throw refused("hash_ids", ID, parser.currentToken() == null ? "absent" : parser.getString());
      }
      if (parser.getNumberType() != JsonParser.NumberType.BIG_INTEGER) {
        long id = parser.getLongValue();
        if (id < 0) {
          throw refused("hash_ids", ID, parser.getString());
        }
        return id;
      }
      BigInteger id = parser.getBigIntegerValue();
      if (id.signum() < 0 || id.bitLength() > ID_BITS) {
        throw refused("hash_ids", ID, parser.getString());
      }
      return id.longValue();
    }

    private TraceFormatException refused(String field, String rule, String value) {
      return broken(line, field, rule, value);
    }
  }
}
