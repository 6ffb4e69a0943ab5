package io.penstock.examples.pipe;

import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.SpaceId;
import java.util.List;
import java.util.stream.LongStream;

/// Names on a pipe: chunks by number, and two words that the receiving end says by *removing* them.
///
/// @param space of the pipe's chunks
record PipeKeys(SpaceId space) {
  private static final long CHUNK = 0;
  private static final long WORD = 1;
  private static final long RECEIVED = 1;
  private static final long CANCELLED = 2;

  /// The keys of `count` chunks from `first` on.
  List<BlockKey> chunks(long first, int count) {
    return LongStream.range(first, first + count).mapToObj(number -> key(CHUNK, number)).toList();
  }

  /// Key that reports the receipt of the last chunk.
  BlockKey received() {
    return key(WORD, RECEIVED);
  }

  /// Key that reports that the receiver wants no more.
  BlockKey cancelled() {
    return key(WORD, CANCELLED);
  }

  static boolean isChunk(BlockKey key) {
    return key.hash().high() == CHUNK;
  }

  private BlockKey key(long kind, long number) {
    return new BlockKey(space, new BlockHash(kind, number));
  }
}
