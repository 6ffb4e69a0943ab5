package io.penstock.examples.disaggregated.tensors;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;

/// Weights in a safetensors file: eight bytes with the length of a JSON header, the header, and the tensors side by
/// side. A tensor, or a part of it, is read when it is asked for.
public final class SafetensorsFile implements TensorSource {
  /// Maximum bytes of a header, as the format says.
  static final long MOST_HEADER_BYTES = 100_000_000;
  static final int LENGTH_BYTES = 8;
  /// Maximum bytes that are read at a time.
  private static final long MOST_PART_BYTES = 1 << 30;

  private final Path path;
  private final FileChannel channel;
  private final long dataAt;
  private final Map<String, StoredTensor> tensors;

  private SafetensorsFile(Path path, FileChannel channel, long dataAt, Map<String, StoredTensor> tensors) {
    this.path = path;
    this.channel = channel;
    this.dataAt = dataAt;
    this.tensors = tensors;
  }

  /// Reads and checks the header.
  ///
  /// @throws ModelFileException if the file breaks a rule of the format
  public static SafetensorsFile open(Path path) throws IOException {
    FileChannel channel = FileChannel.open(path, StandardOpenOption.READ);
    try {
      return opened(path, channel);
    } catch (IOException | RuntimeException e) {
      channel.close();
      throw e;
    }
  }

  private static SafetensorsFile opened(Path path, FileChannel channel) throws IOException {
    long fileBytes = channel.size();
    if (fileBytes < LENGTH_BYTES) {
      throw new ModelFileException(path, "file must have " + LENGTH_BYTES + " bytes or more (was " + fileBytes + ")");
    }
    long headerBytes = read(path, channel, 0, LENGTH_BYTES).getLong();
    long most = Math.min(MOST_HEADER_BYTES, fileBytes - LENGTH_BYTES);
    if (headerBytes < 0 || headerBytes > most) {
      throw new ModelFileException(path,
          "header length must be <= " + most + " (was " + Long.toUnsignedString(headerBytes) + ")");
    }
    byte[] json = read(path, channel, LENGTH_BYTES, (int) headerBytes).array();
    long dataAt = LENGTH_BYTES + headerBytes;
    return new SafetensorsFile(path, channel, dataAt, new SafetensorsHeader(path, fileBytes - dataAt).parse(json));
  }

  private static ByteBuffer read(Path path, FileChannel channel, long at, int bytes) throws IOException {
    ByteBuffer buffer = ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
    while (buffer.hasRemaining()) {
      if (channel.read(buffer, at + buffer.position()) < 0) {
        throw new EOFException(path + ": file must not become shorter while it is read");
      }
    }
    return buffer.flip();
  }

  /// Names of the tensors, in the header's order.
  public Set<String> names() {
    return tensors.keySet();
  }

  @Override
  public float[] tensor(String name, int... shape) throws ModelFileException {
    return part(name, Cut.whole(shape), shape);
  }

  @Override
  public float[] part(String name, Cut cut, int... shape) throws ModelFileException {
    StoredTensor stored = tensors.get(name);
    if (stored == null) {
      throw new ModelFileException(path, "tensor " + name + " must be there (is missing)");
    }
    if (!stored.hasShape(shape)) {
      throw new ModelFileException(path,
          name + " must have the shape " + Arrays.toString(shape) + " (was " + stored.shape() + ")");
    }
    if (!stored.type().isWeight()) {
      throw new ModelFileException(path, name + " dtype must be F32, F16 or BF16 (was " + stored.type() + ")");
    }
    cut.requireInside(name, shape);
    long bytes = (long) cut.rows() * cut.columns() * stored.type().bytes();
    if (bytes > MOST_PART_BYTES) {
      throw new ModelFileException(path, name + " must have <= 2^30 bytes in a rank (was " + bytes + ")");
    }
    try {
      return finite(name, floats(stored, cut, Cut.width(shape)));
    } catch (ModelFileException e) {
      throw e;
    } catch (IOException e) {
      throw new ModelFileException(path, name + " must be readable: " + e.getMessage(), e);
    }
  }

  private float[] finite(String name, float[] values) throws ModelFileException {
    for (int i = 0; i < values.length; i++) {
      if (!Float.isFinite(values[i])) {
        throw new ModelFileException(path, "%s must have finite numbers (was %s, number %d)".formatted(name, values[i],
            i));
      }
    }
    return values;
  }

  /// Reads the rows of `cut`, all at a time if they lie side by side.
  private float[] floats(StoredTensor stored, Cut cut, int width) throws IOException {
    float[] values = new float[cut.elements()];
    int run = cut.columns() == width ? values.length : cut.columns();
    for (int at = 0; at < values.length; at += run) {
      long first = (long) (cut.row() + at / cut.columns()) * width + cut.column();
      ByteBuffer bytes = read(path, channel, dataAt + stored.begin() + first * stored.type().bytes(),
          run * stored.type().bytes());
      for (int i = 0; i < run; i++) {
        values[at + i] = stored.type().read(bytes);
      }
    }
    return values;
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
