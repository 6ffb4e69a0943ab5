package io.penstock.examples.pipe;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Content of one chunk: the head of a tensor and its first bytes, bytes that follow them, or the end of the pipe.
///
/// A head is 128 bytes, little-endian; its fields stand at the offsets below. A chunk that continues a tensor is data
/// from its first byte.
sealed interface PipeChunk {
  /// `PIP1` in ASCII.
  int MAGIC = 0x31504950;
  int MAGIC_OFFSET = 0;
  /// One byte: tensor, end or failure.
  int KIND_OFFSET = 4;
  /// One byte: place of the [TensorType] in its list.
  int TYPE_OFFSET = 5;
  /// One byte: number of dimensions.
  int RANK_OFFSET = 6;
  /// 64 bit: bytes of the tensor, or of the failure's message.
  int BYTES_OFFSET = 8;
  /// Eight of 64 bit.
  int DIMENSIONS_OFFSET = 16;
  /// Data of a first chunk.
  int HEAD_BYTES = 128;

  byte KIND_TENSOR = 1;
  byte KIND_END = 2;
  byte KIND_FAILURE = 3;

  ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  /// Fills the memory of a chunk.
  void write(MemorySegment to);

  /// A part of a tensor, from byte `from` on.
  record Data(Tensor tensor, long from) implements PipeChunk {
    @Override
    public void write(MemorySegment to) {
      int skip = dataOffset(from);
      if (skip > 0) {
        writeHead(to, KIND_TENSOR, tensor.shape().bytes());
        writeShape(to, tensor.shape());
      }
      long length = Math.min(tensor.shape().bytes() - from, to.byteSize() - skip);
      tensor.bytes().write(from, to.asSlice(skip, length));
      to.asSlice(skip + length).fill((byte) 0);
    }
  }

  /// The last chunk: no more chunks come, because all was sent or because the sender failed.
  ///
  /// @param failure message of the sender, or null if all went well
  record Last(@Nullable String failure) implements PipeChunk {
    @Override
    public void write(MemorySegment to) {
      byte[] text = failure == null ? new byte[0] : failure.getBytes(StandardCharsets.UTF_8);
      int length = (int) Math.min(text.length, to.byteSize() - HEAD_BYTES);
      to.fill((byte) 0);
      writeHead(to, failure == null ? KIND_END : KIND_FAILURE, length);
      MemorySegment.copy(text, 0, to, ValueLayout.JAVA_BYTE, HEAD_BYTES, length);
    }
  }

  /// Offset of the data in a chunk that holds a tensor's bytes from `from` on.
  static int dataOffset(long from) {
    return from == 0 ? HEAD_BYTES : 0;
  }

  /// Bytes of data in such a chunk of `chunkBytes`.
  static int room(int chunkBytes, long from) {
    return chunkBytes - dataOffset(from);
  }

  /// Number of chunks that a tensor of `bytes` takes.
  static long count(long bytes, int chunkBytes) {
    return Math.max(1, Math.ceilDiv(bytes + HEAD_BYTES, (long) chunkBytes));
  }

  /// The chunks of `tensor`, each made when it is asked for.
  static Data of(Tensor tensor, long index, int chunkBytes) {
    return new Data(tensor, index == 0 ? 0 : index * chunkBytes - HEAD_BYTES);
  }

  /// Kind of the chunk that begins here.
  ///
  /// @throws PipeFormatException if none does
  static byte kind(MemorySegment chunk) {
    int magic = chunk.get(INT, MAGIC_OFFSET);
    byte kind = chunk.get(ValueLayout.JAVA_BYTE, KIND_OFFSET);
    if (magic != MAGIC || kind < KIND_TENSOR || kind > KIND_FAILURE) {
      throw new PipeFormatException(
          "chunk must begin with a head (was " + Integer.toHexString(magic) + ", kind " + kind + ")");
    }
    return kind;
  }

  /// Shape of the tensor that begins here.
  ///
  /// @throws PipeFormatException if there can be none like it
  static TensorShape shape(MemorySegment chunk) {
    try {
      TensorShape shape = readShape(chunk);
      if (shape.bytes() != chunk.get(LONG, BYTES_OFFSET)) {
        throw new PipeFormatException(
            "bytes must be " + shape.bytes() + " as the shape says (was " + chunk.get(LONG, BYTES_OFFSET) + ")");
      }
      return shape;
    } catch (IllegalArgumentException e) {
      throw new PipeFormatException(String.valueOf(e.getMessage()));
    }
  }

  private static TensorShape readShape(MemorySegment chunk) {
    int type = chunk.get(ValueLayout.JAVA_BYTE, TYPE_OFFSET);
    int rank = chunk.get(ValueLayout.JAVA_BYTE, RANK_OFFSET);
    if (type < 0 || type >= TensorType.values().length || rank < 0 || rank > TensorShape.MOST_DIMENSIONS) {
      throw new PipeFormatException("type and rank must be known (was " + type + ", " + rank + ")");
    }
    List<Long> dimensions = new ArrayList<>(rank);
    for (int i = 0; i < rank; i++) {
      dimensions.add(chunk.get(LONG, DIMENSIONS_OFFSET + 8L * i));
    }
    return new TensorShape(TensorType.values()[type], dimensions);
  }

  static String failure(MemorySegment chunk) {
    long length = Math.clamp(chunk.get(LONG, BYTES_OFFSET), 0, chunk.byteSize() - HEAD_BYTES);
    return new String(chunk.asSlice(HEAD_BYTES, length).toArray(ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8);
  }

  private static void writeHead(MemorySegment to, byte kind, long bytes) {
    to.asSlice(0, HEAD_BYTES).fill((byte) 0);
    to.set(INT, MAGIC_OFFSET, MAGIC);
    to.set(ValueLayout.JAVA_BYTE, KIND_OFFSET, kind);
    to.set(LONG, BYTES_OFFSET, bytes);
  }

  private static void writeShape(MemorySegment to, TensorShape shape) {
    to.set(ValueLayout.JAVA_BYTE, TYPE_OFFSET, (byte) shape.type().ordinal());
    to.set(ValueLayout.JAVA_BYTE, RANK_OFFSET, (byte) shape.dimensions().size());
    for (int i = 0; i < shape.dimensions().size(); i++) {
      to.set(LONG, DIMENSIONS_OFFSET + 8L * i, shape.dimensions().get(i));
    }
  }
}
