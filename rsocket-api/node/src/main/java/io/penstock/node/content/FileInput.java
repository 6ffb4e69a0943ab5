package io.penstock.node.content;

import io.penstock.block.BlockDraft;
import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.CacheSpace;
import io.penstock.block.GranuleRange;
import io.penstock.block.PrefixHasher;
import io.penstock.block.SpaceId;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A file, or a stream, cut into blocks; zeros fill the last one.
///
/// Without given keys each block is named by its content and all before it: the prefix hash of its SHA-256. So equal
/// files have equal keys, and files that begin alike share blocks.
public final class FileInput implements BlockInput {
  private final ReadableByteChannel from;
  private final SpaceId space;
  private final int blockBytes;
  private final @Nullable List<BlockKey> keys;
  private final PrefixHasher hasher = new PrefixHasher(List.of("content"));
  private final Arena memory = Arena.ofConfined();
  private MemorySegment window = MemorySegment.NULL;
  private BlockHash parent = BlockHash.ROOT;
  private int taken;
  private long padding;

  /// @param keys one a block, or null to name blocks by their content
  public FileInput(ReadableByteChannel from, CacheSpace space, @Nullable List<BlockKey> keys) {
    this.from = from;
    this.space = space.id();
    this.blockBytes = space.layout().blockBytes();
    this.keys = keys;
  }

  @Override
  public List<BlockKey> next(int most) throws IOException {
    if (window.byteSize() == 0) {
      window = memory.allocate((long) most * blockBytes, Long.BYTES);
    }
    List<BlockKey> names = new ArrayList<>();
    for (int i = 0; i < most && read(i); i++) {
      names.add(name(i));
    }
    if (names.size() < most && keys != null && taken < keys.size()) {
      throw new IllegalArgumentException(
          "keys must be as many as the input has blocks, " + taken + " (was " + keys.size() + ")");
    }
    return names;
  }

  /// Reads a block into the window's `index`; false at the end of the input.
  private boolean read(int index) throws IOException {
    ByteBuffer to = at(index).asByteBuffer();
    int got = Channel.readFully(from, to);
    if (got == 0) {
      return false;
    }
    at(index).asSlice(got).fill((byte) 0);
    padding += blockBytes - got;
    return true;
  }

  private BlockKey name(int index) {
    int number = taken++;
    if (keys != null) {
      if (number >= keys.size()) {
        throw new IllegalArgumentException(
            "keys must be as many as the input has blocks, at least " + taken + " (was " + keys.size() + ")");
      }
      return keys.get(number);
    }
    ByteBuffer digest = ByteBuffer.wrap(sha256(at(index).asByteBuffer()));
    int[] words = new int[digest.remaining() / Integer.BYTES];
    digest.asIntBuffer().get(words);
    parent = hasher.next(parent, words);
    return new BlockKey(space, parent);
  }

  @Override
  public void fill(int index, BlockDraft draft) {
    BlockLayout layout = draft.layout();
    draft.write(GranuleRange.all(layout), to -> to.copyFrom(at(index)));
  }

  private MemorySegment at(int index) {
    return window.asSlice((long) index * blockBytes, blockBytes);
  }

  private static byte[] sha256(ByteBuffer bytes) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      digest.update(bytes);
      return digest.digest();
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }

  @Override
  public long paddingBytes() {
    return padding;
  }

  @Override
  public void close() throws IOException {
    memory.close();
    from.close();
  }
}
