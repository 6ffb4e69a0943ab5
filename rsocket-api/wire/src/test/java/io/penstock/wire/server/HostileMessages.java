package io.penstock.wire.server;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.penstock.wire.protocol.ControlCodec;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.ObjectMapper;
import tools.jackson.dataformat.cbor.CBORMapper;

/// Control messages that a stranger makes so that reading them takes long: one field of a good message is replaced by a
/// value of a chosen size, in every form that CBOR and JSON have for values of many parts, or by a number for which a
/// node could reserve or compute something.
final class HostileMessages {
  private static final ObjectMapper TREES = CBORMapper.builder().build();
  private static final long[] NUMBERS = {0, -1, 1, 255, 65_535, 1 << 20, 1 << 24, Integer.MAX_VALUE, Integer.MIN_VALUE,
    1L << 40, Long.MAX_VALUE, Long.MIN_VALUE};

  private HostileMessages() {}

  /// Bytes in place of a value.
  private record Encoded(byte[] bytes) {}

  /// Form of a hostile value.
  enum Form {
    TAGS, LONG_TAGS, TAGS_IN_LIST, LISTS, OPEN_LISTS, MAPS, NUMBERS, WORDS, EMPTY_LISTS, EMPTY_MAPS, NULLS, FIELDS,
    SAME_FIELD, LONG_FIELD, LONG_FIELDS, BYTES, CHUNKS, EMPTY_CHUNKS, TEXT, WIDE_TEXT, TEXT_CHUNKS, BAD_TEXT,
    BIG_NUMBER, DIGITS, DECIMAL, FLOATS, FALSE_LENGTH, BLANKS, ESCAPES, HASHES, ONE_HASH, LARGE_NUMBER
  }

  /// `message` with a value of `form` that has about `size` bytes.
  static byte[] of(ControlCodec codec, Object message, Form form, int size, SplittableRandom random) {
    ByteBuf good = ControlCodec.CBOR.encode(message, UnpooledByteBufAllocator.DEFAULT);
    Map<String, @Nullable Object> tree = tree(good);
    byte[] value = codec == ControlCodec.CBOR ? cbor(form, size, random) : json(form, size, random);
    if (form == Form.LARGE_NUMBER) {
      for (int i = random.nextInt(1, 4); i > 0; i--) {
        replaceNumber(tree, NUMBERS[random.nextInt(NUMBERS.length)], random);
      }
    } else {
      replace(tree, new Encoded(value), random);
    }
    return codec == ControlCodec.CBOR ? cbor(tree) : json(tree);
  }

  @SuppressWarnings("unchecked") // messages are maps with names
  private static Map<String, @Nullable Object> tree(ByteBuf message) {
    try {
      return TREES.readValue(ByteBufUtil.getBytes(message), LinkedHashMap.class);
    } finally {
      message.release();
    }
  }

  /// Replaces a field, or adds one that the node does not know.
  private static void replace(Object node, Object value, SplittableRandom random) {
    if (node instanceof Map<?, ?> map && !map.isEmpty()) {
      @SuppressWarnings("unchecked")
      Map<String, Object> fields = (Map<String, Object>) map;
      List<String> names = List.copyOf(fields.keySet());
      String name = random.nextInt(4) == 0 ? "unknown" : names.get(random.nextInt(names.size()));
      Object old = fields.get(name);
      if (random.nextBoolean() && isParent(old)) {
        replace(old, value, random);
      } else {
        fields.put(name, value);
      }
    } else if (node instanceof List<?> list && !list.isEmpty()) {
      @SuppressWarnings("unchecked")
      List<Object> elements = (List<Object>) list;
      int at = random.nextInt(elements.size());
      if (random.nextBoolean() && isParent(elements.get(at))) {
        replace(elements.get(at), value, random);
      } else {
        elements.set(at, value);
      }
    }
  }

  private static boolean isParent(@Nullable Object node) {
    return (node instanceof Map<?, ?> map && !map.isEmpty()) || (node instanceof List<?> list && !list.isEmpty());
  }

  private static void replaceNumber(Object node, long value, SplittableRandom random) {
    List<Runnable> places = new ArrayList<>();
    numbers(node, value, places);
    if (!places.isEmpty()) {
      places.get(random.nextInt(places.size())).run();
    }
  }

  @SuppressWarnings("unchecked")
  private static void numbers(@Nullable Object node, long value, List<Runnable> places) {
    if (node instanceof Map<?, ?> map) {
      map.forEach((name, child) -> {
        if (child instanceof Number) {
          places.add(() -> ((Map<Object, Object>) map).put(name, value));
        }
        numbers(child, value, places);
      });
    } else if (node instanceof List<?> list) {
      for (int i = 0; i < list.size(); i++) {
        int at = i;
        if (list.get(i) instanceof Number) {
          places.add(() -> ((List<Object>) list).set(at, value));
        }
        numbers(list.get(i), value, places);
      }
    }
  }

  private static byte[] cbor(Form form, int size, SplittableRandom random) {
    return switch (form) {
      case TAGS -> repeated(size, 0xC1, 0x00);
      case LONG_TAGS -> joined(times(size / 9, 0xDB, 1, 2, 3, 4, 5, 6, 7, 8), bytes(0x00));
      case TAGS_IN_LIST -> joined(bytes(0x9F), times(size / 2, 0xC1, 0x00), bytes(0xFF));
      case LISTS -> repeated(size, 0x81, 0x00);
      case OPEN_LISTS -> joined(times(size / 2, 0x9F), times(size / 2, 0xFF));
      case MAPS -> joined(times(size / 3, 0xA1, 0x61, 'a'), bytes(0x00));
      case NUMBERS -> joined(bytes(0x9F), times(size, random.nextInt(24)), bytes(0xFF));
      case WORDS -> joined(bytes(0x9F), times(size / 2, 0x61, 'a'), bytes(0xFF));
      case EMPTY_LISTS -> joined(bytes(0x9F), times(size, 0x80), bytes(0xFF));
      case EMPTY_MAPS -> joined(bytes(0x9F), times(size, 0xA0), bytes(0xFF));
      case NULLS -> joined(bytes(0x9F), times(size, 0xF6), bytes(0xFF));
      case FIELDS -> joined(bytes(0xBF), names(size / 6, random), bytes(0xFF));
      case SAME_FIELD -> joined(bytes(0xBF), times(size / 3, 0x61, 'a', 0x00), bytes(0xFF));
      case LONG_FIELD -> joined(bytes(0xBF), head(0x60, size), times(size, 'n'), bytes(0x00, 0xFF));
      case LONG_FIELDS -> joined(bytes(0xBF), longNames(size, random), bytes(0xFF));
      case BYTES -> joined(head(0x40, size), new byte[size]);
      case CHUNKS -> joined(bytes(0x5F), times(size / 2, 0x41, 7), bytes(0xFF));
      case EMPTY_CHUNKS -> joined(bytes(0x5F), times(size, 0x40), bytes(0xFF));
      case TEXT -> joined(head(0x60, size), times(size, 'a'));
      case WIDE_TEXT -> joined(head(0x60, size / 4 * 4L), times(size / 4, 0xF0, 0x9F, 0x98, 0x80));
      case TEXT_CHUNKS -> joined(bytes(0x7F), times(size / 2, 0x61, 'a'), bytes(0xFF));
      case BAD_TEXT -> joined(head(0x60, size), times(size, 0xFF));
      case BIG_NUMBER -> joined(bytes(0xC2), head(0x40, size), times(size, 0x7F));
      case DIGITS -> joined(bytes(0x9F), times(size / 9, 0x1B, 1, 2, 3, 4, 5, 6, 7, 8), bytes(0xFF));
      case DECIMAL -> joined(bytes(0xC4, 0x82, 0x1A, 0x7F, 0xFF, 0xFF, 0xFF, 0xC2), head(0x40, size),
          times(size, 0x7F));
      case FLOATS -> joined(bytes(0x9F), times(size / 3, 0xF9, 1, 2), bytes(0xFF));
      case FALSE_LENGTH -> joined(bytes(0x9F), times(size / 5, 0x5A, 0x7F, 0xFF, 0xFF, 0xFF));
      case BLANKS -> times(size, 0xF6);
      case ESCAPES -> joined(bytes(0x9F), times(size / 2, 0xF8, 0x20), bytes(0xFF));
      case HASHES -> joined(head(0x40, size / 16 * 16L), noise(size / 16 * 16, random));
      case ONE_HASH -> joined(head(0x40, size / 16 * 16L), new byte[size / 16 * 16]);
      case LARGE_NUMBER -> bytes(0);
    };
  }

  private static byte[] json(Form form, int size, SplittableRandom random) {
    return ascii(switch (form) {
      case TAGS, LISTS -> "[".repeat(size / 2) + "]".repeat(size / 2);
      case LONG_TAGS, OPEN_LISTS -> "[".repeat(size);
      case TAGS_IN_LIST, MAPS -> "{\"a\":".repeat(size / 6) + "0" + "}".repeat(size / 6);
      case NUMBERS -> list(size / 2, random.nextInt(10) + "");
      case WORDS -> list(size / 4, "\"a\"");
      case EMPTY_LISTS -> list(size / 3, "[]");
      case EMPTY_MAPS -> list(size / 3, "{}");
      case NULLS -> list(size / 5, "null");
      case FIELDS -> fields(size / 12, random);
      case SAME_FIELD -> "{" + "\"a\":0,".repeat(size / 6) + "\"a\":0}";
      case LONG_FIELD -> "{\"" + "n".repeat(size) + "\":0}";
      case LONG_FIELDS -> fields(size / 1000, random).replace("\":", "n".repeat(990) + "\":");
      case BYTES, HASHES -> '"' + Base64.getEncoder().encodeToString(noise(size / 64 * 48, random)) + '"';
      case ONE_HASH -> '"' + Base64.getEncoder().encodeToString(new byte[size / 64 * 48]) + '"';
      case CHUNKS, TEXT_CHUNKS -> list(size / 8, "\"AAAA\"");
      case EMPTY_CHUNKS -> list(size / 3, "\"\"");
      case TEXT -> '"' + "a".repeat(size) + '"';
      case WIDE_TEXT -> '"' + "\u00e9".repeat(size / 2) + '"';
      case BAD_TEXT -> '"' + "a".repeat(size) + "\u0001\"";
      case BIG_NUMBER -> "7".repeat(size);
      case DIGITS -> list(size / 1000, "7".repeat(999));
      case DECIMAL -> "1e" + "9".repeat(size);
      case FLOATS -> list(size / 12, "1.5e300000000");
      case FALSE_LENGTH -> "\"" + "a".repeat(size);
      case BLANKS -> " ".repeat(size) + "0";
      case ESCAPES -> '"' + "\\u0061".repeat(size / 6) + '"';
      case LARGE_NUMBER -> "0";
    });
  }

  private static String list(int elements, String element) {
    return "[" + (element + ",").repeat(Math.max(0, elements - 1)) + element + "]";
  }

  private static String fields(int count, SplittableRandom random) {
    StringBuilder text = new StringBuilder("{");
    for (int i = 0; i < count; i++) {
      text.append('"').append(Long.toString(random.nextLong(1L << 35), 36)).append("\":0,");
    }
    return text.append("\"z\":0}").toString();
  }

  private static byte[] names(int count, SplittableRandom random) {
    ByteBuffer names = ByteBuffer.allocate(6 * count);
    for (int i = 0; i < count; i++) {
      names.put((byte) 0x64);
      for (int j = 0; j < 4; j++) {
        names.put((byte) ('a' + random.nextInt(26)));
      }
      names.put((byte) 0);
    }
    return names.array();
  }

  private static byte[] longNames(int size, SplittableRandom random) {
    ByteArrayOutputStream names = new ByteArrayOutputStream();
    while (names.size() < size) {
      names.writeBytes(head(0x60, 1000));
      names.writeBytes(times(992, 'n'));
      names.writeBytes(ascii("%08x".formatted(random.nextInt())));
      names.write(0);
    }
    return names.toByteArray();
  }

  private static byte[] noise(int length, SplittableRandom random) {
    byte[] noise = new byte[length];
    random.nextBytes(noise);
    return noise;
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static byte[] bytes(int... values) {
    return times(1, values);
  }

  private static byte[] repeated(int times, int one, int last) {
    byte[] all = new byte[times + 1];
    Arrays.fill(all, (byte) one);
    all[times] = (byte) last;
    return all;
  }

  private static byte[] times(int times, int... values) {
    byte[] all = new byte[times * values.length];
    for (int i = 0; i < all.length; i++) {
      all[i] = (byte) values[i % values.length];
    }
    return all;
  }

  private static byte[] joined(byte[]... parts) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (byte[] part : parts) {
      all.writeBytes(part);
    }
    return all.toByteArray();
  }

  private static byte[] head(int kind, long length) {
    return ByteBuffer.allocate(5).put((byte) (kind | 26)).putInt((int) length).array();
  }

  private static byte[] cbor(@Nullable Object node) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    cbor(node, out);
    return out.toByteArray();
  }

  private static void cbor(@Nullable Object node, ByteArrayOutputStream out) {
    switch (node) {
      case Encoded one -> out.writeBytes(one.bytes());
      case Map<?, ?> map -> {
        out.write(0xBF);
        map.forEach((name, value) -> {
          cbor(name, out);
          cbor(value, out);
        });
        out.write(0xFF);
      }
      case List<?> list -> {
        out.writeBytes(head(0x80, list.size()));
        list.forEach(value -> cbor(value, out));
      }
      case null, default -> out.writeBytes(TREES.writeValueAsBytes(node));
    }
  }

  private static byte[] json(@Nullable Object node) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    json(node, out);
    return out.toByteArray();
  }

  private static void json(@Nullable Object node, ByteArrayOutputStream out) {
    switch (node) {
      case Encoded one -> out.writeBytes(one.bytes());
      case Map<?, ?> map -> {
        byte[] before = {'{'};
        for (Map.Entry<?, ?> field : map.entrySet()) {
          out.writeBytes(before);
          json(field.getKey(), out);
          out.write(':');
          json(field.getValue(), out);
          before = new byte[] {','};
        }
        out.write('}');
      }
      case List<?> list -> {
        out.write('[');
        for (int i = 0; i < list.size(); i++) {
          out.writeBytes(i == 0 ? new byte[0] : new byte[] {','});
          json(list.get(i), out);
        }
        out.write(']');
      }
      case byte[] bytes -> out.writeBytes(ascii('"' + Base64.getEncoder().encodeToString(bytes) + '"'));
      case String text -> out.writeBytes(ascii('"' + text + '"'));
      case null, default -> out.writeBytes(ascii(String.valueOf(node)));
    }
  }
}
