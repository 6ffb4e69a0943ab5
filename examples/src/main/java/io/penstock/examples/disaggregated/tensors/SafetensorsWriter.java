package io.penstock.examples.disaggregated.tensors;

import io.penstock.node.text.Json;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/// Collects tensors while a model is loaded from another source, and writes them as a safetensors file, which so has
/// every tensor that a load asks for.
public final class SafetensorsWriter implements TensorSource {
  private static final int ALIGNMENT_BYTES = 8;

  private final TensorSource source;
  private final StoredType type;
  private final Map<String, Object> header = new LinkedHashMap<>();
  private final Map<String, float[]> tensors = new LinkedHashMap<>();
  private long bytes;

  public SafetensorsWriter(TensorSource source, StoredType type) {
    this.source = source;
    this.type = type;
  }

  @Override
  public float[] tensor(String name, int... shape) throws ModelFileException {
    float[] values = source.tensor(name, shape);
    if (tensors.putIfAbsent(name, values) == null) {
      long end = bytes + (long) values.length * type.bytes();
      header.put(name, Map.of("dtype", type.name(), "shape", IntStream.of(shape).boxed().toList(), "data_offsets",
          List.of(bytes, end)));
      bytes = end;
    }
    return values;
  }

  /// Writes the collected tensors; replaces an existing file.
  public void write(Path path) throws IOException {
    try (FileChannel to = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE,
        StandardOpenOption.TRUNCATE_EXISTING)) {
      writeAll(to, headerBytes());
      for (float[] values : tensors.values()) {
        ByteBuffer buffer = ByteBuffer.allocate(values.length * type.bytes()).order(ByteOrder.LITTLE_ENDIAN);
        for (float value : values) {
          type.write(value, buffer);
        }
        writeAll(to, buffer.flip());
      }
    }
  }

  /// Length and header, padded with spaces so that the tensors are aligned.
  private ByteBuffer headerBytes() {
    byte[] json = Json.of(header).getBytes(StandardCharsets.UTF_8);
    int padded = Math.ceilDiv(json.length, ALIGNMENT_BYTES) * ALIGNMENT_BYTES;
    ByteBuffer buffer =
        ByteBuffer.allocate(SafetensorsFile.LENGTH_BYTES + padded).order(ByteOrder.LITTLE_ENDIAN).putLong(padded);
    buffer.put(json);
    while (buffer.hasRemaining()) {
      buffer.put((byte) ' ');
    }
    return buffer.flip();
  }

  private static void writeAll(FileChannel to, ByteBuffer from) throws IOException {
    while (from.hasRemaining()) {
      to.write(from);
    }
  }
}
