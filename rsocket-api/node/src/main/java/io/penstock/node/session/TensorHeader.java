package io.penstock.node.session;

import io.penstock.block.BlockLayout;
import io.penstock.block.BlockLayout.TokenOrder;
import io.penstock.block.Plane;
import io.penstock.block.Plane.ElementType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/// The header of a safetensors file with one tensor a block: 8 bytes with the length of the JSON, little-endian, then
/// the JSON. The bytes of the blocks follow, in the order of the header.
///
/// A tensor is `[layers][planes][tokens][heads][width]`, or with heads before tokens, if all planes have equal shapes;
/// else it is a run of bytes.
final class TensorHeader {
  static final int LENGTH_BYTES = 8;
  /// Longest header, as the format says.
  static final int MOST_BYTES = 100_000_000;
  static final String METADATA = "__metadata__";
  /// Bytes of the entry of one block at most: its name, and numbers of 19 digits.
  private static final int ENTRY_BYTES = 256;
  private static final int FRAME_BYTES = 256;
  private static final int ALIGNMENT_BYTES = 4096;

  private final BlockLayout layout;

  TensorHeader(BlockLayout layout) {
    this.layout = layout;
  }

  /// Room for the header of as many blocks, the 8 bytes of its length included.
  ///
  /// @throws IllegalArgumentException if a header cannot be that long
  static int room(int blocks) {
    long bytes = Math.ceilDiv(LENGTH_BYTES + FRAME_BYTES + (long) blocks * ENTRY_BYTES, ALIGNMENT_BYTES)
        * (long) ALIGNMENT_BYTES;
    if (bytes > MOST_BYTES) {
      throw new IllegalArgumentException("blocks of a session must be <= %d in one file (was %d)"
          .formatted(MOST_BYTES / ENTRY_BYTES - 2 * ALIGNMENT_BYTES / ENTRY_BYTES, blocks));
    }
    return (int) bytes;
  }

  /// The JSON of the blocks with these names.
  ObjectNode json(List<String> names) {
    ObjectNode json = JsonNodeFactory.instance.objectNode();
    json.putObject(METADATA).put("format", SessionManifest.FORMAT);
    long at = 0;
    for (String name : names) {
      ObjectNode tensor = json.putObject(name).put("dtype", dtype());
      shape().forEach(tensor.putArray("shape")::add);
      tensor.putArray("data_offsets").add(at).add(at + layout.blockBytes());
      at += layout.blockBytes();
    }
    return json;
  }

  /// Length and JSON, filled up with spaces to `room` bytes.
  ByteBuffer bytes(List<String> names, int room) {
    byte[] json = json(names).toString().getBytes(StandardCharsets.UTF_8);
    ByteBuffer bytes = ByteBuffer.allocate(room).order(ByteOrder.LITTLE_ENDIAN);
    bytes.putLong(room - LENGTH_BYTES).put(json);
    while (bytes.hasRemaining()) {
      bytes.put((byte) ' ');
    }
    return bytes.flip();
  }

  private boolean isEven() {
    Plane first = layout.planes().getFirst();
    return layout.planes().stream().allMatch(
        plane -> plane.type() == first.type() && plane.heads() == first.heads() && plane.width() == first.width());
  }

  private String dtype() {
    return isEven() ? dtype(layout.planes().getFirst().type()) : "U8";
  }

  private static String dtype(ElementType type) {
    return switch (type) {
      case BF16 -> "BF16";
      case FP16 -> "F16";
      case FP32 -> "F32";
      case FP8_E4M3 -> "F8_E4M3";
      case FP8_E5M2 -> "F8_E5M2";
      case INT8 -> "I8";
    };
  }

  private List<Integer> shape() {
    if (!isEven()) {
      return List.of(layout.blockBytes());
    }
    Plane plane = layout.planes().getFirst();
    return layout.order() == TokenOrder.NHD
        ? List.of(layout.layers(), layout.planes().size(), layout.tokens(), plane.heads(), plane.width())
        : List.of(layout.layers(), layout.planes().size(), plane.heads(), layout.tokens(), plane.width());
  }
}
